"""What is known of the target: one file per kind."""
