"""One file per experiment or family of experiments; each file has a tuple ``EXPERIMENTS``."""
