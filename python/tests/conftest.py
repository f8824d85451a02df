"""What the tests share: real data, and whether a process still runs."""

import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from sklearn import datasets
from sklearn.preprocessing import StandardScaler

import mercer


@pytest.fixture(scope="session")
def wdbc():
    """Breast cancer, two classes: 569 rows of 30 standardised features."""
    x, y = datasets.load_breast_cancer(return_X_y=True)
    return StandardScaler().fit_transform(x), y


@pytest.fixture(scope="session")
def digits():
    """The digits 0 to 3, four classes: 720 rows of 64 pixels."""
    x, y = datasets.load_digits(n_class=4, return_X_y=True)
    return x / 16, y


@pytest.fixture(scope="session")
def diabetes():
    """A regression: 442 rows of 10 standardised features, and standardised targets."""
    x, y = datasets.load_diabetes(return_X_y=True)
    return StandardScaler().fit_transform(x), (y - y.mean()) / y.std()


@pytest.fixture(scope="session")
def slow():
    """Rows and labels on which a fit with C = 1e9 takes minutes: the labels are random."""
    rng = np.random.default_rng(0)
    return rng.normal(size=(4000, 5)), rng.integers(0, 2, 4000)


def running(pid):
    """Return whether a process runs. A zombie without threads, which nobody has waited for, does not."""
    here = Path(f"/proc/{pid}")
    if Path("/proc/self/stat").exists():
        try:
            state = (here / "stat").read_text().rsplit(")", 1)[1].split()[0]
            return state not in "ZX" or len(list((here / "task").iterdir())) > 1
        except (FileNotFoundError, ProcessLookupError):
            return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def ends(pid, within=3.0):
    """Return whether a process ends within some seconds."""
    until = time.monotonic() + within
    while running(pid):
        if time.monotonic() > until:
            return False
        time.sleep(0.01)
    return True


def script(code, **popen):
    """Start Python with the code of a test."""
    return subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stdin=subprocess.PIPE, text=True, **popen
    )


@pytest.fixture(autouse=True)
def _no_warning_of_the_child_is_lost(capfd):
    """mercer-fit writes to stderr only when it fails."""
    yield
    assert "mercer-fit:" not in capfd.readouterr().err


def pytest_report_header(config):
    return f"mercer {mercer.__version__} from {mercer.__file__}, {mercer.find_bin()}"
