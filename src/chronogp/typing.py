"""Words for what functions take: `Numbers` where arrays of NumPy and of JAX serve alike."""

import numpy as np
from jax import Array as Array
from jax.core import Tracer as Tracer

Numbers = Array | np.ndarray
