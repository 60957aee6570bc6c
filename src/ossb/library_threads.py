"""How many threads the libraries under numpy and polars take: one, where a process has its own.

By themselves they take one for each core, for every call that is large, and wait for one another
busily: with calls at work in many threads that costs many times what it saves.  They read it when
they are loaded, so it has to be said before.
"""

import os

ONE_EACH = dict.fromkeys(
    ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "POLARS_MAX_THREADS"), "1"
)


def take_one_each() -> None:
    """Let them take one, but for those of which the user said otherwise."""
    for name, value in ONE_EACH.items():
        os.environ.setdefault(name, value)
