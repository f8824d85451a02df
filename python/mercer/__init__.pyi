from mercer._bin import find_bin as find_bin
from mercer._child import FitError as FitError
from mercer._child import MercerError as MercerError
from mercer._child import child_pid as child_pid
from mercer._kpca import KernelPCA as KernelPCA
from mercer._ridge import KernelRidge as KernelRidge
from mercer._svm import SVC as SVC
from mercer._svm import SVR as SVR
from mercer._svm import NuSVC as NuSVC
from mercer._svm import NuSVR as NuSVR
from mercer._svm import OneClassSVM as OneClassSVM

__version__: str
__all__ = [
    "FitError",
    "KernelPCA",
    "KernelRidge",
    "MercerError",
    "NuSVC",
    "NuSVR",
    "OneClassSVM",
    "SVC",
    "SVR",
    "child_pid",
    "find_bin",
]
