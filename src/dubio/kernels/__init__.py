"""Compiled loops on validated arrays, for the CPU and for GPUs: no classes, no checks, no messages."""
