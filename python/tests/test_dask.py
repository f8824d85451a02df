"""A grid's cells on Dask give the bits of one process, also if a worker is killed."""

import json
import os
import signal
import subprocess
import threading
import time
from pathlib import Path

import pytest

import mercer
from conftest import ends
from test_simulate import _installed

pytest.importorskip("distributed", reason="distributed is not installed")
pytest.importorskip("cryptography", reason="cryptography is not installed, which the cluster's TLS needs")
pytestmark = pytest.mark.skipif(not _installed(), reason="the program mercer is not installed")

import mercer.dask as runner  # noqa: E402

JOB = """apiVersion: mercer/v1
kind: Job
metadata: {{name: cells}}
spec:
  data: {{source: bundled:digits, label: label, partition: {{by: rows, parties: [north, south]}}, folds: 2, test: none}}
  protocol: {{name: okra}}
  kernel: {{name: rbf, gamma: [0.0005, 0.001]}}
  learner: {{name: svc, C: [{values}]}}
  compare: []
"""


class Grid:
    """A simulation of a grid, whose cells other processes may compute."""

    def __init__(self, folder, settings, *flags):
        self.cells = folder / "cells"
        self.cells.mkdir(mode=0o700)
        values = ", ".join(str((i + 1) / 16) for i in range(settings))
        (folder / "job.yaml").write_text(JOB.format(values=values))
        command = [mercer.find_bin("mercer"), "simulate", "job.yaml", "--insecure-seed", "5", "--json", *flags]
        self.program = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)

    def result(self):
        """Wait for the end, and return what must not depend on who computes."""
        out, _ = self.program.communicate(timeout=600)
        r = json.loads(out)["result"]
        return r["grid"], r["model_sha256"], r.get("grid_outside")


def offered(folder, settings):
    grid = Grid(folder, settings, "--cells", "cells", "--cells-wait", "5m")
    until(lambda: (grid.cells / "inputs").exists())
    return grid


def until(ready, seconds=120):
    end = time.monotonic() + seconds
    while not ready():
        assert time.monotonic() < end
        time.sleep(0.05)


@pytest.fixture(scope="module")
def one(tmp_path_factory):
    """Return the result of one process."""
    return Grid(tmp_path_factory.mktemp("one"), 2).result()[:2]


@pytest.mark.parametrize("workers", [1, 2])
def test_equal_to_one_process(tmp_path, one, workers):
    grid = offered(tmp_path, 2)
    client, cluster = runner._client(None, workers)
    with cluster, client:
        assert cluster.scheduler_address.startswith("tls://127.0.0.1:")
        assert runner.compute(grid.cells, client) == 4
    assert grid.result() == (*one, {"offered": 4, "taken": 4})


def test_killed_worker(tmp_path):
    """The cell of a killed worker is computed again, by one child at a time, and its first child ends."""
    grid = offered(tmp_path, 12)
    client, cluster = runner._client(None, 1)
    with cluster, client:
        task = threading.Thread(target=runner.compute, args=(grid.cells, client))
        task.start()
        until(lambda: children(grid.cells))
        first = children(grid.cells)
        (worker,) = [w["pid"] if isinstance(w, dict) else w for w in client.run(os.getpid).values()]
        os.kill(worker, signal.SIGKILL)
        assert all(ends(pid) for pid in first)
        task.join(timeout=300)
        assert not task.is_alive()
    assert grid.result()[2] == {"offered": 4, "taken": 4}
    assert not children(grid.cells)


def children(cells):
    """Return the ids of the processes that compute cells of a folder."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            arguments = (process / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if b"cell" in arguments and os.fsencode(cells) in arguments and b"--list" not in arguments:
            found.append(int(process.name))
    return found


def test_failed_cell(tmp_path):
    """A cell that fails three times ends with the program's sentence."""
    folder = tmp_path / "open"
    folder.mkdir()
    folder.chmod(0o777)
    with pytest.raises(mercer.MercerError, match="chmod go-w"):
        runner.compute(folder, client=None)
    with pytest.raises(mercer.MercerError, match="code 2: .*chmod go-w"):
        runner._cells(os.fspath(folder), ["0" * 64], 1)


@pytest.mark.parametrize("address", ["tcp://10.0.0.5:8786", "10.0.0.5:8786", "tcp://scheduler:8786", "ucx://127.0.0.1:8786", "tcp://[2001:db8::1]:8786"])
def test_schedulers_without_tls_are_refused(address, capfd):
    with pytest.raises(SystemExit) as ended:
        runner.main(["folder", "--scheduler", address])
    assert ended.value.code == 2 and "has no TLS" in capfd.readouterr().err


@pytest.mark.parametrize("address", ["tls://scheduler:8786", "tcp://127.0.0.1:8786", "localhost:8786", "tcp://[::1]:8786"])
def test_schedulers_with_tls_or_on_loopback(address):
    runner.check_address(address)
