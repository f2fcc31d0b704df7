"""Kernels over whole columns: NumPy in place of a loop, the same bits."""
