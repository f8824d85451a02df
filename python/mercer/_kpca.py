"""Kernel principal components with scikit-learn's names."""

from numbers import Integral, Real

import numpy as np
import scipy.sparse as sp
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    _fit_context,
)
from sklearn.exceptions import NotFittedError
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from . import _kernels
from ._child import ask

# mercer-fit finds a few components of many rows much sooner than LAPACK finds all; of few rows, or of
# many components, it is the other way.
_FEW = 10  # rows for each component
_MANY = 500  # rows

# Eigenvalues below this share of the largest are rounding errors, in scikit-learn as here. Below 0, and
# beyond the share _WRONG of the largest, they are not.
_FLOOR = 1e-12
_WRONG = 1e-5
_WRONG_ALONE = 1e-10


class KernelPCA(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Kernel principal component analysis.

    Finds the components that :class:`sklearn.decomposition.KernelPCA` finds.

    Parameters
    ----------
    n_components : int, default=None
        Number of components. None keeps all whose eigenvalue is above 0.
    kernel : {"linear", "poly", "rbf", "sigmoid", "cosine", "precomputed"} or callable, \
            default="linear"
        The kernel. A callable gets two rows and returns one number. Values of ``"sigmoid"``, of a
        callable, and of ``"poly"`` with a negative ``coef0``, or a ``degree`` that is no whole
        number from 1 to 64, are computed in Python.
    gamma : float, default=None
        Coefficient of the kernels "rbf", "poly" and "sigmoid". None is 1 / n_features.
    degree : float, default=3
        Degree of the polynomial kernel.
    coef0 : float, default=1
        Constant of the kernels "poly" and "sigmoid".
    kernel_params : dict, default=None
        Further arguments of a callable.
    alpha : float, default=1.0
        Ridge parameter of the inverse transform.
    fit_inverse_transform : bool, default=False
        Whether to fit the inverse transform.
    eigen_solver : {"auto", "dense", "arpack", "randomized"}, default="auto"
        ``"dense"`` finds all components by NumPy's LAPACK. The others let mercer-fit find them by
        the Lanczos iteration if there are at least 500 rows, and 10 for each component, and are
        ``"dense"`` otherwise.
    tol : float, default=0
        Has no effect: residuals are below 1e-12 of the largest eigenvalue.
    max_iter : int, default=None
        Has no effect.
    iterated_power : int or "auto", default="auto"
        Has no effect.
    remove_zero_eig : bool, default=False
        Whether to leave out components whose eigenvalue is 0, of ``n_components``. All scores of
        such a component are 0.
    random_state : int, RandomState instance or None, default=None
        Has no effect: nothing is random.
    copy_X : bool, default=True
        Whether ``X_fit_`` is a copy of X.
    n_jobs : int, default=None
        Cores to use; -1 means all. None means ``OMP_NUM_THREADS``, or all.

    Attributes
    ----------
    eigenvalues_ : ndarray of shape (n_components,)
        Eigenvalues of the centred kernel matrix, largest first.
    eigenvectors_ : ndarray of shape (n_samples, n_components)
        Its eigenvectors. The entry of largest size is positive. Those of eigenvalue 0 hold zeros.
    dual_coef_ : ndarray of shape (n_samples, n_features)
        Coefficients of the inverse transform, if it was fitted.
    X_transformed_fit_ : ndarray of shape (n_samples, n_components)
        Scores of the training rows, if the inverse transform was fitted.
    X_fit_ : {ndarray, sparse matrix} of shape (n_samples, n_features)
        Training rows.
    gamma_ : float
        ``gamma``, or 1 / n_features.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features, if all columns have names that are text.

    Examples
    --------
    >>> from mercer import KernelPCA
    >>> KernelPCA(n_components=1).fit_transform([[0.0], [1.0], [5.0]]).round(3)
    array([[-2.],
           [-1.],
           [ 3.]])
    """

    _parameter_constraints: dict = {
        "n_components": [Interval(Integral, 1, None, closed="left"), None],
        "kernel": [StrOptions({"linear", "poly", "rbf", "sigmoid", "cosine", "precomputed"}), callable],
        "gamma": [Interval(Real, 0, None, closed="left"), None],
        "degree": [Interval(Real, 0, None, closed="left")],
        "coef0": [Interval(Real, None, None, closed="neither")],
        "kernel_params": [dict, None],
        "alpha": [Interval(Real, 0, None, closed="left")],
        "fit_inverse_transform": ["boolean"],
        "eigen_solver": [StrOptions({"auto", "dense", "arpack", "randomized"})],
        "tol": [Interval(Real, 0, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left"), None],
        "iterated_power": [Interval(Integral, 0, None, closed="left"), StrOptions({"auto"})],
        "remove_zero_eig": ["boolean"],
        "random_state": ["random_state"],
        "copy_X": ["boolean"],
        "n_jobs": [None, Integral],
    }

    def __init__(
        self,
        n_components=None,
        *,
        kernel="linear",
        gamma=None,
        degree=3,
        coef0=1,
        kernel_params=None,
        alpha=1.0,
        fit_inverse_transform=False,
        eigen_solver="auto",
        tol=0,
        max_iter=None,
        iterated_power="auto",
        remove_zero_eig=False,
        random_state=None,
        copy_X=True,
        n_jobs=None,
    ):
        self.n_components = n_components
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.alpha = alpha
        self.fit_inverse_transform = fit_inverse_transform
        self.eigen_solver = eigen_solver
        self.tol = tol
        self.max_iter = max_iter
        self.iterated_power = iterated_power
        self.remove_zero_eig = remove_zero_eig
        self.random_state = random_state
        self.copy_X = copy_X
        self.n_jobs = n_jobs

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = self.kernel == "precomputed"
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    @property
    def _n_features_out(self):
        return len(self.eigenvalues_)

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y=None):
        """Find the components.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features) or \
                (n_samples, n_samples)
            Training rows, or their kernel values if ``kernel="precomputed"``.
        y : Ignored
            Not used.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        if self.fit_inverse_transform and self.kernel == "precomputed":
            raise ValueError("Cannot fit_inverse_transform with a precomputed kernel.")
        X = validate_data(
            self, X, accept_sparse="csr", dtype=[np.float64, np.float32], copy=self.copy_X
        )
        if self.kernel == "precomputed" and X.shape[0] != X.shape[1]:
            raise ValueError(
                f"Precomputed matrix must be a square matrix. Input is a {X.shape[0]}x{X.shape[1]} matrix."
            )
        self.gamma_ = 1.0 / X.shape[1] if self.gamma is None else self.gamma
        self.X_fit_ = X
        n = X.shape[0]
        wanted = n if self.n_components is None else min(n, self.n_components)
        if self.eigen_solver == "dense" or n < max(_MANY, _FEW * wanted):
            self._fit_all(X, wanted)
        else:
            self._fit_few(X, wanted)
        if not (self.remove_zero_eig or self.n_components is None):
            self._pad(wanted)
        if self.fit_inverse_transform:
            self._fit_inverse(X)
        return self

    def _fit_few(self, X, wanted):
        """Let mercer-fit find the first components."""
        request, arrays = self._request(X)
        _, results = self._ask({**request, "op": "fit", "learner": "kpca", "components": wanted}, arrays)
        self.eigenvalues_ = results["values"]
        self.eigenvectors_ = results["vectors"].T
        self._means = results["means"]

    def _fit_all(self, X, wanted):
        """Find all components by LAPACK and keep the first with eigenvalues above 0."""
        k = np.array(self._values(X, X), dtype=np.float64)
        self._means = k.mean(axis=1)
        if not np.isfinite(self._means).all():
            raise ValueError("The kernel matrix holds a NaN or an infinity.")
        k -= self._means
        k -= self._means[:, None] - self._means.mean()
        values, vectors = np.linalg.eigh(k)
        size = np.abs(values).max()
        values, vectors = values[::-1][:wanted], vectors[:, ::-1][:, :wanted]
        _check_semidefinite(values)
        keep = values > _FLOOR * size
        vectors = vectors[:, keep]
        largest = vectors[np.abs(vectors).argmax(axis=0), np.arange(vectors.shape[1])]
        self.eigenvalues_, self.eigenvectors_ = values[keep], vectors * np.where(largest < 0, -1.0, 1.0)

    def _pad(self, wanted):
        """Fill up with components of eigenvalue 0."""
        missing = wanted - len(self.eigenvalues_)
        self.eigenvalues_ = np.pad(self.eigenvalues_, (0, missing))
        self.eigenvectors_ = np.pad(self.eigenvectors_, ((0, 0), (0, missing)))

    def _ask(self, request, arrays):
        threads = None
        if self.n_jobs is not None:
            threads = 0 if self.n_jobs < 0 else self.n_jobs
        return ask(request, arrays, threads)

    def _request(self, X):
        spec = self._specification()
        if spec is None:
            return {"kernel": {"name": "precomputed"}}, {"K": self._values(X, X)}
        return {"kernel": spec, "columns": X.shape[1]}, _kernels.rows("X", X)

    def _specification(self):
        """Return mercer-fit's description of the kernel, or None if values come from Python."""
        if callable(self.kernel) or self.kernel == "precomputed":
            return None
        if self.kernel == "cosine":
            return {"name": "cosine"}
        return _kernels.specification(self.kernel, self.gamma_, self.coef0, self.degree)

    def _values(self, X, Y):
        """Return kernel values computed in Python."""
        if self.kernel == "precomputed":
            return np.asarray(X.toarray() if sp.issparse(X) else X, dtype=np.float64)
        if callable(self.kernel):
            return _kernels.values(X, Y, self.kernel, **(self.kernel_params or {}))
        return _kernels.values(X, Y, self.kernel, gamma=self.gamma_, degree=self.degree, coef0=self.coef0)

    def _products(self, X, Y, coef, rho):
        """Return K(X, Y) @ coef - rho."""
        spec = self._specification()
        if spec is None:
            return self._values(X, Y) @ coef - rho
        arrays = {"coef": coef.T, "rho": rho, **_kernels.rows("X", X), **_kernels.rows("V", Y)}
        return self._ask({"op": "decide", "kernel": spec, "columns": X.shape[1]}, arrays)[1]["D"]

    def _fit_inverse(self, X):
        if sp.issparse(X):
            raise NotImplementedError("Inverse transform not implemented for sparse matrices!")
        scores = self._scores()
        request, arrays = self._request(scores)
        arrays["y"] = np.asarray(X, dtype=np.float64)
        request = {**request, "op": "fit", "learner": "ridge", "alpha": float(self.alpha)}
        self.dual_coef_ = self._ask(request, arrays)[1]["coef"].T
        self.X_transformed_fit_ = scores

    def _scores(self):
        """Return the scores of the training rows."""
        return self.eigenvectors_ * np.sqrt(self.eigenvalues_)

    def fit_transform(self, X, y=None, **params):
        """Find the components and return the scores of the training rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features) or \
                (n_samples, n_samples)
            Training rows, or their kernel values if ``kernel="precomputed"``.
        y : Ignored
            Not used.
        **params : kwargs
            Further arguments of :meth:`fit`.

        Returns
        -------
        scores : ndarray of shape (n_samples, n_components)
            Scores along the components.
        """
        self.fit(X, **params)
        return self._scores().astype(self.X_fit_.dtype, copy=False)

    def transform(self, X):
        """Return the scores of the rows X.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features) or \
                (n_samples, n_samples_fitted)
            Rows, or their kernel values with the training rows if ``kernel="precomputed"``.

        Returns
        -------
        scores : ndarray of shape (n_samples, n_components)
            Scores along the components.
        """
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=[np.float64, np.float32], reset=False)
        roots = np.sqrt(self.eigenvalues_)
        scaled = np.divide(self.eigenvectors_, roots, out=np.zeros_like(self.eigenvectors_), where=roots > 0)
        scaled -= scaled.mean(axis=0)  # centres the kernel values of each row
        out = self._products(X, self.X_fit_, scaled, self._means @ scaled)
        return out.astype(X.dtype, copy=False)

    def inverse_transform(self, X):
        """Return rows whose scores are about X.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_components)
            Scores.

        Returns
        -------
        rows : ndarray of shape (n_samples, n_features)
            Rows, by a ridge regression of the training rows on their scores.
        """
        if not self.fit_inverse_transform:
            raise NotFittedError(
                "The fit_inverse_transform parameter was not set to True when instantiating and hence"
                " the inverse transform is not available."
            )
        X = check_array(X, dtype=np.float64)
        return self._products(X, self.X_transformed_fit_, self.dual_coef_, np.zeros(self.n_features_in_))


def _check_semidefinite(values):
    """Refuse eigenvalues, largest first, of which one is below 0 by more than rounding."""
    if values[-1] < -max(_WRONG * values[0], _WRONG_ALONE):
        raise ValueError(
            f"There are significant negative eigenvalues: the least is {values[-1]:g}, the largest {values[0]:g}."
            " The kernel matrix is not positive semidefinite: check the kernel, or ask for fewer components."
        )
