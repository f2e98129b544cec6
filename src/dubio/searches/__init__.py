"""Methods that search for a subset of features: one file per family."""
