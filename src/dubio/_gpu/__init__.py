"""Kernels on torch, for a GPU: the same work as the numba kernels, in tiles. Importing them does not import torch."""
