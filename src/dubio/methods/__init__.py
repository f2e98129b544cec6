"""What every score and search shares."""
