"""Kernel machines with scikit-learn's interface, trained by Mercer's own solvers.

The estimators need scikit-learn 1.6 or later. The rest of the package needs
NumPy only.
"""

from ._bin import find_bin
from ._child import FitError, MercerError, child_pid

__version__ = "0.1.0.dev0"

_MODULES = {
    "SVC": "_svm",
    "NuSVC": "_svm",
    "SVR": "_svm",
    "NuSVR": "_svm",
    "OneClassSVM": "_svm",
    "KernelRidge": "_ridge",
    "KernelPCA": "_kpca",
    "Job": "_job",
    "simulate": "_simulate",
    "Federation": "_federation",
    "Check": "_federation",
    "Run": "_federation",
    "Result": "_result",
    "Leakage": "_result",
    "JobError": "_program",
    "DataError": "_program",
    "Refused": "_program",
    "PeerError": "_program",
    "Timeout": "_program",
}

__all__ = [*_MODULES, "FitError", "MercerError", "child_pid", "find_bin"]


def __getattr__(name):
    """Import an estimator when it is first used, since it imports scikit-learn."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib

    try:
        module = importlib.import_module("." + _MODULES[name], __name__)
    except ModuleNotFoundError as e:
        if e.name not in ("sklearn", "scipy"):
            raise
        raise ImportError(
            f"mercer.{name} needs scikit-learn 1.6 or later: pip install 'mercer[sklearn]'"
        ) from e
    return getattr(module, name)


def __dir__():
    return sorted({*globals(), *__all__})
