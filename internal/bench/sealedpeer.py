"""Compute steps of a ridge regression by SPU among three parties, and print what they took as one line of JSON.

    python sealedpeer.py spu                                  print the package's version
    python sealedpeer.py spu ROWS FEATURES TARGETS STEPS      compute

All parties are threads of this process. They have the sums A and B of drawn rows as shares (ABY3, 128 bits) and compute
steps of Clenshaw's recurrence, of which each has one product of a vector for each target with the matrix of A.
"""

import json
import os
import resource
import sys
import time
from importlib import metadata

FRACTION_BITS = 30


def clock():
    """Return wall time, and processor time of this process."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return time.perf_counter(), used.ru_utime + used.ru_stime


def drawn(rows, features, targets):
    """Return H = 2 A/N - 1 and B/N of drawn rows."""
    import numpy as np

    random = np.random.default_rng(1)
    phi = random.uniform(-1, 1, (rows, features)) / np.sqrt(features)
    y = np.eye(targets)[np.arange(rows) % targets]
    return 2 * phi.T @ phi / rows - np.eye(features), y.T @ phi / rows


def recurrence(steps, loop):
    """Return a function that computes the steps. Their coefficients are 1, which costs as much as others."""

    def run(h, b):
        def step(_, pair):
            one, two = pair
            return b + 2 * (one @ h) - two, one

        return loop(0, steps, step, (b, 0 * b))[0]

    return run


def plainly(low, high, step, pair):
    """Loop as jax.lax.fori_loop does."""
    for i in range(low, high):
        pair = step(i, pair)
    return pair


def computed(rows, features, targets, steps):
    """Compute by SPU and in the clear."""
    import numpy as np
    import spu
    import spu.utils.simulation as simulation
    from jax import lax

    h, b = drawn(rows, features, targets)
    config = spu.RuntimeConfig(protocol=spu.ProtocolKind.ABY3, field=spu.FieldType.FM128, fxp_fraction_bits=FRACTION_BITS)
    parties = simulation.Simulator(3, config)
    simulation.sim_jax(parties, recurrence(1, lax.fori_loop))(h, b)  # loads and starts what all calls need
    before = clock()
    got = simulation.sim_jax(parties, recurrence(steps, lax.fori_loop))(h, b)
    after = clock()
    want = recurrence(steps, plainly)(h, b)
    off = float(np.abs(got - want).max() / np.abs(want).max())
    return {"wall": after[0] - before[0], "cpu": after[1] - before[1], "off": off}


def main(library, *sizes):
    if not sizes:
        __import__(library)
        return {"python": sys.version.split()[0], "version": metadata.version(library)}
    return computed(*map(int, sizes))


with os.fdopen(os.dup(1), "w") as output:
    os.dup2(2, 1)  # SPU logs to the standard output
    print(json.dumps(main(*sys.argv[1:])), file=output)
