"""scikit-learn's own checks fail at most where they fail for scikit-learn's class of the same name."""

import warnings

import pytest
from sklearn import svm
from sklearn.decomposition import KernelPCA
from sklearn.kernel_ridge import KernelRidge
from sklearn.utils.estimator_checks import check_estimator

import mercer

THEIRS = {
    **{name: getattr(svm, name) for name in ("SVC", "NuSVC", "SVR", "NuSVR", "OneClassSVM")},
    "KernelRidge": KernelRidge,
    "KernelPCA": KernelPCA,
}


def failures(estimator):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results = check_estimator(estimator, on_fail=None, on_skip=None)
    assert len(results) > 30
    return {r["check_name"]: r["exception"] for r in results if r["status"] == "failed"}


@pytest.mark.parametrize("name", THEIRS)
def test_check_estimator(name):
    ours, theirs = failures(getattr(mercer, name)()), failures(THEIRS[name]())
    print(f"{name}: ours fails {sorted(ours)}; scikit-learn's {sorted(theirs)}")
    extra = {check: e for check, e in ours.items() if check not in theirs}
    assert not extra
