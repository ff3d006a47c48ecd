"""Plain Python around a pass: state, order, stopping, history, mistakes.

Python owns the loop over passes, so everything here can be read, tested and stepped through without
a compiler. Observers are told of each pass; only ``ProgressBar`` writes to the terminal.
"""
