"""Kernels: linear-Gaussian processes over time, each given by its start, its steps and its readout."""

from .approximate import RBF as RBF, RationalQuadratic as RationalQuadratic
from .assemble import chain_of as chain_of, readout as readout, terms_of as terms_of
from .base import Kernel as Kernel
from .combine import Product as Product, Scaled as Scaled, Sum as Sum
from .matern import Matern12 as Matern12, Matern32 as Matern32, Matern52 as Matern52, Matern72 as Matern72
from .periodic import SHO as SHO, Cosine as Cosine, Periodic as Periodic, quasi_periodic as quasi_periodic
from .statespace import DiscreteStateSpace as DiscreteStateSpace, StateSpace as StateSpace
from .trend import (
    Constant as Constant,
    LocalLevel as LocalLevel,
    LocalTrend as LocalTrend,
    Polynomial as Polynomial,
    White as White,
)
