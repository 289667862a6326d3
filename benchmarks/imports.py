"""What `import chronogp` costs over `import jax, equinox`, in fresh processes, in turn.

python benchmarks/imports.py
"""

import statistics
import subprocess
import sys

from machine import report

ROUNDS = 9
ALONE = "import jax, equinox"
WITH = "import jax, equinox, chronogp"
TYPED = WITH + "; chronogp.Series, chronogp.Model, chronogp.Matern52, chronogp.Gaussian, chronogp.fit"


def seconds(code: str) -> float:
    """Of the imports alone, without the start of the interpreter."""
    program = f"import time; start = time.perf_counter(); {code}; print(time.perf_counter() - start)"
    return float(subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout)


def main() -> None:
    rounds = [[seconds(code) for code in (ALONE, WITH, TYPED)] for _ in range(ROUNDS)]
    alone, with_it, typed = (statistics.median(column) for column in zip(*rounds, strict=True))
    report(
        "imports",
        {
            "import jax, equinox": alone,
            "import chronogp, over that": with_it - alone,
            "every name of a first model used, over that": typed - alone,
        },
    )


if __name__ == "__main__":
    main()
