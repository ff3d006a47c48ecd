"""Compiled passes over rows, written once for every row format and every additive rule.

This is the one layer that imports numba. A kernel makes exactly one pass over the ``order`` that it
is given and returns counts; it draws no random numbers, prints nothing and raises nothing. With
``NUMBA_DISABLE_JIT=1`` the same functions run as plain Python and give the same bits.
"""
