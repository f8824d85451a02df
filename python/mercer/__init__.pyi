from mercer._bin import find_bin as find_bin
from mercer._child import FitError as FitError
from mercer._child import MercerError as MercerError
from mercer._child import child_pid as child_pid
from mercer._federation import Check as Check
from mercer._federation import Federation as Federation
from mercer._federation import Run as Run
from mercer._job import Job as Job
from mercer._kpca import KernelPCA as KernelPCA
from mercer._program import DataError as DataError
from mercer._program import JobError as JobError
from mercer._program import PeerError as PeerError
from mercer._program import Refused as Refused
from mercer._program import Timeout as Timeout
from mercer._result import Leakage as Leakage
from mercer._result import Result as Result
from mercer._ridge import KernelRidge as KernelRidge
from mercer._simulate import simulate as simulate
from mercer._svm import SVC as SVC
from mercer._svm import SVR as SVR
from mercer._svm import NuSVC as NuSVC
from mercer._svm import NuSVR as NuSVR
from mercer._svm import OneClassSVM as OneClassSVM

__version__: str
__all__ = [
    "Check",
    "DataError",
    "Federation",
    "FitError",
    "Job",
    "JobError",
    "KernelPCA",
    "KernelRidge",
    "Leakage",
    "MercerError",
    "NuSVC",
    "NuSVR",
    "OneClassSVM",
    "PeerError",
    "Refused",
    "Result",
    "Run",
    "SVC",
    "SVR",
    "Timeout",
    "child_pid",
    "find_bin",
    "simulate",
]
