"""Instructions that numba has no words for, and the two functions by which kernels are called.

Imported by the compiler alone: nothing here runs in a process that finds its machine code made.
"""
