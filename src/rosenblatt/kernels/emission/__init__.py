"""Instructions that numba lacks, in modules named as those that define them.

Imported by the compiler alone: nothing here runs in a process that finds its machine code made.
"""
