"""The machine code that goes into the wheel: which kernels for which types, compiled and packed.

``tour`` runs all that commands and estimators do with the types that the documentation names, as
plain Python on a few rows; ``__main__`` notes every kernel and signature on the way and compiles
them. Not part of the package.
"""
