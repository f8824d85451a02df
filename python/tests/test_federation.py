"""A deployed federation on loopback, driven from Python. It needs the whole program mercer."""

import json
import os
import shutil
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


def test_log_of_a_job(home, job):
    run = mercer.Federation(home).submit(job)
    run.result(timeout=300)
    log = run.log()
    said = json.loads(_mercer("job", "logs", run.id, "--home", home, "--json"))["result"]["events"]
    assert list(log["event"]) == [e["event"] for e in said] and {e["job"] for e in said} == {run.id}
    assert log["event"].iloc[0] == "submitted" and log["event"].iloc[-1] == "closed" and log["state"].iloc[-1] == "done"
    assert log["parties"].iloc[0] == PARTIES and log["parties"].iloc[-1] == []
    assert log["time"].is_monotonic_increasing and str(log["time"].dt.tz) == "UTC"
    stages = log[log["event"] == "stage-begun"]["stage"]
    assert "protocol" in set(stages) and set(log[log["event"] == "stage-ended"]["stage"]) == set(stages)
    assert (log["exit_code"] == 0).all() and (log["blamed"] == "").all()


def test_log_of_a_failed_job(home, job):
    run = mercer.Federation(home).submit(mercer.Job(**{**vars(job), "protocol": "flake"}))
    with pytest.raises(mercer.Refused):
        run.result(timeout=300)
    log = run.log().set_index("event")
    assert log.loc["failed", "exit_code"] == 3 and log.loc["closed", "state"] == "failed"  # a refusal blames nobody


def test_log_of_nobodys_job(home):
    with pytest.raises(mercer.MercerError, match="knows no job 0{32}; mercer job list"):
        mercer.Federation(home).run("0" * 32).log()


def test_log_without_events(home, monkeypatch):
    """After a restart the coordinator has a job and none of its events."""
    run = mercer.Federation(home).run("0" * 32)
    monkeypatch.setattr(run._federation, "_do", lambda *_: {"events": []})
    log = run.log()
    assert len(log) == 0 and list(log.columns) == ["time", "event", "stage", "parties", "state", "exit_code", "blamed"]
    assert str(log["time"].dt.tz) == "UTC" and log["exit_code"].dtype == int


@pytest.fixture(params=["daemon", "no daemon"])
def north(request, home, tmp_path):
    """A party's home whose daemon runs, and a copy of it without one."""
    if request.param == "daemon":
        return home.parent / "north"
    shutil.copytree(home.parent / "north", tmp_path / "north", ignore=shutil.ignore_patterns("*.sock"))
    return tmp_path / "north"


def test_check_of_a_job_that_a_party_would_accept(home, north, job, tmp_path):
    answer = mercer.Federation(home).check(job, north)
    assert answer and answer.accepted and (answer.party, answer.job, answer.exit_code, answer.message) == ("north", "fed", 0, "")
    assert (answer.file, answer.line, answer.key) == ("", 0, "")
    assert any("the other parties (south, east) accept the job" in s for s in answer.undecided) and "north would accept job fed" in repr(answer)
    path = tmp_path / "job.yaml"
    path.write_text(job.to_yaml(), encoding="utf-8")
    assert mercer.Federation(home).check(mercer.Job.from_file(path), home=str(north)).accepted


def test_check_of_a_job_that_a_party_would_refuse(home, north, job):
    fed = mercer.Federation(home)
    before = set(fed.jobs["id"])
    answer = fed.check(mercer.Job(**{**vars(job), "protocol": "flake"}), north)
    assert not answer and not answer.accepted and answer.exit_code == 3 and answer.undecided == []
    assert 'protocol "flake"' in answer.message and answer.message in repr(answer)
    config = (north / "config.yaml").read_text(encoding="utf-8").splitlines()
    assert answer.file == str(north / "config.yaml") and answer.key == "data.patients.policy.protocols"
    assert config[answer.line - 1].strip() == "protocols: [okra]"
    assert set(fed.jobs["id"]) == before  # nothing was submitted


def test_check_of_a_table_that_a_party_lacks(home, north, job):
    answer = mercer.Federation(home).check(mercer.Job(**{**vars(job), "source": "people"}), north)
    assert not answer and answer.exit_code == 2 and '"people"' in answer.message


def test_check_of_a_bad_job(home, north, job):
    with pytest.raises(mercer.MercerError, match=r"job\.yaml:\d+: unknown learner .svx."):
        mercer.Federation(home).check(mercer.Job(**{**vars(job), "learner": "svx"}), north)


def test_check_at_a_home_that_is_no_partys(home, job, tmp_path):
    fed = mercer.Federation(home)
    with pytest.raises(mercer.MercerError, match="use a party's home"):
        fed.check(job, home)
    with pytest.raises(mercer.MercerError, match="holds no identity"):
        fed.check(job, tmp_path / "nobody")


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
