"""The estimators behave as scikit-learn's users expect."""

import io
import pickle
import re
import sys
import warnings

import joblib
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import sklearn
from sklearn import svm
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.decomposition import KernelPCA
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score, cross_validate
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import mercer
from mercer import _child, _program

NAMES = ["SVC", "NuSVC", "SVR", "NuSVR", "OneClassSVM", "KernelRidge", "KernelPCA"]


def fitted(name, x, y):
    nu = {"nu": 0.3} if "Nu" in name else {}
    return getattr(mercer, name)(**nu).fit(x, y)


def outputs(model, x):
    return model.transform(x) if hasattr(model, "transform") else model.predict(x)


@pytest.mark.parametrize("name", NAMES)
def test_same_parameters_as_sklearn(name):
    from sklearn.decomposition import KernelPCA
    from sklearn.kernel_ridge import KernelRidge

    theirs = {"KernelRidge": KernelRidge, "KernelPCA": KernelPCA}.get(name) or getattr(svm, name)
    want = theirs().get_params()
    if "probability" in want:
        want["probability"] = "deprecated"  # False before 1.9
    assert getattr(mercer, name)().get_params() == want


@pytest.mark.parametrize("name", NAMES)
def test_pickles_and_copies(name, wdbc):
    x, y = wdbc[0][:100], wdbc[1][:100]
    m = fitted(name, x, y)
    file = io.BytesIO()
    joblib.dump(m, file)
    file.seek(0)
    for copy in (pickle.loads(pickle.dumps(m)), joblib.load(file)):
        np.testing.assert_array_equal(outputs(copy, x), outputs(m, x))
    assert b"Popen" not in pickle.dumps(m)
    with pytest.raises(NotFittedError):
        outputs(clone(m), x)


@pytest.mark.parametrize("name", NAMES)
def test_feature_names(name, wdbc):
    frame = pd.DataFrame(wdbc[0][:100, :3], columns=["a", "b", "c"])
    m = fitted(name, frame, wdbc[1][:100])
    assert list(m.feature_names_in_) == ["a", "b", "c"] and m.n_features_in_ == 3
    with pytest.raises(ValueError, match="feature names"):
        outputs(m, frame[["b", "a", "c"]])


def test_set_output(wdbc):
    frame = pd.DataFrame(wdbc[0][:60], index=range(100, 160))
    out = mercer.KernelPCA(2).set_output(transform="pandas").fit_transform(frame)
    assert list(out.columns) == ["kernelpca0", "kernelpca1"] and list(out.index) == list(range(100, 160))


def test_metadata_routing(wdbc):
    x, y = wdbc
    w = np.where(y == 1, 1e-3, 1.0)
    with sklearn.config_context(enable_metadata_routing=True):
        heavy = mercer.SVC().set_fit_request(sample_weight=True).set_score_request(sample_weight=False)
        a = cross_validate(heavy, x, y, params={"sample_weight": w})
        b = cross_validate(mercer.SVC(), x, y)
    assert a["test_score"].mean() < b["test_score"].mean() - 0.05


def test_calibrated(wdbc):
    x, y = wdbc
    for model in (mercer.SVC(), mercer.NuSVC(nu=0.2)):
        c = CalibratedClassifierCV(model, ensemble=False).fit(x[::2], y[::2])
        assert c.score(x[1::2], y[1::2]) > 0.95
        assert c.predict_proba(x).shape == (len(y), 2)


def test_composes(digits):
    x, y = digits
    assert cross_val_score(make_pipeline(StandardScaler(), mercer.SVC()), x, y).mean() > 0.97
    assert OneVsRestClassifier(mercer.SVC()).fit(x, y).score(x, y) > 0.97
    k = x @ x.T
    g = GridSearchCV(mercer.SVC(kernel="precomputed"), {"C": [0.1, 1]}).fit(k, y)
    h = GridSearchCV(mercer.SVC(kernel="linear"), {"C": [0.1, 1]}).fit(x, y)
    np.testing.assert_allclose(g.cv_results_["mean_test_score"], h.cv_results_["mean_test_score"])


def test_text_labels_and_break_ties(digits):
    x, y = digits
    text = np.array(["zero", "one", "two", "three"])[y]
    m = mercer.SVC().fit(x, text)
    assert list(m.classes_) == ["one", "three", "two", "zero"]
    assert (m.predict(x) == text).mean() > 0.98
    m.set_params(break_ties=True)
    np.testing.assert_array_equal(m.predict(x), m.classes_[m.decision_function(x).argmax(axis=1)])
    m.set_params(decision_function_shape="ovo")
    with pytest.raises(ValueError, match="break_ties must be False"):
        m.predict(x)


@pytest.mark.parametrize("name", ["SVC", "NuSVC", "SVR", "NuSVR", "OneClassSVM"])
def test_max_iter(name, wdbc):
    m = getattr(mercer, name)(max_iter=2, **({"nu": 0.3} if "Nu" in name else {}))
    message = r"Solver terminated early \(max_iter=2\)\.  Consider pre-processing your data"
    with pytest.warns(ConvergenceWarning, match=message) as seen:
        m.fit(*wdbc)
    assert seen[0].filename == __file__
    assert m.fit_status_ == 1 and np.all(m.n_iter_ == 2)
    assert np.isfinite(m.predict(wdbc[0])).all()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert m.set_params(max_iter=-1).fit(*wdbc).fit_status_ == 0


def test_max_iter_of_probabilities(wdbc):
    with pytest.warns(ConvergenceWarning), pytest.warns(FutureWarning):
        m = mercer.SVC(max_iter=5, probability=True).fit(*wdbc)
    assert m.predict_proba(wdbc[0]).shape == (569, 2)


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda x, y: mercer.SVC(C=-1).fit(x, y), "The 'C' parameter of SVC must be a float in the range"),
        (lambda x, y: mercer.SVC(kernel="cubic").fit(x, y), "The 'kernel' parameter of SVC"),
        (lambda x, y: mercer.SVC(max_iter=0).fit(x, y), "The 'max_iter' parameter of SVC"),
        (lambda x, y: mercer.SVC().fit(x, np.ones(len(y))), "The number of classes has to be greater than one"),
        (lambda x, y: mercer.SVC().fit(x, y, sample_weight=-y), "all samples have zero or negative weights"),
        (lambda x, y: mercer.SVC().fit(x, y, sample_weight=y), "with positive weights belong to the same class"),
        (lambda x, y: mercer.NuSVC(nu=0.9).fit(x, y), "nu is 0.9; with 212 of 569 rows in the smaller class"),
        (lambda x, y: mercer.SVC().fit(x, y).predict(sp.csr_matrix(x)), "cannot use sparse input in 'SVC'"),
        (lambda x, y: mercer.SVC(kernel="precomputed").fit(x, y), "Precomputed matrix must be a square matrix"),
        (lambda x, y: mercer.SVC().fit(x, y, sample_weight=[1, 2]), "sample_weight and X have incompatible shapes"),
        (lambda x, y: mercer.SVC().fit(x * 1e300, y), "The dual coefficients or intercepts are not finite"),
        (lambda x, y: mercer.SVC(kernel=lambda a, b: a[:5] @ b[:5].T).fit(x, y), "the kernel returned 5 rows"),
        (lambda x, y: mercer.KernelRidge(alpha=[1, 2]).fit(x, y), "alpha has the shape"),
        (lambda x, y: mercer.KernelRidge().fit(x, y, sample_weight=-y - 1), "at least 0"),
        (lambda x, y: mercer.SVR().fit(x, y).coef_, "coef_ is only available when using a linear kernel"),
    ],
)
def test_errors(make, message, wdbc):
    with pytest.raises((ValueError, AttributeError), match=message), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        make(*wdbc)


@pytest.mark.parametrize("value, threads", [(None, 0), ("1", 1), ("3,2", 3), ("many", 0)])
def test_threads(value, threads, monkeypatch, wdbc):
    seen = []
    send = _child._here.ask
    monkeypatch.setattr(_child._here, "ask", lambda header, arrays: seen.append(header) or send(header, arrays))
    if value is None:
        monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    else:
        monkeypatch.setenv("OMP_NUM_THREADS", value)
    mercer.SVC().fit(*wdbc).predict(wdbc[0])
    mercer.KernelPCA(2, n_jobs=2).fit(wdbc[0])
    mercer.KernelPCA(2, n_jobs=-1).fit(wdbc[0])
    assert [q["threads"] for q in seen] == [threads, threads, 2, 0]


def test_a_relative_program(monkeypatch, tmp_path):
    """The program may be started in another folder."""
    (tmp_path / "mercer-fit").write_text("")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MERCER_BIN", ".")
    assert mercer.find_bin() == str(tmp_path / "mercer-fit")


@pytest.mark.parametrize("n", [60, 600])
def test_components_of_distances_are_refused(n):
    """A matrix of squared distances is no kernel matrix; scikit-learn refuses it, too."""
    x = np.random.default_rng(0).normal(size=(n, 3))
    distances = ((x[:, None] - x) ** 2).sum(-1)
    for machine in (mercer.KernelPCA, KernelPCA):
        with pytest.raises(ValueError, match="significant negative eigenvalues"):
            machine(kernel="precomputed").fit(distances)
    m = mercer.KernelPCA(2, kernel="precomputed").fit(distances)
    np.testing.assert_array_equal(m.eigenvalues_, 0)  # and not rounding errors
    assert mercer.KernelPCA(kernel="precomputed").fit(x @ x.T).eigenvalues_.shape == (3,)


def test_missing_program(monkeypatch, tmp_path):
    monkeypatch.setenv("MERCER_BIN", str(tmp_path))
    with pytest.raises(FileNotFoundError, match="MERCER_BIN is .* but there is no file"):
        mercer.find_bin()


ANSWER = b'{"arrays": [], %s}'


@pytest.mark.parametrize(
    ("script", "has"),
    [
        ("import sys, struct; b = %r; sys.stdout.buffer.write(struct.pack('<I', len(b)) + b)" % (ANSWER % b'"interface": 2'), "has interface 2"),
        ("import sys, struct; b = %r; sys.stdout.buffer.write(struct.pack('<I', len(b)) + b)" % (ANSWER % b'"error": "there is no operation"'), "names no interface"),
        ("print('mercer 0.0.1, usage: ...' * 9)", "names no interface"),
    ],
)
def test_a_program_of_another_version(monkeypatch, tmp_path, script, has):
    path = tmp_path / "mercer-fit"
    path.write_text(f"#!{sys.executable}\n{script}\nsys.stdout.flush() if 'sys' in dir() else None\nimport time; time.sleep(5)\n")
    path.chmod(0o755)
    monkeypatch.setenv("MERCER_BIN", str(path))
    monkeypatch.setattr(_child, "_here", _child._Here())
    with pytest.raises(mercer.MercerError, match=f"{re.escape(str(path))} is of another version than this package: the program {has}, and the package needs 1; .* correct MERCER_BIN"):
        mercer.SVC().fit([[0.0], [1.0]], [0, 1])
    assert mercer.child_pid() is None


@pytest.mark.parametrize(
    ("printed", "has"),
    [('{"ok": true, "result": {"version": "v0.1.0"}}', "names no interface"), ('{"ok": true, "result": {"interface": 7}}', "has interface 7"), ("usage", "names no interface")],
)
def test_a_federation_program_of_another_version(monkeypatch, tmp_path, printed, has):
    path = tmp_path / "mercer"
    path.write_text(f"#!/bin/sh\n[ \"$1\" = version ] || touch {tmp_path}/ran\necho '{printed}'\n")
    path.chmod(0o755)
    monkeypatch.setenv("MERCER_BIN", str(path))
    with pytest.raises(mercer.MercerError, match=f"is of another version than this package: the program {has}"):
        _program.run("job", "list")
    assert not (tmp_path / "ran").exists()


def test_names():
    assert set(mercer.__all__) <= set(dir(mercer))
    with pytest.raises(AttributeError, match="GaussianProcessRegressor"):
        mercer.GaussianProcessRegressor
