"""What people touch: files, the command, the report."""
