"""One child a process, which always ends: each by its process id."""

import os
import pickle
import signal
import threading
import time

import numpy as np
import pytest
from conftest import ends, running, script
from joblib import Parallel, delayed
from joblib.externals.loky import get_reusable_executor
from sklearn.model_selection import GridSearchCV

import mercer

posix = pytest.mark.skipif(os.name != "posix", reason="signals and fork are POSIX's")

# A script that has a child, and says which. Its fit(len(y), 1e9) takes minutes. It does not import
# scikit-learn, which takes most of the time of a short script.
SLOW = """
import numpy as np, mercer, threading, time
from mercer._child import ask
rng = np.random.default_rng(0)
x, y = rng.normal(size=(4000, 5)), rng.integers(0, 2, 4000)

def fit(rows=50, c=1.0):
    request = {"op": "fit", "learner": "svc", "kernel": {"name": "rbf", "gamma": 0.2}, "C": c, "classes": 2}
    return ask(request, {"X": x[:rows], "y": y[:rows]})[1]["coef"]

fit()
print(mercer.child_pid(), flush=True)
"""
FIT = "fit(len(y), 1e9)\n"


def begin(pid):
    """Wait until a process has used a further third of a second of CPU."""

    def used():
        fields = open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    start, until = used(), time.monotonic() + 60
    while used() < start + 0.3:
        assert time.monotonic() < until
        time.sleep(0.01)


def test_one_child_for_all_calls(wdbc):
    mercer.SVC().fit(*wdbc)
    pid = mercer.child_pid()
    assert running(pid)
    mercer.SVR().fit(*wdbc).predict(wdbc[0])
    pickle.loads(pickle.dumps(mercer.SVC().fit(*wdbc))).predict(wdbc[0])
    assert mercer.child_pid() == pid


def test_import_starts_nothing():
    p = script("import mercer; print(mercer.child_pid())")
    assert p.communicate(timeout=60)[0] == "None\n"


@pytest.mark.parametrize("end", ["", "import os; os._exit(0)", "raise SystemExit(3)", "1 / 0"])
def test_child_ends_with_its_process(end):
    p = script(SLOW + end, stderr=-3)
    pid = int(p.stdout.readline())
    p.communicate(timeout=60)
    assert ends(pid)


@posix
def test_child_ends_when_its_process_is_killed_in_a_fit():
    p = script(SLOW + FIT)
    pid = int(p.stdout.readline())
    begin(pid)
    p.kill()
    p.communicate()
    assert ends(pid)


@posix
def test_killed_between_calls(wdbc):
    m = mercer.SVC().fit(*wdbc)
    want = m.predict(wdbc[0])
    pid = mercer.child_pid()
    os.kill(pid, signal.SIGKILL)
    assert ends(pid)
    np.testing.assert_array_equal(m.predict(wdbc[0]), want)
    assert mercer.child_pid() != pid and running(mercer.child_pid())


@posix
def test_killed_in_a_fit(wdbc, slow):
    mercer.SVC().fit(*wdbc)
    pid = mercer.child_pid()

    def kill():
        begin(pid)
        os.kill(pid, signal.SIGKILL)

    killer = threading.Thread(target=kill)
    killer.start()
    with pytest.raises(mercer.MercerError, match=f"process {pid}. was killed before it answered"):
        mercer.SVC(C=1e9).fit(*slow)
    killer.join()
    assert ends(pid) and mercer.child_pid() is None
    assert mercer.SVC().fit(*wdbc).score(*wdbc) > 0.97
    assert mercer.child_pid() != pid


@posix
def test_keyboard_interrupt():
    """Ctrl-C ends a fit within a second, and its child; the next fit has another."""
    p = script(
        SLOW
        + "from mercer import SVC\ntry:\n    SVC(C=1e9).fit(x, y)\nexcept KeyboardInterrupt:\n"
        + "    print('interrupted', mercer.child_pid(), flush=True)\n"
        + "fit()\nprint(mercer.child_pid(), flush=True)\ninput()"
    )
    pid = int(p.stdout.readline())
    begin(pid)
    sent = time.monotonic()
    p.send_signal(signal.SIGINT)
    assert p.stdout.readline() == "interrupted None\n"
    assert time.monotonic() - sent < 1
    assert ends(pid, within=1)
    other = int(p.stdout.readline())
    assert other != pid and running(other)
    p.communicate("\n", timeout=60)
    assert p.returncode == 0 and ends(other)


@posix
def test_keyboard_interrupt_spares_an_idle_child():
    """A terminal sends Ctrl-C to all processes of the foreground: not to the child."""
    p = script(
        SLOW
        + "try:\n    time.sleep(60)\nexcept KeyboardInterrupt:\n    pass\n"
        + "fit()\nprint(mercer.child_pid(), flush=True)",
        start_new_session=True,
    )
    pid = int(p.stdout.readline())
    time.sleep(0.2)
    os.killpg(p.pid, signal.SIGINT)
    assert int(p.stdout.readline()) == pid
    p.communicate(timeout=60)
    assert ends(pid)


FORK = """
import os, sys, time
want = fit(200)
pid = os.fork()
if pid == 0:
    assert mercer.child_pid() is None
    assert (fit(200) == want).all()
    print("forked", mercer.child_pid(), flush=True)
    sys.exit()          # runs the exit functions, as a library's fork may
assert os.waitpid(pid, 0)[1] == 0
assert (fit(200) == want).all()
print("parent", mercer.child_pid(), flush=True)
"""


@posix
def test_fork():
    p = script(SLOW + FORK)
    out, _ = p.communicate(timeout=60)
    assert p.returncode == 0
    first, forked, parent = out.split("\n")[:3]
    assert parent == f"parent {first}" and forked != f"forked {first}"
    assert ends(int(first)) and ends(int(forked.split()[1]))


@posix
def test_fork_while_another_thread_fits():
    p = script(
        SLOW
        + "t = threading.Thread(target=fit, args=(len(y), 1e9), daemon=True)\nt.start()\n"
        + "time.sleep(0.5)\nimport os\npid = os.fork()\nif pid == 0:\n"
        + "    fit()\n    print(mercer.child_pid(), flush=True)\n    os._exit(0)\n"
        + "print(os.waitpid(pid, 0)[1], flush=True)\nos._exit(0)"
    )
    out, _ = p.communicate(timeout=60)
    busy, forked, status = map(int, out.split())
    assert status == 0 and forked != busy
    assert ends(busy) and ends(forked)


@posix
def test_a_forked_process_does_not_keep_its_parents_child():
    """The child's stdin ends with its process, though a forked one still lives."""
    p = script(SLOW + "import os\nif os.fork() == 0:\n    time.sleep(5)\n    os._exit(0)\nos._exit(0)")
    pid = int(p.stdout.readline())
    p.wait(timeout=60)
    assert ends(pid, within=2)
    p.communicate(timeout=60)


def fit_in_worker(c, x, y):
    m = mercer.SVC(C=c).fit(x, y)
    return os.getpid(), mercer.child_pid(), m.score(x, y)


def test_joblib(wdbc):
    own = mercer.SVC().fit(*wdbc) and mercer.child_pid()
    got = Parallel(n_jobs=2)(delayed(fit_in_worker)(c, *wdbc) for c in (0.1, 1, 10, 100))
    workers, children = {g[0] for g in got}, {g[1] for g in got}
    assert own not in children and len(children) == len(workers)
    assert [g[2] for g in got] == [mercer.SVC(C=c).fit(*wdbc).score(*wdbc) for c in (0.1, 1, 10, 100)]
    get_reusable_executor().shutdown(wait=True)
    assert all(ends(pid) for pid in workers | children)
    assert mercer.child_pid() == own and running(own)


def test_grid_search_in_two_processes(wdbc):
    grid = {"C": [0.1, 1, 10], "gamma": [0.01, 0.1]}
    one = GridSearchCV(mercer.SVC(), grid, cv=4).fit(*wdbc)
    two = GridSearchCV(mercer.SVC(), grid, cv=4, n_jobs=2).fit(*wdbc)
    np.testing.assert_array_equal(one.cv_results_["mean_test_score"], two.cv_results_["mean_test_score"])
    get_reusable_executor().shutdown(wait=True)


def test_threads_share_one_child(wdbc):
    x, y = wdbc
    want = {c: mercer.SVC(C=c).fit(x, y).decision_function(x) for c in (0.1, 1, 10, 100)}
    pid, wrong = mercer.child_pid(), []

    def fit(c):
        for _ in range(5):
            if not np.array_equal(mercer.SVC(C=c).fit(x, y).decision_function(x), want[c]):
                wrong.append(c)

    threads = [threading.Thread(target=fit, args=(c,)) for c in want]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong and mercer.child_pid() == pid


@posix
def test_multiprocessing_by_fork(wdbc):
    import multiprocessing

    mercer.SVC().fit(*wdbc)
    with multiprocessing.get_context("fork").Pool(2) as pool:
        got = pool.starmap(fit_in_worker, [(c, *wdbc) for c in (0.1, 1, 10, 100)])
        pool.close()
        pool.join()
    assert mercer.child_pid() not in {g[1] for g in got}
    assert all(ends(pid) for g in got for pid in g[:2])


def test_an_error_in_a_request_leaves_no_half_frame(wdbc):
    from mercer import _child

    mercer.SVC().fit(*wdbc)
    pid = mercer.child_pid()
    with pytest.raises(mercer.FitError, match='there is no operation "guess"'):
        _child.ask({"op": "guess"}, {})
    assert mercer.child_pid() == pid
    with pytest.raises(ValueError, match="not JSON compliant"):
        _child.ask({"op": "fit", "tol": float("nan")}, {})
    assert ends(pid)
    assert mercer.SVC().fit(*wdbc).score(*wdbc) > 0.97
