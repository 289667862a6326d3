"""float64 inside the public functions, whatever the caller's global flag says.

JAX computes in float32 unless told otherwise, and 10^6 filter steps in float32 are worth nothing. The switch
is a context, so the caller's own arrays and flags stay as they are.
"""

import functools
from collections.abc import Callable
from typing import ParamSpec, TypeVar

import jax

Arguments = ParamSpec("Arguments")
Answer = TypeVar("Answer")


def in_float64(function: Callable[Arguments, Answer]) -> Callable[Arguments, Answer]:
    """The same function, run with 64-bit JAX types."""

    @functools.wraps(function)
    def wrapped(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Answer:
        with jax.enable_x64(True):
            return function(*args, **kwargs)

    return wrapped
