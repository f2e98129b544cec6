"""Class moments: weight, mean and spread of each class on each feature. Moments of blocks of rows can be merged."""
