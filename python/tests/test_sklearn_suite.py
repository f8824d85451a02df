"""scikit-learn's tests of its kernel machines, with Mercer's classes in their place."""

import inspect
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as xml
from pathlib import Path

from sklearn.svm.tests import test_svm

# Items that fail, with the cause.
EXCEPTIONS = {
    "test_svr_errors": "a callable that returns 1 x 1 values for 2 rows: ours refuses it in fit, where"
    " scikit-learn's trains on one row and fails in predict",
    "test_negative_sample_weights_mask_all_samples": "before 1.9 the test wants other words of NuSVC than of"
    " the other machines; ours says what 1.9 does",
}

MACHINE = re.compile(r"\b(SVC|NuSVC|SVR|NuSVR|OneClassSVM)\b")
PRIVATE = re.compile(r"\._[a-z]\w*")  # of an estimator; and functions of LIBSVM's bindings
BINDINGS = re.compile(r"\b(_libsvm|libsvm)\.")

HERE = Path(__file__).parent


def counted(function):
    """Return whether a test uses a kernel machine and nothing private."""
    source = inspect.getsource(function)
    return bool(MACHINE.search(source)) and not PRIVATE.search(source) and not BINDINGS.search(source)


def results(tmp_path):
    """Run the tests and return for each item whether it passed."""
    report = tmp_path / "report.xml"
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "swap", "-p", "no:cacheprovider"]
        + ["--pyargs", "sklearn.svm.tests.test_svm", f"--junitxml={report}"],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(HERE / "swapped"), os.environ.get("PYTHONPATH", "")])},
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert "classes swapped, fits by mercer-fit:" in run.stdout, run.stdout + run.stderr
    items = {}
    for case in xml.parse(report).iter("testcase"):
        if case.find("skipped") is None:
            items[case.get("name")] = case.find("failure") is None and case.find("error") is None
    return items


def test_sklearns_tests_of_svm(tmp_path):
    items = {
        name: passed
        for name, passed in results(tmp_path).items()
        if counted(getattr(test_svm, name.split("[")[0]))
    }
    failed = sorted(name for name, passed in items.items() if not passed)
    print(f"of {len(items)} items with a kernel machine and nothing private, {len(failed)} fail: {failed}")
    assert len(items) >= 60
    assert len(failed) <= 0.05 * len(items)
    assert {name.split("[")[0] for name in failed} <= set(EXCEPTIONS)
