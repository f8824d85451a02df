from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, MultiOutputMixin, RegressorMixin
from typing_extensions import Self

class KernelRidge(MultiOutputMixin, RegressorMixin, BaseEstimator):
    dual_coef_: np.ndarray
    X_fit_: Any
    n_features_in_: int
    feature_names_in_: np.ndarray
    def __init__(
        self,
        alpha: float | ArrayLike = 1,
        *,
        kernel: str | Callable[..., float] = "linear",
        gamma: float | None = None,
        degree: float = 3,
        coef0: float = 1,
        kernel_params: dict[str, Any] | None = None,
    ) -> None: ...
    def fit(self, X: Any, y: ArrayLike, sample_weight: float | ArrayLike | None = None) -> Self: ...
    def predict(self, X: Any) -> np.ndarray: ...
