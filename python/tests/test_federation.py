"""A deployed federation on loopback, driven from Python. It needs the whole program mercer."""

import os
import signal
import socket
import subprocess
import time

import numpy as np
import pandas as pd
import pytest

import mercer
from test_simulate import _installed

pytestmark = pytest.mark.skipif(not _installed(), reason="the program mercer is not installed")
PARTIES = ["north", "south", "east"]


def _mercer(*arguments):
    return subprocess.run([mercer.find_bin("mercer"), *map(str, arguments)], check=True, capture_output=True, text=True).stdout


def _port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """Start a coordinator and three parties, and end them after the tests."""
    folder, address = tmp_path_factory.mktemp("federation"), f"127.0.0.1:{_port()}"
    _mercer("federation", "init", "--home", folder / "c", "--name", "c", "--role", "coordinator", "--listen", address)
    rng = np.random.default_rng(0)
    for name in PARTIES:
        _mercer("federation", "init", "--home", folder / name, "--name", name, "--coordinator", f"nats://{address}")
        x = rng.normal(size=(200, 3))
        frame = pd.DataFrame(x.round(3), columns=["a", "b", "d"]).assign(y=np.where(x.sum(axis=1) + rng.normal(size=200) / 4 > 0, "ill", "well"))
        frame.to_csv(folder / name / "patients.csv", index_label="id")
        with open(folder / name / "config.yaml", "a", encoding="utf-8") as config:
            config.write(
                "data:\n  patients:\n    path: patients.csv\n    label: y\n    id: id\n    columns: [a, b, d]\n"
                "    policy:\n      protocols: [okra]\n      min_parties: 3\n"
            )
    members = ["c", *PARTIES]
    _mercer("federation", "roster", "tests", *(folder / m / "member.yaml" for m in members), "--out", folder / "roster.yaml")
    for m in members:
        _mercer("federation", "join", "--home", folder / m, folder / "roster.yaml", "--yes")
    daemons = []
    try:
        for m in members:
            with open(folder / f"{m}.log", "w") as log:
                role = "coordinator" if m == "c" else "party"
                daemons.append(subprocess.Popen([mercer.find_bin("mercer"), role, "--home", folder / m], stderr=log, stdout=log))
        for m in members:
            _until(lambda m=m: "msg=ready" in (folder / f"{m}.log").read_text())
        yield folder / "c"
    finally:
        for d in daemons:
            d.send_signal(signal.SIGTERM)
        for d in daemons:
            d.wait(timeout=60)


def _until(ready, seconds=120):
    end = time.monotonic() + seconds
    while not ready():
        assert time.monotonic() < end, "a daemon is not ready"
        time.sleep(0.1)


@pytest.fixture
def job():
    return mercer.Job("svc", kernel={"name": "rbf", "gamma": 0.3}, label="y", source="patients", parties=PARTIES, scale="minmax", name="fed")


def test_a_job_between_organisations(home, job, monkeypatch):
    fed = mercer.Federation(home)
    run = fed.submit(job)
    result = run.result(timeout=300)
    assert run.done() and run.status == "done" and run.stage == "" and run.id in repr(run)
    assert run.waiting_for == []
    monkeypatch.setattr(run, "_show", lambda: {"state": "running", "waiting": {"parties": ["south"], "since": ""}})
    assert run.waiting_for == ["south"]
    monkeypatch.undo()
    assert list(result.scores.index) == ["together"]  # no member has the rows of the others
    assert result.metrics["accuracy"] > 0.85 and result.leakage.rows["coordinator"]["rows"] in ("yes", "in part")
    assert run.id in set(fed.jobs["id"]) and fed.run(run.id).status == "done"
    run.cancel()
    assert run.status == "done"


def test_a_job_that_a_party_refuses(home, job):
    refused = mercer.Job(**{**vars(job), "protocol": "flake"})
    run = mercer.Federation(home).submit(refused)
    with pytest.raises(mercer.Refused, match="north|south|east"):
        run.result(timeout=300)
    assert run.status == "failed" and run.done()


def test_a_bad_job_is_refused_at_once(home, job):
    with pytest.raises(mercer.JobError, match="svx"):
        mercer.Federation(home).submit(mercer.Job(**{**vars(job), "learner": "svx"}))


def test_a_party_that_is_away(home, job, tmp_path):
    absent = mercer.Job(**{**vars(job), "parties": [*PARTIES, "west"]})
    with pytest.raises(mercer.MercerError, match="west"):
        mercer.Federation(home).submit(absent).result(timeout=60)


def test_waiting_ends_and_the_job_goes_on(home, job):
    run = mercer.Federation(home).submit(job)
    with pytest.raises(mercer.Timeout):
        run.result(timeout=0.001)
    assert run.result(timeout=300).metrics["accuracy"] > 0.85


def test_no_coordinator(tmp_path):
    with pytest.raises(mercer.MercerError):
        mercer.Federation(tmp_path / "nobody").run("0" * 32).status  # noqa: B018


def test_home_of_the_environment(monkeypatch, tmp_path):
    monkeypatch.setitem(os.environ, "MERCER_HOME", str(tmp_path))
    assert mercer.Federation().home == tmp_path
