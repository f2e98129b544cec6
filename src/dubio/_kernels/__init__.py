"""Numba kernels: pure functions on validated arrays. No classes, no checks, no messages."""
