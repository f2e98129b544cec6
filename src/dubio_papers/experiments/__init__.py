"""One file an experiment, or a family of them: each has a tuple ``EXPERIMENTS``."""
