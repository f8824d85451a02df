"""Kernel ridge regression with scikit-learn's names, fitted by mercer-fit."""

import warnings
from numbers import Real

import numpy as np
from sklearn.base import BaseEstimator, MultiOutputMixin, RegressorMixin, _fit_context
from sklearn.metrics.pairwise import PAIRWISE_KERNEL_FUNCTIONS
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import _num_samples, check_is_fitted, validate_data

from . import _kernels
from ._child import FitError, ask


class KernelRidge(MultiOutputMixin, RegressorMixin, BaseEstimator):
    """Kernel ridge regression.

    Fits what :class:`sklearn.kernel_ridge.KernelRidge` fits. As there, no mean
    is subtracted from the targets.

    Parameters
    ----------
    alpha : float or array-like of shape (n_targets,), default=1.0
        Weight of the coefficients' norm relative to the squared errors, at least 0.
    kernel : str or callable, default="linear"
        A name of :func:`sklearn.metrics.pairwise.pairwise_kernels`, ``"precomputed"``, or a
        callable that gets two rows and returns one number. mercer-fit computes ``"linear"``,
        ``"rbf"``, ``"cosine"`` and ``"poly"`` with a whole ``degree`` from 1 to 64 and no negative
        ``coef0``; others are computed in Python.
    gamma : float, default=None
        Coefficient of the kernels. None leaves scikit-learn's default, 1 / n_features (1 for
        ``"chi2"``).
    degree : float, default=3
        Degree of the polynomial kernel.
    coef0 : float, default=1
        Constant of the polynomial and the sigmoid kernel.
    kernel_params : dict, default=None
        Further arguments of a callable.

    Attributes
    ----------
    dual_coef_ : ndarray of shape (n_samples,) or (n_samples, n_targets)
        Coefficients of the training rows.
    X_fit_ : {ndarray, sparse matrix} of shape (n_samples, n_features)
        Training rows, or their kernel values if ``kernel="precomputed"``.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features, if all columns have names that are text.

    Examples
    --------
    >>> from mercer import KernelRidge
    >>> KernelRidge(alpha=0.5).fit([[1], [2]], [2, 4]).predict([[3]]).round(3)
    array([5.455])
    """

    _parameter_constraints: dict = {
        "alpha": [Interval(Real, 0, None, closed="left"), "array-like"],
        "kernel": [StrOptions(set(PAIRWISE_KERNEL_FUNCTIONS) | {"precomputed"}), callable],
        "gamma": [Interval(Real, 0, None, closed="left"), None],
        "degree": [Interval(Real, 0, None, closed="left")],
        "coef0": [Interval(Real, None, None, closed="neither")],
        "kernel_params": [dict, None],
    }

    def __init__(self, alpha=1, *, kernel="linear", gamma=None, degree=3, coef0=1, kernel_params=None):
        self.alpha = alpha
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = self.kernel == "precomputed"
        return tags

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y, sample_weight=None):
        """Fit the regression.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features) or \
                (n_samples, n_samples)
            Training rows, or their kernel values if ``kernel="precomputed"``.
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
            Targets.
        sample_weight : float or array-like of shape (n_samples,), default=None
            Weight of each row's squared error, at least 0.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        X, y = validate_data(
            self, X, y, accept_sparse="csr", dtype=np.float64, multi_output=True, y_numeric=True
        )
        targets = np.asarray(y, dtype=np.float64).reshape(len(y), -1)
        weights = _weights(sample_weight, X)
        alphas = np.atleast_1d(np.asarray(self.alpha, dtype=np.float64))
        if alphas.ndim != 1 or len(alphas) not in (1, targets.shape[1]):
            raise ValueError(f"alpha has the shape {alphas.shape}, but there are {targets.shape[1]} targets")
        coef = np.empty_like(targets)
        request, arrays = self._request(X)
        for alpha in np.unique(alphas):
            which = np.broadcast_to(alphas == alpha, targets.shape[1])
            coef[:, which] = self._solve(request, arrays, X, targets[:, which], float(alpha), weights)
        self.dual_coef_ = coef.ravel() if np.ndim(y) == 1 else coef
        self.X_fit_ = X
        return self

    def _request(self, X):
        spec = self._specification(X)
        if spec is None:
            return {"kernel": {"name": "precomputed"}}, {"K": self._values(X, X)}
        return {"kernel": spec, "columns": X.shape[1]}, _kernels.rows("X", X)

    def _specification(self, X):
        """Return mercer-fit's description of the kernel, or None if values come from Python."""
        if callable(self.kernel) or self.kernel == "precomputed":
            return None
        if self.kernel == "cosine":
            return {"name": "cosine"}
        gamma = 1.0 / X.shape[1] if self.gamma is None else self.gamma
        return _kernels.specification(self.kernel, gamma, self.coef0, self.degree)

    def _values(self, X, Y):
        """Return kernel values computed in Python."""
        if self.kernel == "precomputed":
            return X if isinstance(X, np.ndarray) else X.toarray()
        if callable(self.kernel):
            return _kernels.values(X, Y, self.kernel, **(self.kernel_params or {}))
        return _kernels.values(X, Y, self.kernel, gamma=self.gamma, degree=self.degree, coef0=self.coef0)

    def _solve(self, request, arrays, X, targets, alpha, weights):
        arrays = {**arrays, "y": targets}
        if weights is not None:
            arrays["weights"] = weights
        try:
            _, results = ask({**request, "op": "fit", "learner": "ridge", "alpha": alpha}, arrays)
            return results["coef"].T
        except FitError as e:
            if e.cause != "not-positive-definite":
                raise
        warnings.warn(
            "Singular matrix in solving dual problem. Using least-squares solution instead.", stacklevel=4
        )
        k = arrays["K"] if "K" in arrays else self._values(X, X)
        roots = np.ones((len(targets), 1)) if weights is None else np.sqrt(weights)[:, None]
        system = k * roots * roots.T + alpha * np.eye(len(k))
        return np.linalg.lstsq(system, targets * roots, rcond=None)[0] * roots

    def predict(self, X):
        """Return the predictions for the rows X.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features) or \
                (n_samples, n_samples_fitted)
            Rows, or their kernel values with the training rows if ``kernel="precomputed"``.

        Returns
        -------
        predictions : ndarray of shape (n_samples,) or (n_samples, n_targets)
            Predictions, in the unit of the targets.
        """
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False)
        coef = self.dual_coef_.reshape(len(self.dual_coef_), -1).T
        rho = np.zeros(len(coef))
        spec = self._specification(X)
        if spec is None:
            k = self._values(X, self.X_fit_)
            out = k @ coef.T
        else:
            arrays = {"coef": coef, "rho": rho, **_kernels.rows("X", X), **_kernels.rows("V", self.X_fit_)}
            out = ask({"op": "decide", "kernel": spec, "columns": X.shape[1]}, arrays)[1]["D"]
        return out.ravel() if self.dual_coef_.ndim == 1 else out


def _weights(sample_weight, X):
    """Return the weight of each row, or None."""
    if sample_weight is None:
        return None
    weights = np.asarray(sample_weight, dtype=np.float64)
    n = _num_samples(X)
    if weights.ndim == 0:
        weights = np.full(n, float(weights))
    if weights.ndim != 1:
        raise ValueError("Sample weights must be 1D array or scalar")
    if weights.shape != (n,):
        raise ValueError(f"sample_weight.shape == {weights.shape}, expected {(n,)}!")
    if not np.isfinite(weights).all():
        raise ValueError("Input sample_weight contains NaN or infinity.")
    if not weights.any():
        raise ValueError("Sample weights must contain at least one non-zero number.")
    return weights
