"""What can go wrong, each with a sentence that says what, where and what to do."""


class RosenblattError(Exception):
    """Base of every error that rosenblatt raises on purpose."""


class InputError(RosenblattError, ValueError):
    """Data, labels or a parameter that cannot be used as given."""


class WeightOverflowError(RosenblattError, OverflowError):
    """Training left the range of float64: the weights are not to be trusted."""
