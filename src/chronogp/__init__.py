"""Gaussian-process models of time series: irregular times, honest bands, linear time.

The names below are all that a user types. Each is loaded when it is first used, so that `import chronogp` costs nothing
and changes nothing.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from . import datasets as datasets
    from .chain import Blocked as Blocked
    from .errors import (
        ChronogpError as ChronogpError,
        ChronogpWarning as ChronogpWarning,
        ConvergenceWarning as ConvergenceWarning,
        DataError as DataError,
        ExposureWarning as ExposureWarning,
        ModelError as ModelError,
        PrecisionWarning as PrecisionWarning,
    )
    from .inference import evidence as evidence, infer as infer
    from .kernels import (
        RBF as RBF,
        SHO as SHO,
        Constant as Constant,
        Cosine as Cosine,
        DiscreteStateSpace as DiscreteStateSpace,
        Kernel as Kernel,
        LocalLevel as LocalLevel,
        LocalTrend as LocalTrend,
        Matern12 as Matern12,
        Matern32 as Matern32,
        Matern52 as Matern52,
        Matern72 as Matern72,
        Periodic as Periodic,
        Polynomial as Polynomial,
        RationalQuadratic as RationalQuadratic,
        StateSpace as StateSpace,
        White as White,
        quasi_periodic as quasi_periodic,
    )
    from .learning import fit as fit
    from .likelihoods import Gaussian as Gaussian, Likelihood as Likelihood
    from .model import Model as Model
    from .params import fixed as fixed, learned as learned
    from .posterior import Posterior as Posterior
    from .prediction import Observed as Observed, Prediction as Prediction
    from .series import Series as Series

__version__ = "0.1.0"

_HOMES = {
    "chain": ["Blocked"],
    "errors": [
        "ChronogpError", "ChronogpWarning", "ConvergenceWarning", "DataError", "ExposureWarning", "ModelError",
        "PrecisionWarning",
    ],
    "inference": ["evidence", "infer"],
    "kernels": [
        "RBF", "SHO", "Constant", "Cosine", "DiscreteStateSpace", "Kernel", "LocalLevel", "LocalTrend", "Matern12",
        "Matern32", "Matern52", "Matern72", "Periodic", "Polynomial", "RationalQuadratic", "StateSpace", "White",
        "quasi_periodic",
    ],
    "learning": ["fit"],
    "likelihoods": ["Gaussian", "Likelihood"],
    "model": ["Model"],
    "params": ["fixed", "learned"],
    "posterior": ["Posterior"],
    "prediction": ["Observed", "Prediction"],
    "series": ["Series"],
}  # fmt: skip
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name == "datasets":
        return importlib.import_module(".datasets", __name__)
    if name not in _HOME_OF:
        raise AttributeError(f"module 'chronogp' has no attribute {name!r}")
    found = getattr(importlib.import_module(f".{_HOME_OF[name]}", __name__), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return ["datasets", *sorted(_HOME_OF)]
