from collections.abc import Callable
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassifierMixin, OutlierMixin, RegressorMixin
from typing_extensions import Self

_Kernel = str | Callable[[Any, Any], Any]
_Gamma = Literal["scale", "auto"] | float
_Random = int | np.random.RandomState | None

class _Machine(BaseEstimator):
    dual_coef_: Any
    fit_status_: int
    intercept_: np.ndarray
    n_features_in_: int
    feature_names_in_: np.ndarray
    shape_fit_: tuple[int, ...]
    support_: np.ndarray
    support_vectors_: Any
    @property
    def coef_(self) -> Any: ...
    @property
    def n_support_(self) -> np.ndarray: ...

class _Classifier(ClassifierMixin, _Machine):
    classes_: np.ndarray
    class_weight_: np.ndarray
    n_iter_: np.ndarray
    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self: ...
    def decision_function(self, X: Any) -> np.ndarray: ...
    def predict(self, X: Any) -> np.ndarray: ...
    def predict_proba(self, X: Any) -> np.ndarray: ...
    def predict_log_proba(self, X: Any) -> np.ndarray: ...
    @property
    def probA_(self) -> np.ndarray: ...
    @property
    def probB_(self) -> np.ndarray: ...

class SVC(_Classifier):
    def __init__(
        self,
        *,
        C: float = 1.0,
        kernel: _Kernel = "rbf",
        degree: int = 3,
        gamma: _Gamma = "scale",
        coef0: float = 0.0,
        shrinking: bool = True,
        probability: bool | Literal["deprecated"] = "deprecated",
        tol: float = 1e-3,
        cache_size: float = 200,
        class_weight: dict[Any, float] | Literal["balanced"] | None = None,
        verbose: bool = False,
        max_iter: int = -1,
        decision_function_shape: Literal["ovr", "ovo"] = "ovr",
        break_ties: bool = False,
        random_state: _Random = None,
    ) -> None: ...

class NuSVC(_Classifier):
    def __init__(
        self,
        *,
        nu: float = 0.5,
        kernel: _Kernel = "rbf",
        degree: int = 3,
        gamma: _Gamma = "scale",
        coef0: float = 0.0,
        shrinking: bool = True,
        probability: bool | Literal["deprecated"] = "deprecated",
        tol: float = 1e-3,
        cache_size: float = 200,
        class_weight: dict[Any, float] | Literal["balanced"] | None = None,
        verbose: bool = False,
        max_iter: int = -1,
        decision_function_shape: Literal["ovr", "ovo"] = "ovr",
        break_ties: bool = False,
        random_state: _Random = None,
    ) -> None: ...

class _Regressor(RegressorMixin, _Machine):
    n_iter_: int
    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self: ...
    def predict(self, X: Any) -> np.ndarray: ...

class SVR(_Regressor):
    def __init__(
        self,
        *,
        kernel: _Kernel = "rbf",
        degree: int = 3,
        gamma: _Gamma = "scale",
        coef0: float = 0.0,
        tol: float = 1e-3,
        C: float = 1.0,
        epsilon: float = 0.1,
        shrinking: bool = True,
        cache_size: float = 200,
        verbose: bool = False,
        max_iter: int = -1,
    ) -> None: ...

class NuSVR(_Regressor):
    def __init__(
        self,
        *,
        nu: float = 0.5,
        C: float = 1.0,
        kernel: _Kernel = "rbf",
        degree: int = 3,
        gamma: _Gamma = "scale",
        coef0: float = 0.0,
        shrinking: bool = True,
        tol: float = 1e-3,
        cache_size: float = 200,
        verbose: bool = False,
        max_iter: int = -1,
    ) -> None: ...

class OneClassSVM(OutlierMixin, _Machine):
    n_iter_: int
    offset_: np.ndarray
    def __init__(
        self,
        *,
        kernel: _Kernel = "rbf",
        degree: int = 3,
        gamma: _Gamma = "scale",
        coef0: float = 0.0,
        tol: float = 1e-3,
        nu: float = 0.5,
        shrinking: bool = True,
        cache_size: float = 200,
        verbose: bool = False,
        max_iter: int = -1,
    ) -> None: ...
    def fit(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> Self: ...
    def decision_function(self, X: Any) -> np.ndarray: ...
    def score_samples(self, X: Any) -> np.ndarray: ...
    def predict(self, X: Any) -> np.ndarray: ...
