"""The paper kit: what a run says in a manuscript, and how to repeat it."""
