"""What a user's mistake raises: always one of these, never a JAX traceback."""


class ChronogpError(Exception):
    """The root of every error that chronogp raises on purpose."""


class DataError(ChronogpError, ValueError):
    """The data cannot be used as they are: the message names the column, the first rows and the remedy."""


class ModelError(ChronogpError, ValueError):
    """The model makes no sense, or does not fit these data: the message names the part and the remedy."""


class ChronogpWarning(UserWarning):
    """The root of every warning: the answer stands, but something about it should be known."""


class PrecisionWarning(ChronogpWarning):
    """Rounding has cost the answer more digits than it should; the message says how many and what to do."""


class ConvergenceWarning(ChronogpWarning):
    """The search stopped before it was finished; the message says why and what to do."""


class ExposureWarning(ChronogpWarning):
    """Exposures at new times were assumed; the message says which."""
