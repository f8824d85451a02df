"""Nothing of a simulation stays behind, however it ends; and nobody else can read it meanwhile."""

import os
import signal
import stat
import subprocess
import sys
import threading
import time

import pytest
from conftest import ends, running

from mercer import _progress
from mercer._private import PrivateFolder
from test_simulate import _installed

posix = pytest.mark.skipif(os.name != "posix", reason="signals and modes are POSIX's")
whole = pytest.mark.skipif(not _installed(), reason="the program mercer is not installed")

# A script whose simulation takes minutes. It prints each line of the program's log.
SLOW = """
import numpy as np, pandas as pd, mercer
rng = np.random.default_rng(0)
frame = pd.DataFrame(rng.normal(size=(6000, 8)), columns=list("abcdefgh")).assign(y=rng.choice(["ill", "well"], 6000), s=["n", "o", "p"] * 2000)
job = mercer.Job({"name": "svc", "C": 1e6, "probability": True}, label="y")
mercer.simulate(frame, job, site="s", progress=lambda line: print(line, flush=True))
"""


def start(tmp_path, code=SLOW):
    """Start a script whose temporary files lie in a folder, under a mask that hides nothing."""
    return subprocess.Popen(
        [sys.executable, "-c", "import os; os.umask(0)\n" + code],
        env={**os.environ, "TMPDIR": str(tmp_path)}, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )


def processes(word):
    """Return the processes of this machine with a word in their arguments."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline") as arguments:
                if word in arguments.read():
                    found.append(int(pid))
        except OSError:
            continue
    return found


def empties(folder, within=15.0):
    """Return whether a folder becomes empty within some seconds."""
    until = time.monotonic() + within
    while list(folder.iterdir()):
        if time.monotonic() > until:
            return False
        time.sleep(0.05)
    return True


@posix
@whole
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_a_killed_process_leaves_no_file_and_no_process(tmp_path, how):
    p = start(tmp_path)
    assert "level=INFO" in p.stdout.readline()
    modes = {stat.S_IMODE(f.stat().st_mode) for f in tmp_path.iterdir()}
    others = processes(str(tmp_path)) if os.path.exists("/proc") else []
    p.send_signal(how)
    p.communicate(timeout=60)
    assert modes == {0o700} and p.returncode != 0
    assert empties(tmp_path)
    assert len(others) == 2 or not os.path.exists("/proc")  # the keeper, and mercer
    assert all(ends(pid) for pid in others)


@posix
@whole
def test_a_killed_program_leaves_no_file(tmp_path):
    p = start(tmp_path, SLOW.replace("mercer.simulate(", "try:\n    mercer.simulate(") + "except mercer.MercerError as e:\n    print('error:', e)\n")
    p.stdout.readline()
    (program,) = [pid for pid in processes(str(tmp_path)) if "rmtree" not in open(f"/proc/{pid}/cmdline").read()]
    os.kill(program, signal.SIGKILL)
    out, _ = p.communicate(timeout=60)
    assert "error: mercer ended with code -9" in out and p.returncode == 0
    assert empties(tmp_path, within=0)


@whole
def test_an_error_leaves_no_file(tmp_path):
    p = start(tmp_path, SLOW.replace('"svc"', '"svx"'))
    _, err = p.communicate(timeout=60)
    assert 'unknown learner "svx"' in err and empties(tmp_path, within=0)


def test_a_keeper_that_is_killed(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with PrivateFolder() as room:
        (room.path / "rows").write_text("secret")
        program = room.start([sys.executable, "-c", "print('done')"], None)
        assert list(program.lines()) == [] and program.wait() == 0 and program.document() == b"done\n"
        room._keeper.kill()
        room._keeper.wait()
        assert (room.path / "rows").exists()
    assert not list(tmp_path.iterdir())


def test_a_program_of_a_keeper_says_its_lines_and_its_code():
    code = "import os, sys; print('one', file=sys.stderr); print('two', file=sys.stderr); print(os.environ['TMPDIR']); sys.exit(3)"
    with PrivateFolder() as room:
        for _ in range(2):
            program = room.start([sys.executable, "-c", code], room.path)
            assert [line.rstrip() for line in program.lines()] == ["one", "two"]
            assert program.wait() == 3 and program.document().decode().strip() == str(room.path)
        keeper = room._keeper.pid
    assert not running(keeper) and not room.path.exists()


class Stream:
    def __init__(self, terminal):
        self.terminal, self.said = terminal, ""

    def isatty(self):
        return self.terminal

    def write(self, text):
        self.said += text

    def flush(self):
        pass


JOB = {"state": "running", "stage": "protocol", "part": {"name": "gram", "done": 6, "total": 12}}


def watched(monkeypatch, stream, look):
    monkeypatch.setattr(_progress, "_EVERY", 0.01)
    monkeypatch.setattr(sys, "stderr", stream)
    with _progress.shown(look):
        time.sleep(0.2)
    return stream.said


def test_a_terminal_shows_the_part_of_a_stage(monkeypatch):
    said = watched(monkeypatch, Stream(True), lambda: JOB)
    assert "\rprotocol: gram [############............] 6 of 12, 0 s\x1b[K" in said
    assert said.endswith("\r\x1b[K") and "\n" not in said


def test_a_pipe_shows_nothing_and_asks_nothing(monkeypatch):
    asked = []
    assert watched(monkeypatch, Stream(False), lambda: asked.append(1) or JOB) == "" and not asked


def test_a_look_that_fails_does_not_end_the_waiting(monkeypatch):
    def look():
        raise OSError("away")

    before = threading.active_count()
    assert watched(monkeypatch, Stream(True), look) == "\r\x1b[K" and threading.active_count() == before


def test_words_of_progress():
    assert _progress.text({"state": "queued"}, 3) == "queued, 3 s"
    waiting = {"state": "running", "stage": "accept", "waiting": {"parties": ["east", "west"]}}
    assert _progress.text(waiting, 60) == "accept, waits for east, west, 60 s"
    assert _progress.text({"state": "running", "stage": "gram", "part": {"name": "gram", "done": 9, "total": 4}}, 1).startswith("gram: [########################] 9 of 4")


def test_a_notebook_updates_one_output(monkeypatch):
    IPython = pytest.importorskip("IPython")
    shown = []

    class ZMQInteractiveShell:
        pass

    class Handle:
        def update(self, said):
            shown.append(said.data)

    monkeypatch.setattr(IPython, "get_ipython", ZMQInteractiveShell)
    monkeypatch.setattr("IPython.display.display", lambda said, display_id: shown.append(said.data) or Handle())
    assert watched(monkeypatch, Stream(False), lambda: JOB) == ""
    assert shown[0] == "waiting" and any("6 of 12" in said for said in shown) and shown[-1] == ""
