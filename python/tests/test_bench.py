"""The script of mercer bench peers, on few rows."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn import svm

import mercer

SCRIPT = Path(__file__).parents[2] / "internal" / "bench" / "peers.py"


@pytest.fixture(params=["dense", "sparse"])
def task(request, digits, tmp_path):
    """A folder with the arrays of four classes."""
    x, y = digits
    sparse = request.param == "sparse"
    if sparse:
        c = sp.csr_matrix(x)
        for name, a in (("indptr", c.indptr), ("indices", c.indices)):
            a.astype(np.int32).tofile(tmp_path / name)
        c.data.tofile(tmp_path / "data")
    else:
        x.tofile(tmp_path / "x")
    y.astype(np.int64).tofile(tmp_path / "y")
    (tmp_path / "task.json").write_text(
        json.dumps({"rows": len(y), "columns": x.shape[1], "sparse": sparse, "C": 1, "gamma": 0.05, "predicted": 100})
    )
    return tmp_path


def turn(*arguments):
    run = subprocess.run([sys.executable, "-", *map(str, arguments)], input=SCRIPT.read_text(), capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


def test_both_libraries_report_one_machine(task, digits):
    ours, theirs = (turn(name, task, "judge") for name in ("mercer", "scikit-learn"))
    assert ours["objective"] == pytest.approx(theirs["objective"], rel=1e-5)
    assert ours["support"] == pytest.approx(theirs["support"], rel=0.02)
    labels = [np.fromfile(task / f"{name}.labels", dtype=np.int64) for name in ("mercer", "scikit-learn")]
    want = svm.SVC(gamma=0.05).fit(*digits).predict(digits[0][:100])
    for got in labels:
        np.testing.assert_array_equal(got, want)
    for report in (ours, theirs):
        assert report["fit"]["cpu"] > 0 and report["fit"]["wall"] > 0
        assert report["fit"]["others"] is None or 0 <= report["fit"]["others"] <= 1
    assert "objective" not in turn("mercer", task)


def test_the_childs_processor_time_counts():
    """It counts when the child has ended, which the script therefore waits for."""
    script = {"__name__": "peers"}
    exec(SCRIPT.read_text(), script)  # noqa: S102
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(3000, 50)), rng.integers(0, 2, 3000)
    mercer.SVC().fit(x[:50], y[:50])
    script["end_child"]()
    _, with_child = script["measured"](lambda: mercer.SVC(C=10).fit(x, y))
    assert mercer.child_pid() is None
    before = script["clock"]()
    mercer.SVC(C=10).fit(x, y)
    without = script["took"](before, script["clock"]())
    assert with_child["cpu"] > 3 * without["cpu"]


def test_versions():
    assert turn("mercer")["version"] == mercer.__version__
    missing = subprocess.run([sys.executable, "-", "scikit-learn-intelex"], input=SCRIPT.read_text().replace("sklearnex.svm", "no_such_module"), capture_output=True, text=True)
    assert missing.returncode != 0 and "no_such_module" in missing.stderr
