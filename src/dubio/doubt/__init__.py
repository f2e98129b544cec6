"""Which labels may be wrong, and what may be believed of each row."""
