"""The engine: linear-Gaussian recursions over a chain and its sites. It knows nothing of kernels or data."""

from .blocked import Blocked as Blocked
from .careful import Careful as Careful
from .partition import Auto as Auto, Engine as Engine, at_instants as at_instants, log_partition as log_partition
from .sample import sample as sample
from .types import Chain as Chain, Sites as Sites, Sweep as Sweep
