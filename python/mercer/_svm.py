"""Support vector machines with scikit-learn's names, trained by mercer-fit."""

import warnings
from abc import ABCMeta, abstractmethod
from numbers import Integral, Real

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassifierMixin, OutlierMixin, RegressorMixin, _fit_context
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.utils import check_random_state, column_or_1d, compute_class_weight
from sklearn.utils._param_validation import Hidden, Interval, Options, StrOptions
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    _num_samples,
    check_consistent_length,
    check_is_fitted,
    validate_data,
)

from . import _kernels
from ._child import FitError, ask

_NOT_FINITE = (
    "The dual coefficients or intercepts are not finite. The input data may contain large values and"
    " need to be preprocessed."
)


class _Machine(BaseEstimator, metaclass=ABCMeta):
    """A kernel machine: kernel values times coefficients minus rho, one function or more.

    ``_coef`` (functions x support vectors) and ``_rho`` have mercer-fit's signs: a positive
    decision of a pair of classes is for the first.
    """

    _parameter_constraints: dict = {
        "kernel": [StrOptions({"linear", "poly", "rbf", "sigmoid", "precomputed"}), callable],
        "degree": [Interval(Integral, 0, None, closed="left")],
        "gamma": [StrOptions({"scale", "auto"}), Interval(Real, 0.0, None, closed="left")],
        "coef0": [Interval(Real, None, None, closed="neither")],
        "tol": [Interval(Real, 0.0, None, closed="neither")],
        "shrinking": ["boolean"],
        "cache_size": [Interval(Real, 0, None, closed="neither")],
        "verbose": ["verbose"],
        "max_iter": [Interval(Integral, 1, None, closed="left"), Options(Integral, {-1})],
    }

    @property
    @abstractmethod
    def _learner(self):
        """mercer-fit's name of the learner."""

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.kernel == "precomputed"
        tags.input_tags.sparse = self.kernel != "precomputed"
        return tags

    # Training

    def _fit(self, X, y, sample_weight):
        """Train on the rows X, with targets y as _targets returns them."""
        weights = self._row_weights(X, sample_weight)
        rows, target = self._rows_to_train_on(y, weights)
        self._gamma = self._gamma_of(X)
        request, arrays = self._request(X, rows)
        arrays["y"] = target
        if weights is not None:
            arrays["weights"] = weights if rows is None else weights[rows]
        answer, results = self._train({**request, "op": "fit"}, arrays)
        self._keep(X, y, rows, results)
        self._calibrate({**request, "op": "calibrate"}, arrays)
        self.fit_status_ = int("unconverged" in answer)
        if self.fit_status_:
            self._warn_of_early_end(answer["unconverged"])
        return self

    def _validate(self, X, y):
        """Return rows and targets; both are only counted if the kernel is a callable."""
        if sp.issparse(X) and self.kernel == "precomputed":
            raise TypeError("Sparse precomputed kernels are not supported.")
        self._sparse = sp.issparse(X) and not callable(self.kernel)
        if callable(self.kernel):
            check_consistent_length(X, y)
        else:
            X, y = validate_data(self, X, y, dtype=np.float64, order="C", accept_sparse="csr")
        if self.kernel == "precomputed" and X.shape[0] != X.shape[1]:
            raise ValueError(
                "Precomputed matrix must be a square matrix."
                f" Input is a {X.shape[0]}x{X.shape[1]} matrix."
            )
        return X, y

    def _row_weights(self, X, sample_weight):
        if sample_weight is None:
            return None
        weights = np.asarray(sample_weight, dtype=np.float64)
        n = _num_samples(X)
        if weights.shape != (n,):
            raise ValueError(
                f"sample_weight and X have incompatible shapes: {weights.shape} vs {(n,)}"
            )
        if not np.isfinite(weights).all():
            raise ValueError("Input sample_weight contains NaN or infinity.")
        if not (weights > 0).any():
            raise ValueError("Invalid input - all samples have zero or negative weights.")
        return weights

    def _rows_to_train_on(self, y, weights):
        """Return the rows of the classes that have weight (None: all), and their targets."""
        return None, y

    def _gamma_of(self, X):
        if callable(self.kernel) or self.kernel == "precomputed":
            return 0.0
        if self.gamma == "auto":
            return 1.0 / X.shape[1]
        if self.gamma != "scale":
            return float(self.gamma)
        with np.errstate(over="ignore", invalid="ignore"):
            variance = X.multiply(X).mean() - X.mean() ** 2 if sp.issparse(X) else X.var()
        return 1.0 / (X.shape[1] * variance) if variance != 0 else 1.0

    def _specification(self):
        """Return mercer-fit's description of the kernel, or None if values come from Python."""
        if callable(self.kernel) or self.kernel == "precomputed":
            return None
        return _kernels.specification(self.kernel, self._gamma, self.coef0, self.degree)

    def _request(self, X, rows):
        """Return a request to train on some rows of X (None: all), and its arrays."""
        request = {
            "learner": self._learner,
            "tol": float(self.tol),
            "cache_bytes": int(self.cache_size * 2**20),
            "max_iter": max(int(self.max_iter), 0),
            **self._parameters(),
        }
        spec = self._specification()
        if spec is None:
            k = self._square(X)
            return {**request, "kernel": {"name": "precomputed"}}, {
                "K": k if rows is None else k[np.ix_(rows, rows)]
            }
        x = X if rows is None else X[rows]
        return {**request, "kernel": spec, "columns": x.shape[1]}, _kernels.rows("X", x)

    def _parameters(self):
        """Return the learner's parameters besides those of all machines."""
        parameters = {name: float(getattr(self, name)) for name in ("nu", "epsilon") if hasattr(self, name)}
        if hasattr(self, "C"):
            parameters["C"] = float(self.C) if np.isfinite(self.C) else None
        return parameters

    def _square(self, X):
        """Return the kernel matrix of the training rows, computed in Python."""
        k = self._values(X, X)
        n = _num_samples(X)
        if k.shape != (n, n):
            if k.ndim == 2 and k.shape[0] == k.shape[1] and callable(self.kernel):
                raise ValueError(f"the kernel returned {k.shape[0]} rows for {n} samples")
            raise ValueError("X.shape[0] should be equal to X.shape[1]")
        return k

    def _values(self, X, Y):
        """Return kernel values of the rows X with the rows Y, computed in Python."""
        if self.kernel == "precomputed":
            return np.asarray(X, dtype=np.float64)
        if callable(self.kernel):
            k = self.kernel(X, Y)
            return np.asarray(k.toarray() if sp.issparse(k) else k, dtype=np.float64)
        return _kernels.values(X, Y, self.kernel, gamma=self._gamma, coef0=self.coef0, degree=self.degree)

    def _train(self, request, arrays):
        try:
            return ask(request, arrays)
        except FitError as e:
            if e.cause == "not-finite":
                raise ValueError(_NOT_FINITE) from e
            raise

    def _keep(self, X, y, rows, results):
        """Set the fitted attributes."""
        support = results["support"] if rows is None else rows[results["support"]]
        order = self._order_of_support(support, y)
        self.support_ = support[order].astype(np.int32)
        self._coef = np.ascontiguousarray(results["coef"][:, order])
        self._rho = results["rho"]
        if not (np.isfinite(self._coef).all() and np.isfinite(self._rho).all()):
            raise ValueError(_NOT_FINITE)
        self._keep_rows(X)
        self._num_iter = results["iterations"].astype(np.int32)
        self._keep_coefficients(y)
        if self._sparse:
            self.dual_coef_ = _like(X, self.dual_coef_)

    def _keep_rows(self, X):
        self.shape_fit_ = X.shape if hasattr(X, "shape") else (_num_samples(X),)
        if callable(self.kernel):
            self._fitted_rows = X
            self.support_vectors_ = np.empty((0, 0))
        elif self.kernel == "precomputed":
            self.support_vectors_ = np.empty((0, 0))
        else:
            self.support_vectors_ = X[self.support_]

    def _order_of_support(self, support, y):
        return slice(None)

    def _keep_coefficients(self, y):
        self.dual_coef_ = self._coef
        self.intercept_ = -self._rho
        self._n_support = np.array([len(self.support_)], dtype=np.int32)
        self.n_iter_ = self._num_iter.item()

    def _calibrate(self, request, arrays):
        """Fit sigmoids for probabilities, where there are any."""

    def _warn_of_early_end(self, why):
        if self.max_iter == -1:
            warnings.warn(f"Solver terminated early: {why}.", ConvergenceWarning, stacklevel=5)
            return
        warnings.warn(
            f"Solver terminated early (max_iter={self.max_iter})."
            "  Consider pre-processing your data with StandardScaler or MinMaxScaler.",
            ConvergenceWarning,
            stacklevel=5,
        )

    # Decisions

    def _decisions(self, X):
        """Return the decisions of all functions for the rows X, with mercer-fit's signs."""
        X = self._validate_for_decisions(X)
        spec = self._specification()
        if spec is None:
            return self._decisions_in_python(X)
        if not len(self.support_):
            return np.tile(-self._rho, (X.shape[0], 1))
        arrays = {"coef": self._coef, "rho": self._rho}
        arrays.update(_kernels.rows("X", X))
        arrays.update(_kernels.rows("V", self.support_vectors_))
        _, results = ask({"op": "decide", "kernel": spec, "columns": X.shape[1]}, arrays)
        return results["D"]

    def _decisions_in_python(self, X):
        if callable(self.kernel):
            k = self._values(X, self._fitted_rows)
            if k.shape != (_num_samples(X), self.shape_fit_[0]):
                raise ValueError(
                    f"X.shape[1] = {k.shape[-1]} should be equal to {self.shape_fit_[0]}, the number"
                    " of samples at training time"
                )
            return k[:, self.support_] @ self._coef.T - self._rho

        def kernel_of(some):
            if self.kernel == "precomputed":
                return X[some][:, self.support_]
            return self._values(X[some], self.support_vectors_)

        return _kernels.decide_in_blocks(X.shape[0], len(self.support_), self._coef, self._rho, kernel_of)

    def _validate_for_decisions(self, X):
        check_is_fitted(self)
        if callable(self.kernel):
            return X
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, order="C", reset=False)
        if self._sparse and not sp.issparse(X):
            X = _like(self.support_vectors_, X)
        if sp.issparse(X) and not self._sparse:
            raise ValueError(f"cannot use sparse input in {type(self).__name__!r} trained on dense data")
        if self.kernel == "precomputed" and X.shape[1] != self.shape_fit_[0]:
            raise ValueError(
                f"X.shape[1] = {X.shape[1]} should be equal to {self.shape_fit_[0]}, the number of"
                " samples at training time"
            )
        return X

    @property
    def coef_(self):
        """Weights of the features, if ``kernel="linear"``.

        Returns
        -------
        ndarray of shape (n_functions, n_features)
        """
        if self.kernel != "linear":
            raise AttributeError("coef_ is only available when using a linear kernel")
        if self._sparse:
            coef = _like(self.support_vectors_, self._signed()) @ self.support_vectors_
            coef.data.flags.writeable = False
        else:
            coef = self._signed() @ self.support_vectors_
            coef.flags.writeable = False
        return coef

    def _signed(self):
        """Return the coefficients of each function with scikit-learn's sign."""
        return self._coef

    @property
    def n_support_(self):
        """Number of support vectors for each class."""
        try:
            check_is_fitted(self)
        except NotFittedError:
            raise AttributeError from None
        return self._n_support


def _like(x, matrix):
    """Return a matrix in CSR format, as an array or a matrix of SciPy's as x is."""
    return sp.csr_array(matrix) if isinstance(x, sp.sparray) else sp.csr_matrix(matrix)


def _probabilities_are_on(self):
    if self.probability == "deprecated" or not self.probability:
        raise AttributeError("predict_proba is not available when probability=False")
    return True


class _Classifier(ClassifierMixin, _Machine, metaclass=ABCMeta):
    """A machine for every pair of classes."""

    _parameter_constraints: dict = {
        **_Machine._parameter_constraints,
        "probability": ["boolean", Hidden(StrOptions({"deprecated"}))],
        "class_weight": [StrOptions({"balanced"}), dict, None],
        "decision_function_shape": [StrOptions({"ovr", "ovo"})],
        "break_ties": ["boolean"],
        "random_state": ["random_state"],
    }

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y, sample_weight=None):
        """Train a machine for every pair of classes.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features) or \
                (n_samples, n_samples)
            Training rows, or their kernel values if ``kernel="precomputed"``.
        y : array-like of shape (n_samples,)
            Class labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Factors of ``C`` for each row. A row with weight 0 or less is left out.

        Returns
        -------
        self : object
            The trained estimator.
        """
        seed = int(check_random_state(self.random_state).randint(np.iinfo("i").max))
        X, y = self._validate(X, y)
        codes = self._codes(y)
        self._warn_of_probability()
        self._seed = seed
        return self._fit(X, codes, sample_weight)

    def _codes(self, y):
        y = column_or_1d(y, warn=True)
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        self.class_weight_ = compute_class_weight(self.class_weight, classes=self.classes_, y=y)
        if len(self.classes_) < 2:
            raise ValueError(
                f"The number of classes has to be greater than one; got {len(self.classes_)} class"
            )
        return codes.astype(np.int64)

    def _warn_of_probability(self):
        if self.probability != "deprecated":
            name = type(self).__name__
            warnings.warn(
                "The `probability` parameter was deprecated in 1.9 and will be removed in version"
                f" 1.11. Use `CalibratedClassifierCV({name}(), ensemble=False)` instead of"
                f" `{name}(probability=True)`",
                FutureWarning,
                stacklevel=4,
            )

    def _rows_to_train_on(self, y, weights):
        self._present = np.arange(len(self.classes_))
        if weights is None:
            return None, y
        self._present = np.unique(y[weights > 0])
        if len(self._present) == 1:
            raise ValueError(self._ONE_CLASS)
        if len(self._present) == len(self.classes_):
            return None, y
        rows = np.flatnonzero(np.isin(y, self._present))
        return rows, np.searchsorted(self._present, y[rows])

    _ONE_CLASS = "Invalid input - all samples with positive weights belong to the same class."

    def _parameters(self):
        return {**super()._parameters(), "classes": len(self._present), "seed": self._seed}

    def _order_of_support(self, support, y):
        return np.argsort(y[support], kind="stable")

    def _keep_coefficients(self, y):
        codes = y[self.support_]
        self._n_support = np.bincount(codes, minlength=len(self.classes_)).astype(np.int32)
        self.n_iter_ = self._num_iter
        self.dual_coef_ = self._rows_by_class(np.searchsorted(self._present, codes))
        self.intercept_ = self._rho if self._binary() else -self._rho

    def _rows_by_class(self, codes):
        """Return LIBSVM's layout of the coefficients, of shape (n_classes - 1, n_support).

        A vector of class i has its coefficient against class j in row j - 1 if i < j, in row j
        otherwise.
        """
        if self._binary():
            return -self._coef
        out = np.zeros((len(self._present) - 1, len(codes)))
        for k, (i, j) in enumerate(self._pairs()):
            out[j - 1, codes == i] = self._coef[k, codes == i]
            out[i, codes == j] = self._coef[k, codes == j]
        return out

    def _pairs(self):
        m = len(self._present)
        return [(i, j) for i in range(m) for j in range(i + 1, m)]

    def _binary(self):
        return len(self.classes_) == 2

    def _signed(self):
        return -self._coef if self._binary() else self._coef

    def _calibrate(self, request, arrays):
        self._probA = self._probB = np.empty(0)
        if self.probability != "deprecated" and self.probability:
            _, results = self._train(request, arrays)
            self._probA, self._probB = results["A"], results["B"]

    def decision_function(self, X):
        """Return the decisions for the rows X.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features) or \
                (n_samples, n_samples_fitted)
            Rows, or their kernel values with the training rows if ``kernel="precomputed"``.

        Returns
        -------
        decisions : ndarray of shape (n_samples,), (n_samples, n_classes) or \
                (n_samples, n_classes * (n_classes - 1) / 2)
            For two classes one number for each row, positive for ``classes_[1]``. For more, with
            ``decision_function_shape="ovr"`` one column for each class, which orders the classes by
            votes, and with ``"ovo"`` one for each pair, positive for the first of the pair. A class
            whose training rows all had weight 0 has no pairs, and ``-inf`` in its column.
        """
        d = self._decisions(X)
        if self._binary():
            return -d.ravel()
        if self.decision_function_shape == "ovo":
            return d
        return self._by_class(d)

    def _by_class(self, d):
        """Return for each class its votes, and its sum of decisions pressed into less than half a vote."""
        first, second = self._sides()
        votes = (d >= 0) @ first + (d < 0) @ second
        sums = d @ (first - second)
        out = np.full((len(d), len(self.classes_)), -np.inf)
        out[:, self._present] = votes + sums / (3 * (np.abs(sums) + 1))
        return out

    def _sides(self):
        """Return two matrices, pairs x classes, with a 1 for the first or second class of the pair."""
        pairs = np.array(self._pairs())
        one = np.eye(len(self._present))
        return one[pairs[:, 0]], one[pairs[:, 1]]

    def predict(self, X):
        """Return the class of each row.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features) or \
                (n_samples, n_samples_fitted)
            Rows, or their kernel values with the training rows if ``kernel="precomputed"``.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
            The class with most votes of pairs. Among equals it is the first of ``classes_``, or the
            one with the largest decision if ``break_ties=True``.
        """
        check_is_fitted(self)
        if self.break_ties and self.decision_function_shape == "ovo":
            raise ValueError("break_ties must be False when decision_function_shape is 'ovo'")
        if self.break_ties and not self._binary():
            return self.classes_.take(np.argmax(self.decision_function(X), axis=1))
        d = self._decisions(X)
        first, second = self._sides()
        votes = (d > 0) @ first + (d <= 0) @ second
        return self.classes_.take(self._present[np.argmax(votes, axis=1)])

    @available_if(_probabilities_are_on)
    def predict_proba(self, X):
        """Return the probabilities of the classes for the rows X, if ``probability=True``.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features) or \
                (n_samples, n_samples_fitted)
            Rows, or their kernel values with the training rows if ``kernel="precomputed"``.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
            Columns in the order of ``classes_``.
        """
        check_is_fitted(self)
        if not len(self._probA):
            raise NotFittedError("predict_proba is not available when fitted with probability=False")
        d = self._decisions(X)
        _, results = ask(
            {"op": "couple", "classes": len(self._present)}, {"D": d, "A": self._probA, "B": self._probB}
        )
        out = np.zeros((len(d), len(self.classes_)))
        out[:, self._present] = results["P"]
        return out

    @available_if(_probabilities_are_on)
    def predict_log_proba(self, X):
        """Return the logarithms of the probabilities of :meth:`predict_proba`.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features) or \
                (n_samples, n_samples_fitted)
            Rows, or their kernel values with the training rows if ``kernel="precomputed"``.

        Returns
        -------
        logarithms : ndarray of shape (n_samples, n_classes)
            Columns in the order of ``classes_``.
        """
        return np.log(self.predict_proba(X))

    @property
    def probA_(self):
        """Slopes of the sigmoids, one for each pair of classes, if ``probability=True``."""
        return self._sigmoids("probA_", self._probA)

    @property
    def probB_(self):
        """Offsets of the sigmoids, one for each pair of classes, if ``probability=True``."""
        return self._sigmoids("probB_", self._probB)

    def _sigmoids(self, name, value):
        warnings.warn(
            f"Attribute `{name}` was deprecated in version 1.9 and will be removed in 1.11 as the"
            " `probability=True` option for SVC and NuSVC was deprecated and will be removed in 1.11.",
            FutureWarning,
            stacklevel=3,
        )
        return value


class SVC(_Classifier):
    """C-support vector classification.

    Trains what :class:`sklearn.svm.SVC` trains, by another program: LIBSVM's
    problem, stopping rule and order of pairs.

    Parameters
    ----------
    C : float, default=1.0
        Cost of a margin error, above 0. Infinity allows none.
    kernel : {"linear", "poly", "rbf", "sigmoid", "precomputed"} or callable, default="rbf"
        The kernel. A callable gets two tables and returns their kernel values. Values of
        ``"sigmoid"``, of a callable, and of ``"poly"`` with a negative ``coef0``, a ``degree`` of 0
        or above 64, or a ``gamma`` of 0 are computed in Python as a whole: 8 n^2 bytes for n rows.
    degree : int, default=3
        Degree of the polynomial kernel.
    gamma : {"scale", "auto"} or float, default="scale"
        Coefficient of the kernels "rbf", "poly" and "sigmoid". ``"scale"`` is 1 / (n_features *
        X.var()), ``"auto"`` is 1 / n_features.
    coef0 : float, default=0.0
        Constant of the kernels "poly" and "sigmoid".
    shrinking : bool, default=True
        Has no effect: the solver always shrinks.
    probability : bool, default="deprecated"
        Whether to fit probabilities. Use ``CalibratedClassifierCV(SVC(), ensemble=False)``.
    tol : float, default=1e-3
        Tolerance of the stopping rule, below 2.
    cache_size : float, default=200
        Memory for kernel rows in MB.
    class_weight : dict or "balanced", default=None
        Factors of ``C`` for the classes.
    verbose : bool, default=False
        Has no effect.
    max_iter : int, default=-1
        Iterations after which a pair's training ends, with a ConvergenceWarning. -1 is LIBSVM's
        limit of ten million or 100 for each row.
    decision_function_shape : {"ovr", "ovo"}, default="ovr"
        Whether decisions of more than two classes have a column for each class or for each pair.
    break_ties : bool, default=False
        Whether decisions decide among classes with equally many votes.
    random_state : int, RandomState instance or None, default=None
        Seed of the folds of ``probability=True``.

    Attributes
    ----------
    class_weight_ : ndarray of shape (n_classes,)
        Factor of ``C`` for each class.
    classes_ : ndarray of shape (n_classes,)
        Class labels, ascending.
    coef_ : ndarray of shape (n_classes * (n_classes - 1) / 2, n_features)
        Weights of the features, if ``kernel="linear"``.
    dual_coef_ : ndarray of shape (n_classes - 1, n_support)
        Coefficients of the support vectors, in LIBSVM's order.
    fit_status_ : int
        0 if the training met ``tol``, 1 otherwise.
    intercept_ : ndarray of shape (n_classes * (n_classes - 1) / 2,)
        Constants of the decisions.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features, if all columns have names that are text.
    n_iter_ : ndarray of shape (n_classes * (n_classes - 1) / 2,)
        Iterations of each pair.
    n_support_ : ndarray of shape (n_classes,)
        Number of support vectors of each class.
    shape_fit_ : tuple of int
        Shape of the training rows.
    support_ : ndarray of shape (n_support,)
        Rows that are support vectors, by class.
    support_vectors_ : ndarray of shape (n_support, n_features)
        Support vectors; empty if the kernel is precomputed or a callable.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import SVC
    >>> X = np.array([[-1, -1], [-2, -1], [1, 1], [2, 1]])
    >>> y = np.array([1, 1, 2, 2])
    >>> clf = SVC(kernel="linear").fit(X, y)
    >>> clf.predict([[-0.8, -1]])
    array([1])
    >>> clf.support_
    array([0, 2], dtype=int32)
    """

    _parameter_constraints: dict = {
        **_Classifier._parameter_constraints,
        "C": [Interval(Real, 0.0, None, closed="right")],
    }
    _learner = "svc"

    def __init__(
        self,
        *,
        C=1.0,
        kernel="rbf",
        degree=3,
        gamma="scale",
        coef0=0.0,
        shrinking=True,
        probability="deprecated",
        tol=1e-3,
        cache_size=200,
        class_weight=None,
        verbose=False,
        max_iter=-1,
        decision_function_shape="ovr",
        break_ties=False,
        random_state=None,
    ):
        self.C = C
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.shrinking = shrinking
        self.probability = probability
        self.tol = tol
        self.cache_size = cache_size
        self.class_weight = class_weight
        self.verbose = verbose
        self.max_iter = max_iter
        self.decision_function_shape = decision_function_shape
        self.break_ties = break_ties
        self.random_state = random_state

    def _parameters(self):
        weights = self.class_weight_[self._present]
        return {**super()._parameters(), "class_weight": [float(w) for w in weights]}


class NuSVC(_Classifier):
    """Nu-support vector classification.

    Trains what :class:`sklearn.svm.NuSVC` trains: like :class:`SVC`, with a
    bound on the share of margin errors in place of their cost.

    Parameters
    ----------
    nu : float, default=0.5
        Upper bound on the share of margin errors, and lower bound on the share of support vectors,
        above 0 and at most 1.
    kernel : {"linear", "poly", "rbf", "sigmoid", "precomputed"} or callable, default="rbf"
        As in :class:`SVC`.
    degree : int, default=3
        Degree of the polynomial kernel.
    gamma : {"scale", "auto"} or float, default="scale"
        As in :class:`SVC`.
    coef0 : float, default=0.0
        Constant of the kernels "poly" and "sigmoid".
    shrinking : bool, default=True
        Has no effect: the solver always shrinks.
    probability : bool, default="deprecated"
        Whether to fit probabilities. Use ``CalibratedClassifierCV(NuSVC(), ensemble=False)``.
    tol : float, default=1e-3
        Tolerance of the stopping rule.
    cache_size : float, default=200
        Memory for kernel rows in MB.
    class_weight : {dict, "balanced"}, default=None
        Has no effect, as in scikit-learn.
    verbose : bool, default=False
        Has no effect.
    max_iter : int, default=-1
        As in :class:`SVC`.
    decision_function_shape : {"ovr", "ovo"}, default="ovr"
        As in :class:`SVC`.
    break_ties : bool, default=False
        As in :class:`SVC`.
    random_state : int, RandomState instance or None, default=None
        Seed of the folds of ``probability=True``.

    Attributes
    ----------
    class_weight_ : ndarray of shape (n_classes,)
        Weight of each class; has no effect.
    classes_ : ndarray of shape (n_classes,)
        Class labels, ascending.
    coef_ : ndarray of shape (n_classes * (n_classes - 1) / 2, n_features)
        Weights of the features, if ``kernel="linear"``.
    dual_coef_ : ndarray of shape (n_classes - 1, n_support)
        Coefficients of the support vectors, in LIBSVM's order.
    fit_status_ : int
        0 if the training met ``tol``, 1 otherwise.
    intercept_ : ndarray of shape (n_classes * (n_classes - 1) / 2,)
        Constants of the decisions.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features, if all columns have names that are text.
    n_iter_ : ndarray of shape (n_classes * (n_classes - 1) / 2,)
        Iterations of each pair.
    n_support_ : ndarray of shape (n_classes,)
        Number of support vectors of each class.
    shape_fit_ : tuple of int
        Shape of the training rows.
    support_ : ndarray of shape (n_support,)
        Rows that are support vectors, by class.
    support_vectors_ : ndarray of shape (n_support, n_features)
        Support vectors; empty if the kernel is precomputed or a callable.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import NuSVC
    >>> X = np.array([[-1, -1], [-2, -1], [1, 1], [2, 1]])
    >>> y = np.array([1, 1, 2, 2])
    >>> NuSVC().fit(X, y).predict([[-0.8, -1]])
    array([1])
    """

    _parameter_constraints: dict = {
        **_Classifier._parameter_constraints,
        "nu": [Interval(Real, 0.0, 1.0, closed="right")],
    }
    _learner = "nu-svc"
    _ONE_CLASS = (
        "specified nu is infeasible: all samples with positive weights belong to the same class."
    )

    def __init__(
        self,
        *,
        nu=0.5,
        kernel="rbf",
        degree=3,
        gamma="scale",
        coef0=0.0,
        shrinking=True,
        probability="deprecated",
        tol=1e-3,
        cache_size=200,
        class_weight=None,
        verbose=False,
        max_iter=-1,
        decision_function_shape="ovr",
        break_ties=False,
        random_state=None,
    ):
        self.nu = nu
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.shrinking = shrinking
        self.probability = probability
        self.tol = tol
        self.cache_size = cache_size
        self.class_weight = class_weight
        self.verbose = verbose
        self.max_iter = max_iter
        self.decision_function_shape = decision_function_shape
        self.break_ties = break_ties
        self.random_state = random_state


class _Regressor(RegressorMixin, _Machine, metaclass=ABCMeta):
    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y, sample_weight=None):
        """Train the regression.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features) or \
                (n_samples, n_samples)
            Training rows, or their kernel values if ``kernel="precomputed"``.
        y : array-like of shape (n_samples,)
            Targets.
        sample_weight : array-like of shape (n_samples,), default=None
            Factors of ``C`` for each row. A row with weight 0 or less is left out.

        Returns
        -------
        self : object
            The trained estimator.
        """
        X, y = self._validate(X, y)
        return self._fit(X, column_or_1d(y, warn=True).astype(np.float64, copy=False), sample_weight)

    def predict(self, X):
        """Return the prediction for each row.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features) or \
                (n_samples, n_samples_fitted)
            Rows, or their kernel values with the training rows if ``kernel="precomputed"``.

        Returns
        -------
        predictions : ndarray of shape (n_samples,)
            Predictions, in the unit of the targets.
        """
        return self._decisions(X).ravel()


class SVR(_Regressor):
    """Epsilon-support vector regression.

    Trains what :class:`sklearn.svm.SVR` trains.

    Parameters
    ----------
    kernel : {"linear", "poly", "rbf", "sigmoid", "precomputed"} or callable, default="rbf"
        As in :class:`SVC`.
    degree : int, default=3
        Degree of the polynomial kernel.
    gamma : {"scale", "auto"} or float, default="scale"
        As in :class:`SVC`.
    coef0 : float, default=0.0
        Constant of the kernels "poly" and "sigmoid".
    tol : float, default=1e-3
        Tolerance of the stopping rule, in the unit of the targets.
    C : float, default=1.0
        Cost of an error beyond ``epsilon``, above 0. Infinity allows none.
    epsilon : float, default=0.1
        Error that costs nothing, in the unit of the targets.
    shrinking : bool, default=True
        Has no effect: the solver always shrinks.
    cache_size : float, default=200
        Memory for kernel rows in MB.
    verbose : bool, default=False
        Has no effect.
    max_iter : int, default=-1
        As in :class:`SVC`.

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_features)
        Weights of the features, if ``kernel="linear"``.
    dual_coef_ : ndarray of shape (1, n_support)
        Coefficients of the support vectors.
    fit_status_ : int
        0 if the training met ``tol``, 1 otherwise.
    intercept_ : ndarray of shape (1,)
        Constant of the predictions.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features, if all columns have names that are text.
    n_iter_ : int
        Iterations.
    n_support_ : ndarray of shape (1,)
        Number of support vectors.
    shape_fit_ : tuple of int
        Shape of the training rows.
    support_ : ndarray of shape (n_support,)
        Rows that are support vectors, ascending.
    support_vectors_ : ndarray of shape (n_support, n_features)
        Support vectors; empty if the kernel is precomputed or a callable.

    Examples
    --------
    >>> from mercer import SVR
    >>> SVR(kernel="linear", C=10, epsilon=0).fit([[0], [1], [2]], [0, 2, 4]).predict([[3]]).round(3)
    array([6.])
    """

    _parameter_constraints: dict = {
        **_Machine._parameter_constraints,
        "C": [Interval(Real, 0.0, None, closed="right")],
        "epsilon": [Interval(Real, 0.0, None, closed="left")],
    }
    _learner = "svr"

    def __init__(
        self,
        *,
        kernel="rbf",
        degree=3,
        gamma="scale",
        coef0=0.0,
        tol=1e-3,
        C=1.0,
        epsilon=0.1,
        shrinking=True,
        cache_size=200,
        verbose=False,
        max_iter=-1,
    ):
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.tol = tol
        self.C = C
        self.epsilon = epsilon
        self.shrinking = shrinking
        self.cache_size = cache_size
        self.verbose = verbose
        self.max_iter = max_iter


class NuSVR(_Regressor):
    """Nu-support vector regression.

    Trains what :class:`sklearn.svm.NuSVR` trains: like :class:`SVR`, with a
    bound on the share of errors in place of ``epsilon``.

    Parameters
    ----------
    nu : float, default=0.5
        Upper bound on the share of rows whose error costs something, and lower bound on the share of
        support vectors, above 0 and at most 1.
    C : float, default=1.0
        Cost of an error, above 0.
    kernel : {"linear", "poly", "rbf", "sigmoid", "precomputed"} or callable, default="rbf"
        As in :class:`SVC`.
    degree : int, default=3
        Degree of the polynomial kernel.
    gamma : {"scale", "auto"} or float, default="scale"
        As in :class:`SVC`.
    coef0 : float, default=0.0
        Constant of the kernels "poly" and "sigmoid".
    shrinking : bool, default=True
        Has no effect: the solver always shrinks.
    tol : float, default=1e-3
        Tolerance of the stopping rule, in the unit of the targets.
    cache_size : float, default=200
        Memory for kernel rows in MB.
    verbose : bool, default=False
        Has no effect.
    max_iter : int, default=-1
        As in :class:`SVC`.

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_features)
        Weights of the features, if ``kernel="linear"``.
    dual_coef_ : ndarray of shape (1, n_support)
        Coefficients of the support vectors.
    fit_status_ : int
        0 if the training met ``tol``, 1 otherwise.
    intercept_ : ndarray of shape (1,)
        Constant of the predictions.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features, if all columns have names that are text.
    n_iter_ : int
        Iterations.
    n_support_ : ndarray of shape (1,)
        Number of support vectors.
    shape_fit_ : tuple of int
        Shape of the training rows.
    support_ : ndarray of shape (n_support,)
        Rows that are support vectors, ascending.
    support_vectors_ : ndarray of shape (n_support, n_features)
        Support vectors; empty if the kernel is precomputed or a callable.

    Examples
    --------
    >>> from mercer import NuSVR
    >>> NuSVR(kernel="linear", C=10).fit([[0], [1], [2]], [0, 2, 4]).predict([[3]]).shape
    (1,)
    """

    _parameter_constraints: dict = {
        **_Machine._parameter_constraints,
        "C": [Interval(Real, 0.0, None, closed="right")],
        "nu": [Interval(Real, 0.0, 1.0, closed="right")],
    }
    _learner = "nu-svr"

    def __init__(
        self,
        *,
        nu=0.5,
        C=1.0,
        kernel="rbf",
        degree=3,
        gamma="scale",
        coef0=0.0,
        shrinking=True,
        tol=1e-3,
        cache_size=200,
        verbose=False,
        max_iter=-1,
    ):
        self.nu = nu
        self.C = C
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.shrinking = shrinking
        self.tol = tol
        self.cache_size = cache_size
        self.verbose = verbose
        self.max_iter = max_iter


class OneClassSVM(OutlierMixin, _Machine):
    """A region that contains most rows.

    Trains what :class:`sklearn.svm.OneClassSVM` trains. If ``nu`` times the sum
    of the weights is below 1, ``tol`` is multiplied by it, so that the training
    does not end before its first step.

    Parameters
    ----------
    kernel : {"linear", "poly", "rbf", "sigmoid", "precomputed"} or callable, default="rbf"
        As in :class:`SVC`.
    degree : int, default=3
        Degree of the polynomial kernel.
    gamma : {"scale", "auto"} or float, default="scale"
        As in :class:`SVC`.
    coef0 : float, default=0.0
        Constant of the kernels "poly" and "sigmoid".
    tol : float, default=1e-3
        Tolerance of the stopping rule.
    nu : float, default=0.5
        Upper bound on the share of training rows outside, and lower bound on the share of support
        vectors, above 0 and at most 1.
    shrinking : bool, default=True
        Has no effect: the solver always shrinks.
    cache_size : float, default=200
        Memory for kernel rows in MB.
    verbose : bool, default=False
        Has no effect.
    max_iter : int, default=-1
        As in :class:`SVC`.

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_features)
        Weights of the features, if ``kernel="linear"``.
    dual_coef_ : ndarray of shape (1, n_support)
        Coefficients of the support vectors.
    fit_status_ : int
        0 if the training met ``tol``, 1 otherwise.
    intercept_ : ndarray of shape (1,)
        Constant of the decisions.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features, if all columns have names that are text.
    n_iter_ : int
        Iterations.
    n_support_ : ndarray of shape (1,)
        Number of support vectors.
    offset_ : float
        The scores of :meth:`score_samples` minus the decisions.
    shape_fit_ : tuple of int
        Shape of the training rows.
    support_ : ndarray of shape (n_support,)
        Rows that are support vectors, ascending.
    support_vectors_ : ndarray of shape (n_support, n_features)
        Support vectors; empty if the kernel is precomputed or a callable.

    Examples
    --------
    >>> from mercer import OneClassSVM
    >>> OneClassSVM(gamma="auto").fit([[0], [0.44], [0.45], [0.46], [1]]).predict([[0.45], [3]])
    array([ 1, -1])
    """

    _parameter_constraints: dict = {
        **_Machine._parameter_constraints,
        "nu": [Interval(Real, 0.0, 1.0, closed="right")],
    }
    _learner = "one-class"

    def __init__(
        self,
        *,
        kernel="rbf",
        degree=3,
        gamma="scale",
        coef0=0.0,
        tol=1e-3,
        nu=0.5,
        shrinking=True,
        cache_size=200,
        verbose=False,
        max_iter=-1,
    ):
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.tol = tol
        self.nu = nu
        self.shrinking = shrinking
        self.cache_size = cache_size
        self.verbose = verbose
        self.max_iter = max_iter

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y=None, sample_weight=None):
        """Find the region.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features) or \
                (n_samples, n_samples)
            Training rows, or their kernel values if ``kernel="precomputed"``.
        y : Ignored
            Not used.
        sample_weight : array-like of shape (n_samples,), default=None
            Weight of each row. A row with weight 0 or less is left out.

        Returns
        -------
        self : object
            The trained estimator.
        """
        X, y = self._validate(X, np.zeros(_num_samples(X)))
        self._fit(X, y, sample_weight)
        self.offset_ = self._rho
        return self

    def decision_function(self, X):
        """Return the signed distance of each row from the region's boundary.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features) or \
                (n_samples, n_samples_fitted)
            Rows, or their kernel values with the training rows if ``kernel="precomputed"``.

        Returns
        -------
        decisions : ndarray of shape (n_samples,)
            Above 0 inside the region.
        """
        return self._decisions(X).ravel()

    def score_samples(self, X):
        """Return the decisions plus ``offset_``.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features) or \
                (n_samples, n_samples_fitted)
            Rows, or their kernel values with the training rows if ``kernel="precomputed"``.

        Returns
        -------
        scores : ndarray of shape (n_samples,)
            Sums of coefficients times kernel values.
        """
        return self.decision_function(X) + self.offset_

    def predict(self, X):
        """Return 1 for rows inside the region and -1 for others.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features) or \
                (n_samples, n_samples_fitted)
            Rows, or their kernel values with the training rows if ``kernel="precomputed"``.

        Returns
        -------
        inside : ndarray of shape (n_samples,)
            1 or -1 for each row.
        """
        return np.where(self._decisions(X).ravel() > 0, 1, -1)
