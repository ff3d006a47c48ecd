"""Compiled passes over rows, written once for every row format and every additive rule.

This is the one layer that knows of machine code. A kernel makes exactly one pass over the ``order``
that it is given and returns counts; it draws no random numbers, prints nothing and raises nothing.
With ``ROSENBLATT_PLAIN=1`` the same functions run as plain Python and give the same bits.
"""
