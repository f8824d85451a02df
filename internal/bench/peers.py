"""Train an SVC by one library, once, and print what it took as one line of JSON.

    python peers.py LIBRARY                  print the library's version
    python peers.py LIBRARY FOLDER           train on the arrays of a folder
    python peers.py LIBRARY FOLDER judge     and compute the objective, and write the predicted labels

A folder has task.json (rows, columns, sparse, C, gamma, predicted) and the arrays y and x, or y, indptr,
indices and data, as bytes in the machine's order.
"""

import json
import os
import resource
import sys
import time
from importlib import metadata
from pathlib import Path

PACKAGES = {"mercer": "mercer", "scikit-learn": "sklearn.svm", "scikit-learn-intelex": "sklearnex.svm"}


def machine():
    """Return the seconds that all programs of this machine have used, and those that passed on its cores."""
    try:
        ticks = [int(word) for word in Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:9]]
    except OSError:
        return None
    unit = os.sysconf("SC_CLK_TCK")
    return (sum(ticks) - ticks[3] - ticks[4]) / unit, sum(ticks) / unit  # but idle and waiting for a disk


def clock():
    """Return wall time, processor time of this process and its ended children, and the machine's."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return time.perf_counter(), sum(u.ru_utime + u.ru_stime for u in used), machine()


def took(before, after):
    """Return what passed between two readings of the clock."""
    spent = {"wall": after[0] - before[0], "cpu": after[1] - before[1], "others": None}
    if before[2] and after[2][1] > before[2][1]:
        busy, passed = after[2][0] - before[2][0], after[2][1] - before[2][1]
        spent["others"] = max(0.0, (busy - spent["cpu"]) / passed)
    return spent


def measured(do):
    """Return what a function returns, and what it took. Mercer's child is ended within the measurement, since the
    processor time of a child counts when it has ended."""
    before = clock()
    result = do()
    end_child()
    return result, took(before, clock())


def end_child():
    """End the child process of Mercer, if this process has one, and wait for it."""
    child = sys.modules.get("mercer._child")
    if child is not None and child._here.child is not None:
        running, child._here.child = child._here.child, None
        running.finalizer()


def imported(library):
    """Import a library and return its class SVC."""
    return getattr(__import__(PACKAGES[library], fromlist=["SVC"]), "SVC")


def loaded(folder, task):
    """Read the rows and the labels."""
    import numpy as np

    y = np.fromfile(folder / "y", dtype=np.int64)
    if not task["sparse"]:
        return np.fromfile(folder / "x").reshape(task["rows"], task["columns"]), y
    import scipy.sparse as sp

    parts = [np.fromfile(folder / "data"), *(np.fromfile(folder / name, dtype=np.int32) for name in ("indices", "indptr"))]
    return sp.csr_matrix(tuple(parts), shape=(task["rows"], task["columns"])), y


def objective(machine, x, gamma, block=2000):
    """Return the dual objective of the machines of all pairs of classes: coef K coef / 2 - |coef|, summed up."""
    import numpy as np

    def dense(a):
        return np.asarray(a.toarray() if hasattr(a, "toarray") else a)

    rows, coef = dense(x[machine.support_]), dense(machine.dual_coef_)
    norms = np.einsum("ij,ij->i", rows, rows)
    ends = np.cumsum(machine.n_support_)
    places = [slice(end - size, end) for end, size in zip(ends, machine.n_support_)]
    pairs = np.zeros((len(places) * (len(places) - 1) // 2, len(rows)))
    of = [(i, j) for i in range(len(places)) for j in range(i + 1, len(places))]
    for pair, (i, j) in zip(pairs, of):
        pair[places[i]], pair[places[j]] = coef[j - 1, places[i]], coef[i, places[j]]
    total = -np.abs(pairs).sum()
    for lo in range(0, len(rows), block):
        some = slice(lo, lo + block)
        k = np.exp(-gamma * np.maximum(norms[some, None] + norms - 2 * rows[some] @ rows.T, 0))
        total += 0.5 * np.einsum("pi,ij,pj->", pairs[:, some], k, pairs, optimize=True)
    return float(total)


def turn(library, folder, judge):
    """Train once and predict, and return what it took."""
    task = json.loads((folder / "task.json").read_text())
    svc, importing = measured(lambda: imported(library))
    (x, y), loading = measured(lambda: loaded(folder, task))

    def machine():
        return svc(kernel="rbf", C=task["C"], gamma=task["gamma"])

    machine().fit(x[-200:], y[-200:])  # threads, instructions and pages of the library are ready
    end_child()
    fitted, fit = measured(lambda: machine().fit(x, y))
    asked = x[: task["predicted"]]
    labels, predict = measured(lambda: fitted.predict(asked))
    report = {"import": importing, "load": loading, "fit": fit, "predict": predict, "support": int(len(fitted.support_))}
    if library == "scikit-learn-intelex" and not hasattr(fitted, "_onedal_estimator"):
        raise SystemExit("scikit-learn-intelex left this fit to scikit-learn")
    if judge:
        report["objective"] = objective(fitted, x, task["gamma"])
        labels.astype("<i8").tofile(folder / (library + ".labels"))
    return report


def main(library, folder=None, judge=None):
    if folder is None:
        imported(library)
        print(json.dumps({"python": sys.version.split()[0], "version": metadata.version(library)}))
        return
    print(json.dumps(turn(library, Path(folder), judge is not None)))


if __name__ == "__main__":
    main(*sys.argv[1:])
