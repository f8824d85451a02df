from collections.abc import Callable
from typing import Any, Literal

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from typing_extensions import Self

class KernelPCA(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    eigenvalues_: np.ndarray
    eigenvectors_: np.ndarray
    dual_coef_: np.ndarray
    X_transformed_fit_: np.ndarray
    X_fit_: Any
    gamma_: float
    n_features_in_: int
    feature_names_in_: np.ndarray
    def __init__(
        self,
        n_components: int | None = None,
        *,
        kernel: str | Callable[..., float] = "linear",
        gamma: float | None = None,
        degree: float = 3,
        coef0: float = 1,
        kernel_params: dict[str, Any] | None = None,
        alpha: float = 1.0,
        fit_inverse_transform: bool = False,
        eigen_solver: Literal["auto", "dense", "arpack", "randomized"] = "auto",
        tol: float = 0,
        max_iter: int | None = None,
        iterated_power: int | Literal["auto"] = "auto",
        remove_zero_eig: bool = False,
        random_state: int | np.random.RandomState | None = None,
        copy_X: bool = True,
        n_jobs: int | None = None,
    ) -> None: ...
    def fit(self, X: Any, y: Any = None) -> Self: ...
    def fit_transform(self, X: Any, y: Any = None, **params: Any) -> Any: ...
    def transform(self, X: Any) -> Any: ...
    def inverse_transform(self, X: Any) -> np.ndarray: ...
