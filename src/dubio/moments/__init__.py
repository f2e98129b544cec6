"""Class moments: how much, where and how spread out each class is on each feature; mergeable across blocks of rows."""
