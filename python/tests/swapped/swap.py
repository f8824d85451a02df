"""A plugin of pytest that puts Mercer's kernel machines in the place of scikit-learn's."""

import sklearn.svm

import mercer
from mercer import _child

fits = 0
_send = _child._here.ask


def _count(header, arrays):
    global fits
    fits += header["op"] == "fit"
    return _send(header, arrays)


_child._here.ask = _count
for _name in ("SVC", "NuSVC", "SVR", "NuSVR", "OneClassSVM"):
    setattr(sklearn.svm, _name, getattr(mercer, _name))


def pytest_terminal_summary(terminalreporter):
    assert fits > 100
    terminalreporter.write_line(f"classes swapped, fits by mercer-fit: {fits}")
