"""The estimators compute what scikit-learn's compute, and what their parameters say."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn import svm
from sklearn.decomposition import KernelPCA
from sklearn.kernel_ridge import KernelRidge

import mercer

TIGHT = 1e-8
NEAR = 1e-5


def weights(n):
    """Weights with zeros and a negative one."""
    w = np.random.default_rng(1).exponential(size=n)
    w[::9] = 0
    w[4] = -1
    return w


MACHINES = [
    ("SVC", {}),
    ("SVC", {"class_weight": "balanced", "C": 10}),
    ("NuSVC", {"nu": 0.1}),
    ("SVR", {}),
    ("NuSVR", {}),
    ("OneClassSVM", {"nu": 0.2}),
]


def data(name, request):
    return request.getfixturevalue("diabetes" if "SVR" in name else "wdbc")


def decisions(model, x):
    return model.decision_function(x) if hasattr(model, "decision_function") else model.predict(x)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name, params", MACHINES)
def test_decisions_are_sklearns(name, params, weighted, request):
    x, y = data(name, request)
    w = weights(len(y)) if weighted else None
    ours = getattr(mercer, name)(tol=TIGHT, **params).fit(x, y, sample_weight=w)
    theirs = getattr(svm, name)(tol=TIGHT, **params).fit(x, y, sample_weight=w)
    np.testing.assert_allclose(decisions(ours, x), decisions(theirs, x), rtol=0, atol=NEAR)
    np.testing.assert_array_equal(ours.n_support_, theirs.n_support_)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, rtol=0, atol=NEAR)
    if not weighted:  # scikit-learn's support_ does not index the given rows if some have weight 0
        np.testing.assert_array_equal(ours.support_, theirs.support_)
        np.testing.assert_array_equal(ours.support_vectors_, theirs.support_vectors_)
    assert ours.dual_coef_.shape == theirs.dual_coef_.shape


@pytest.mark.parametrize("shape", ["ovr", "ovo"])
@pytest.mark.parametrize("name, params", MACHINES[:3])
def test_four_classes(name, params, shape, digits):
    x, y = digits
    w = weights(len(y))
    params = {"tol": TIGHT, "decision_function_shape": shape, **params}
    ours = getattr(mercer, name)(**params).fit(x, y, sample_weight=w)
    theirs = getattr(svm, name)(**params).fit(x, y, sample_weight=w)
    np.testing.assert_allclose(decisions(ours, x), decisions(theirs, x), rtol=0, atol=NEAR)
    np.testing.assert_array_equal(ours.predict(x), theirs.predict(x))
    np.testing.assert_allclose(ours.dual_coef_, theirs.dual_coef_, rtol=0, atol=1e-3)


def test_default_tolerance_takes_sklearns_steps(digits):
    x, y = digits
    np.testing.assert_array_equal(mercer.SVC().fit(x, y).n_iter_, svm.SVC().fit(x, y).n_iter_)


KERNELS = [
    {"kernel": "linear"},
    {"kernel": "poly", "coef0": 1},
    {"kernel": "poly", "coef0": -0.1},
    {"kernel": "poly", "degree": 0},
    {"kernel": "sigmoid", "gamma": 0.01},
    {"kernel": "rbf", "gamma": "auto"},
    {"kernel": "rbf", "gamma": 0},
    {"kernel": lambda a, b: a @ b.T},
]


@pytest.mark.parametrize("params", KERNELS)
@pytest.mark.parametrize("sparse", [False, True])
def test_kernels(params, sparse, wdbc):
    x, y = wdbc[0][:200], wdbc[1][:200]
    if sparse:
        if callable(params["kernel"]):
            pytest.skip("a callable gets rows as they are")
        x = sp.csr_matrix(np.where(np.abs(x) > 0.7, x, 0))
    ours = mercer.SVC(tol=TIGHT, **params).fit(x, y)
    theirs = svm.SVC(tol=TIGHT, **params).fit(x, y)
    np.testing.assert_allclose(ours.decision_function(x), theirs.decision_function(x), rtol=0, atol=NEAR)
    if sparse:
        assert sp.issparse(ours.dual_coef_) and sp.issparse(ours.support_vectors_)
    if params["kernel"] == "linear":
        difference = abs(ours.coef_ - theirs.coef_).max()
        assert difference < NEAR


def test_linear_weights_of_pairs(digits):
    x, y = digits
    ours = mercer.SVC(kernel="linear", tol=TIGHT).fit(x, y)
    theirs = svm.SVC(kernel="linear", tol=TIGHT).fit(x, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=0, atol=NEAR)
    assert not ours.coef_.flags.writeable


@pytest.mark.parametrize("name, params", MACHINES)
def test_weight_two_is_the_row_twice(name, params, request):
    x, y = data(name, request)
    x, y = x[:150], y[:150]
    if params.get("class_weight") == "balanced":
        params = {**params, "class_weight": None}  # balanced counts rows, not weights
    w = np.ones(len(y))
    w[10:40], w[50:60] = 2, 0
    rows = np.repeat(np.arange(len(y)), w.astype(int))
    params = {"tol": 1e-11, "gamma": 0.05, **params}
    heavy = getattr(mercer, name)(**params).fit(x, y, sample_weight=w)
    twice = getattr(mercer, name)(**params).fit(x[rows], y[rows])
    np.testing.assert_allclose(decisions(heavy, x), decisions(twice, x), rtol=0, atol=1e-9)
    assert not set(heavy.support_) & set(range(50, 60))


def test_a_class_without_weight(digits):
    x, y = digits
    w = np.where(y == 2, 0.0, 1.0)
    some = mercer.SVC(tol=TIGHT).fit(x[y != 2], y[y != 2])
    for kernel in ("rbf", "precomputed"):
        gamma = 1 / (x.shape[1] * x.var())
        k = np.exp(-gamma * ((x[:, None] - x[None]) ** 2).sum(-1)) if kernel == "precomputed" else x
        m = mercer.SVC(tol=TIGHT, kernel=kernel, probability=True)
        with pytest.warns(FutureWarning):
            m.fit(k, y, sample_weight=w)
        assert 2 not in m.predict(k)
        assert (m.predict(k)[y != 2] == some.predict(x[y != 2])).mean() > 0.99
        assert (m.decision_function(k)[:, 2] == -np.inf).all()
        assert (m.predict_proba(k)[:, 2] == 0).all()
        assert m.n_support_[2] == 0 and not (y[m.support_] == 2).any()


def test_infinite_c(wdbc):
    x, y = wdbc
    hard = mercer.SVC(C=np.inf, kernel="rbf", gamma=0.1, tol=TIGHT).fit(x, y)
    assert np.where(y == 1, 1, -1) @ np.sign(hard.decision_function(x)) == len(y)
    margins = hard.decision_function(x) * np.where(y == 1, 1, -1)
    assert margins.min() == pytest.approx(1, abs=1e-6)


def test_probabilities(wdbc, digits):
    from sklearn.metrics import log_loss

    for x, y in (wdbc, digits):
        with pytest.warns(FutureWarning):
            ours = mercer.SVC(probability=True, random_state=0).fit(x[::2], y[::2])
            theirs = svm.SVC(probability=True, random_state=0).fit(x[::2], y[::2])
        p, q = ours.predict_proba(x[1::2]), theirs.predict_proba(x[1::2])
        np.testing.assert_allclose(p.sum(axis=1), 1, atol=1e-12)
        assert log_loss(y[1::2], p) < 1.1 * log_loss(y[1::2], q) + 0.005
        again = mercer.SVC(probability=True, random_state=0)
        with pytest.warns(FutureWarning):
            again.fit(x[::2], y[::2])
        np.testing.assert_array_equal(p, again.predict_proba(x[1::2]))


RIDGES = [
    {},
    {"kernel": "rbf"},
    {"kernel": "poly", "degree": 2},
    {"kernel": "poly", "degree": 1.5, "coef0": 20},
    {"kernel": "laplacian"},
    {"kernel": "cosine"},
    {"kernel": "sigmoid", "gamma": 0.01},
    {"kernel": "rbf", "alpha": [0.1, 2.0]},
    {"kernel": lambda a, b, power: (a @ b + 1) ** power, "kernel_params": {"power": 2}},
]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("params", RIDGES)
def test_kernel_ridge(params, weighted, diabetes):
    x, y = diabetes[0][:150], diabetes[1][:150]
    w = np.abs(weights(len(y))) if weighted else None
    targets = [np.c_[y, y * x[:, 0]]] + ([] if "alpha" in params else [y])
    for t in targets:
        for convert in (np.asarray, sp.csr_matrix):
            if convert is sp.csr_matrix and callable(params.get("kernel")):
                continue
            ours = mercer.KernelRidge(**params).fit(convert(x), t, sample_weight=w)
            theirs = KernelRidge(**params).fit(convert(x), t, sample_weight=w)
            scale = np.abs(theirs.dual_coef_).max()
            np.testing.assert_allclose(ours.dual_coef_, theirs.dual_coef_, rtol=0, atol=1e-9 * scale)
            np.testing.assert_allclose(ours.predict(convert(x)), theirs.predict(convert(x)), atol=1e-8)


def test_singular_ridge():
    x, y = np.array([[1.0], [2.0], [3.0]]), np.array([2.0, 4.0, 6.0])
    with pytest.warns(UserWarning, match="Singular matrix in solving dual problem"):
        m = mercer.KernelRidge(alpha=0).fit(x, y)
    np.testing.assert_allclose(m.predict(x), y)


COMPONENTS = [
    {},
    {"kernel": "rbf"},
    {"kernel": "poly", "n_components": 3},
    {"kernel": "cosine", "n_components": 3},
    {"kernel": "sigmoid", "gamma": 0.01, "n_components": 3},
    {"n_components": 8, "kernel": "rbf", "fit_inverse_transform": True},
    {"n_components": 70},  # more than the rank
    {"n_components": 70, "remove_zero_eig": True},
]


@pytest.mark.parametrize("params", COMPONENTS)
@pytest.mark.parametrize("rows", [100, 550])  # by LAPACK, and for few components by mercer-fit
def test_kernel_pca(params, rows, digits):
    x = digits[0][:rows]
    ours, theirs = mercer.KernelPCA(**params).fit(x), KernelPCA(**params).fit(x)
    assert ours.eigenvalues_.shape == theirs.eigenvalues_.shape
    np.testing.assert_allclose(ours.eigenvalues_, theirs.eigenvalues_, atol=1e-9 * theirs.eigenvalues_[0])
    s, t = ours.transform(x[:30]), theirs.transform(x[:30])
    clear = theirs.eigenvalues_ > 1e-6 * theirs.eigenvalues_[0]
    np.testing.assert_allclose(np.abs(s[:, clear]), np.abs(t[:, clear]), atol=1e-6)
    np.testing.assert_allclose(ours.fit_transform(x)[:30], s, atol=1e-6)
    if "fit_inverse_transform" in params:
        np.testing.assert_allclose(ours.inverse_transform(s), theirs.inverse_transform(t), atol=1e-8)


def test_kernel_pca_of_sparse_and_given_kernels(digits):
    x = digits[0]
    want = mercer.KernelPCA(3, kernel="linear").fit_transform(x)
    sparse = mercer.KernelPCA(3, kernel="linear").fit(sp.csr_matrix(x)).transform(sp.csr_matrix(x))
    given = mercer.KernelPCA(3, kernel="precomputed").fit(x @ x.T).transform(x @ x.T)
    np.testing.assert_allclose(sparse, want, atol=1e-9)
    np.testing.assert_allclose(given, want, atol=1e-9)


@pytest.mark.parametrize(
    ("classes", "parameters"),
    [(2, {}), (2, {"C": 10}), (2, {"class_weight": "balanced"}), (3, {})],
)
def test_many_rows_take_libsvms_steps(classes, parameters):
    """Above 2,048 rows mercer-fit computes kernel rows on request, in float32, as LIBSVM does."""
    rng = np.random.default_rng(2)
    x = rng.normal(size=(2500, 5))
    y = (x[:, 0] * x[:, 1] + 0.3 * rng.normal(size=2500) > 0) + (x[:, 2] > 0.3) * (classes - 2)
    ours, theirs = mercer.SVC(**parameters).fit(x, y), svm.SVC(**parameters).fit(x, y)
    np.testing.assert_array_equal(ours.n_iter_, theirs.n_iter_)
    np.testing.assert_array_equal(ours.support_, theirs.support_)
    np.testing.assert_allclose(ours.dual_coef_, theirs.dual_coef_, rtol=0, atol=1e-12)


@pytest.mark.parametrize("parameters", [{"kernel": "linear", "C": 0.1}, {"kernel": "poly", "coef0": 1, "degree": 2}, {"C": 100}])
def test_many_steps_end_at_libsvms_objective(parameters):
    """Rounding errors part the steps of long trainings, as they part LIBSVM's with and without shrinking."""
    rng = np.random.default_rng(2)
    x = rng.normal(size=(2500, 5))
    y = x[:, 0] + 0.5 * rng.normal(size=2500) > 0

    def objective(machine):
        m = machine(**parameters, gamma=0.2, tol=1e-6).fit(x, y)
        k = x[m.support_] @ x[m.support_].T
        if m.kernel == "rbf":
            norms = np.diag(k)
            k = np.exp(-0.2 * (norms[:, None] + norms - 2 * k))
        elif m.kernel == "poly":
            k = (0.2 * k + 1) ** 2
        return 0.5 * (m.dual_coef_ @ k @ m.dual_coef_.T).item() - np.abs(m.dual_coef_).sum()

    assert objective(mercer.SVC) == pytest.approx(objective(svm.SVC), rel=1e-9)


def test_wide_indices(wdbc):
    """scikit-learn refuses sparse rows with 64-bit indices."""
    x, y = sp.csr_matrix(wdbc[0]), wdbc[1]
    wide = x.copy()
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    a, b = mercer.SVC().fit(x, y), mercer.SVC().fit(wide, y)
    np.testing.assert_array_equal(a.decision_function(x), b.decision_function(wide))
