"""Kernels by scikit-learn's names: those that mercer-fit has, and those computed in Python."""

from numbers import Integral

import numpy as np
import scipy.sparse as sp
from sklearn.metrics.pairwise import pairwise_kernels

_LEAST, _MOST = 1e-100, 1e100  # bounds of mercer-fit's parameters
_MOST_DEGREE = 64


def specification(name, gamma, coef0, degree):
    """Return mercer-fit's description of a kernel, or None if mercer-fit does not have it."""
    if name == "linear":
        return {"name": "linear"}
    if gamma is None or not _LEAST <= gamma <= _MOST:
        return None
    if name == "rbf":
        return {"name": "rbf", "gamma": float(gamma)}
    if name not in ("poly", "polynomial") or not 0 <= coef0 <= _MOST:
        return None
    if not (isinstance(degree, Integral) or float(degree).is_integer()) or not 1 <= degree <= _MOST_DEGREE:
        return None
    return {"name": "polynomial", "gamma": float(gamma), "coef0": float(coef0), "degree": int(degree)}


def rows(name, x):
    """Return the arrays that describe dense or sparse rows, and their number of columns."""
    if not sp.issparse(x):
        return {name: np.asarray(x, dtype=np.float64)}
    x = x.tocsr()
    if not x.has_canonical_format:
        x = x.copy()
        x.sum_duplicates()
    return {
        name + ".indptr": _whole(x.indptr),
        name + ".indices": _whole(x.indices),
        name + ".data": np.asarray(x.data, dtype=np.float64),
    }


def _whole(a):
    return a if a.dtype in (np.dtype("<i4"), np.dtype("<i8")) else a.astype(np.int64)


def values(x, y, metric, **params):
    """Return kernel values, rows of x by rows of y, computed in Python."""
    k = pairwise_kernels(x, y, metric=metric, filter_params=True, **params)
    return np.asarray(k, dtype=np.float64)


_BLOCK = 4 << 20  # kernel values that are held at a time: 32 MB


def decide_in_blocks(n, vectors, coef, rho, kernel_of):
    """Return kernel_of(rows) @ coef.T - rho for n rows, some rows at a time."""
    step = max(1, _BLOCK // max(vectors, 1))
    out = np.empty((n, len(rho)))
    for lo in range(0, n, step):
        some = slice(lo, min(lo + step, n))
        out[some] = kernel_of(some) @ coef.T - rho
    return out
