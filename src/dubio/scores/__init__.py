"""Methods that score each feature: one file per family."""
