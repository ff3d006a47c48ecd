"""Instructions that numba lacks, and the functions through which Python calls kernels.

Imported by the compiler alone: nothing here runs in a process that finds its machine code made.
"""
