"""Simulations from frames. They need the whole program mercer."""

import datetime
import os
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer

import mercer
from mercer import _frames
from mercer._program import run as _run_program


def _installed():
    try:
        return mercer.find_bin("mercer")
    except FileNotFoundError:
        return None


pytestmark = pytest.mark.skipif(not _installed(), reason="the program mercer is not installed")
SITES = ["North", "South", "St. Mary's"]


@pytest.fixture(scope="module")
def patients():
    """Three hospitals; numbers with a gap, words with gaps, booleans and dates; rows with names."""
    frame = load_breast_cancer(as_frame=True).frame.iloc[:, [0, 1, 2, 3, 30]]
    rng = np.random.default_rng(0)
    frame["hospital"] = (SITES * 190)[: len(frame)]
    frame["sex"] = rng.choice(["F", "M"], len(frame)).astype(object)
    frame["old"] = rng.random(len(frame)) < 0.5
    frame["seen"] = pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 900, len(frame)), unit="D")
    frame.index = [f"p{i}" for i in range(len(frame))]
    frame.loc["p5", "sex"], frame.loc["p6", "sex"], frame.loc["p7", "mean area"] = None, "", np.nan
    return frame


@pytest.fixture(scope="module")
def result(patients):
    return mercer.simulate(patients, mercer.Job("svc", label="target"), site="hospital")


def test_scores_have_the_sites_names(result):
    assert list(result.scores.index) == ["together", *(f"{s} alone" for s in SITES), "pooled"]
    assert result.scores.loc["together", "accuracy"] == result.metrics["accuracy"] > 0.85
    assert result.training_rows + result.held_out_rows == 569


def test_predictions_are_of_the_frames_rows(result, patients):
    p = result.predictions
    assert len(p) == result.held_out_rows and set(p["site"]) == set(SITES)
    assert list(p["truth"]) == [str(v) for v in patients.loc[p["index"], "target"]]
    assert list(p["site"]) == list(patients.loc[p["index"], "hospital"])
    assert (p["truth"] == p["predicted"]).mean() == pytest.approx(result.metrics["accuracy"])


def test_same_rows_in_a_dict_give_the_same_result(result, patients):
    frames = {name: part.drop(columns="hospital") for name, part in patients.groupby("hospital")}
    again = mercer.simulate(frames, mercer.Job("svc", label="target"))
    assert again.metrics == result.metrics


def test_figures_by_site_and_intervals(result):
    by_site = result.by_site
    assert list(by_site.index) == SITES and by_site["held_out_rows"].sum() == result.held_out_rows
    low, high = result.intervals["accuracy"]
    assert low <= result.metrics["accuracy"] <= high


def test_leakage_names_roles_and_sites(result):
    assert "coordinator" in result.leakage.rows and result.leakage.coordinator
    assert result.leakage.summary().startswith("Can ")
    assert "south" not in " ".join(sum(result.leakage.sentences.values(), []))
    with pytest.raises(AttributeError):
        result.leakage.nobody  # noqa: B018


def test_html_has_no_script(result):
    page = result._repr_html_()
    assert "St. Mary" in page and "<script" not in page and result.report.startswith("<!")


def _days(kind, seen):
    """Return a column of dates as another type."""
    if kind == "date":
        return seen.dt.date.astype(object)
    if kind == "datetime":
        return pd.Series([d.to_pydatetime() for d in seen], index=seen.index, dtype=object)
    return seen.dt.to_period("D")


@pytest.mark.parametrize("kind", ["date", "datetime", "period"])
def test_dates_of_python_are_dates(patients, result, kind):
    other = patients.assign(seen=_days(kind, patients["seen"]))
    assert other["seen"].dtype != patients["seen"].dtype
    frames, job = _frames.split(other, "hospital"), mercer.Job("svc", label="target")
    seen = _frames.describe(frames, job, _frames.parties(frames))["columns"]["seen"]
    assert seen["type"] == "date" and "categories" not in seen
    assert mercer.simulate(other, job, site="hospital").metrics == result.metrics


def test_dates_with_gaps_and_far_away(tmp_path):
    days = pd.Series([datetime.date(1, 1, 2), None, datetime.date(9999, 12, 31)], dtype=object, name="day")
    assert _frames._column(days)["missing"] == "median" and _frames._column(days)["range"][1] > 2.9e6
    _frames.write(days.to_frame(), tmp_path / "t.csv")
    assert (tmp_path / "t.csv").read_text() == 'day\n0001-01-02\n""\n9999-12-31\n'
    words = pd.Series([datetime.date(2020, 1, 1), "later"], dtype=object, name="day")
    assert _frames._column(words)["type"] == "category"


def test_a_label_of_dates_is_written_as_its_classes(patients):
    first = patients["seen"] < patients["seen"].median()
    wave = pd.Series(np.where(first, "2020-03-01", "2021-03-01"), index=patients.index)
    job = mercer.Job("svc", label="wave", columns=["mean radius", "mean texture"])
    days = pd.to_datetime(wave)
    for column in (days, _days("date", days), _days("datetime", days)):
        data = patients.assign(wave=column)
        p = mercer.simulate(data, job, site="hospital").predictions
        assert set(p["truth"]) == {"2020-03-01", "2021-03-01"}


def test_by_sums(patients):
    job = mercer.Job("ridge-classifier", protocol="moments", label="target")
    scores = mercer.simulate(patients, job, site="hospital").scores
    assert list(scores.index)[0] == "together" and scores.loc["pooled", "accuracy"] > 0.8


def test_by_columns(patients):
    bank = patients[["mean radius", "sex", "target"]].assign(id=patients.index)
    shop = patients[["mean texture", "mean perimeter", "seen"]].assign(id=patients.index)[::-1]
    job = mercer.Job("svc", protocol="gram", label="target", id="id")
    r = mercer.simulate({"The Shop": shop, "A Bank": bank}, job)
    assert r.metrics["accuracy"] > 0.85 and "The Shop alone" in r.scores.index
    assert list(r.predictions["truth"]) == [str(v) for v in patients.loc[r.predictions["id"], "target"]]


def test_a_regression(patients):
    r = mercer.simulate(patients.dropna(subset=["mean area"]), mercer.Job({"name": "svr", "C": 1000}, label="mean area", columns=["mean radius", "mean texture"]), site="hospital")
    assert r.metrics["r2"] > 0.8


@pytest.mark.parametrize(
    ("column", "cell", "says"),
    [
        ("mean radius", np.inf, "site 'South', row 'p100': column 'mean radius' is infinite; write a number or a gap"),
        ("hospital", None, "column 'hospital' names no site in row 'p100'; fill the cell"),
    ],
)
def test_a_bad_cell_is_named(patients, column, cell, says):
    bad = patients.copy()
    bad.loc["p100", column] = cell
    with pytest.raises(mercer.DataError) as error:
        mercer.simulate(bad, mercer.Job("svc", label="target"), site="hospital")
    assert str(error.value) == says and error.value.column == column and error.value.index == "p100"


def test_an_error_of_the_program_names_site_row_and_column(patients):
    dictionary = {"columns": {"mean radius": {"range": [0, 20]}}, "labels": {"target": {"classes": ["0", "1"]}}}
    job = mercer.Job("svc", label="target", dictionary=dictionary)
    with pytest.raises(mercer.DataError) as error:
        mercer.simulate(patients, job, site="hospital")
    e = error.value
    assert e.site in SITES and e.column == "mean radius" and patients.loc[e.index, "mean radius"] > 20
    assert str(e).startswith(f"site {e.site!r}, row {e.index!r}: column \"mean radius\" holds")
    assert not re.search(r"\.csv|/tmp|job\.yaml", str(e))


@pytest.mark.parametrize(
    ("job", "says"),
    [
        (lambda: mercer.Job("svx", label="target"), 'unknown learner "svx"; did you mean "svc"?'),
        (lambda: mercer.Job("svc"), "the job names no label"),
        (lambda: mercer.Job("svc", label="targets"), "no site has the label 'targets'"),
        (lambda: mercer.Job("svc", label="target", dictionary="cohort"), "names the dictionary 'cohort'"),
    ],
)
def test_a_bad_job_is_refused(patients, job, says):
    with pytest.raises(mercer.JobError, match=re.escape(says)):
        mercer.simulate(patients, job(), site="hospital")


def test_one_site_is_refused(patients):
    with pytest.raises(mercer.JobError, match="there is one site"):
        mercer.simulate({"north": patients}, mercer.Job("svc", label="target"))


def test_keep_and_save(patients, tmp_path, result):
    kept = mercer.simulate(patients, mercer.Job("svc", label="target"), site="hospital", keep=tmp_path / "kept")
    kept.save(tmp_path / "copy")
    assert (tmp_path / "copy" / "result.json").is_file()
    with pytest.raises(ValueError, match="keep=FOLDER"):
        result.save(tmp_path / "other")


def test_tables_lie_in_a_private_folder_and_are_deleted(patients, monkeypatch, tmp_path):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    modes = []

    def look(_line):
        modes.extend(oct(p.stat().st_mode & 0o777) for p in tmp_path.iterdir())

    mercer.simulate(patients, mercer.Job("svc", label="target"), site="hospital", progress=look)
    assert modes and set(modes) == {"0o700"} and not list(tmp_path.iterdir())


def test_a_job_file_reads_its_own_tables(patients, tmp_path):
    patients.drop(columns=["sex", "old", "seen", "hospital"]).dropna().to_csv(tmp_path / "all.csv", index=False)
    path = tmp_path / "job.yaml"
    path.write_text(
        "apiVersion: mercer/v1\nkind: Job\nmetadata: {name: file}\nspec:\n"
        f"  data: {{source: {tmp_path / 'all.csv'}, label: target, partition: {{parties: [a, b]}}}}\n"
        "  protocol: {name: okra}\n  kernel: {name: linear}\n  learner: {name: svc}\n"
    )
    r = mercer.simulate(None, mercer.Job.from_file(path))
    assert "a alone" in r.scores.index
    with pytest.raises(mercer.JobError, match="data=None"):
        mercer.simulate(patients, mercer.Job.from_file(path))


def test_range_is_rounded_outwards():
    from mercer._frames import _range

    for values in ([17.3, 81.2], [-0.004, 0.0031], [5.0, 5.0], [0.0, 0.0], [1e6, 1e6 + 1]):
        low, high = _range(pd.Series(values))
        assert low <= min(values) <= max(values) <= high and low < high
        assert high not in values or high == round(high, -1) or max(values) in (5.0, 0.0)


def test_names_of_parties():
    from mercer._frames import parties

    assert parties(["North", "north", "Münster", "7", "server"]) == {
        "North": "north", "north": "north-2", "Münster": "m-nster", "7": "site-7", "server": "site-server",
    }


def test_timeout_ends_the_program(patients):
    before = set(os.listdir("/proc")) if Path("/proc").exists() else set()
    with pytest.raises(mercer.Timeout):
        mercer.simulate(patients, mercer.Job("svc", label="target"), site="hospital", timeout=0.01)
    left = [p for p in set(os.listdir("/proc")) - before if p.isdigit() and "simulate" in _command(p)]
    assert not left


def _command(pid):
    try:
        return Path(f"/proc/{pid}/cmdline").read_text()
    except OSError:
        return ""


def test_plots(result, patients):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    bars = result.plot("scores")
    assert len(bars.patches) == 5 and bars.get_xlabel() == "accuracy"
    roc = result.plot("roc")
    assert roc.get_xlabel() == "false positive rate" and len(roc.lines) >= 1
    with pytest.raises(ValueError, match="no curve"):
        result.plot("calibration")
    probable = mercer.simulate(patients, mercer.Job({"name": "svc", "probability": True}, label="target"), site="hospital")
    assert len(probable.plot("calibration").lines[0].get_xdata()) >= 3
    with pytest.raises(ValueError, match="kind is 'bars'"):
        result.plot("bars")


@pytest.fixture
def small():
    """Two sites of 150 rows, whose names are an article and a common word."""
    x = np.random.default_rng(0).normal(size=(300, 2)).round(3)
    frame = pd.DataFrame(x, columns=["a", "b"]).assign(y=np.where(x.sum(axis=1) > 0, "ill", "well"), s=["A", "The"] * 150)
    return frame.set_index(np.arange(1000, 1300))


def _job(**settings):
    return mercer.Job(settings.pop("learner", "svc"), label="y", **settings)


def test_line_feeds_in_a_cell_do_not_shift_the_rows(small):
    noted = small.assign(note="two\nlines")
    p = mercer.simulate(noted, _job(columns=["a", "b"]), site="s").predictions
    assert list(p["truth"]) == list(noted.loc[p["index"], "y"]) and list(p["site"]) == list(noted.loc[p["index"], "s"])


def test_sites_without_latin_letters_have_their_names_in_errors(small):
    bad = small.assign(s=small["s"].replace({"A": "東京", "The": "京都"}), y=small["y"].where(small.index > 1000))
    with pytest.raises(mercer.DataError, match="^site '東京', row 1000: column \"y\" is empty"):
        mercer.simulate(bad, _job(), site="s")


@pytest.mark.parametrize("share", [0.4, np.float32(0.4)])
def test_another_share_is_held_out(small, share):
    assert 90 < mercer.simulate(small, _job(test=share), site="s").held_out_rows < 150


def test_sites_named_by_common_words_change_no_other_word(small):
    def said(frame):
        r = mercer.simulate(frame, _job(), site="s")
        return "\n".join([*r.scores.index, r.leakage.summary(), *sum(r.leakage.sentences.values(), [])])

    other = said(small.assign(s=small["s"].replace({"A": "Alpha", "The": "Theta"})))
    assert said(small) == other.replace("Alpha", "A").replace("Theta", "The")


def test_notices_are_the_programs(small):
    assert any("would refuse this job" in n for n in mercer.simulate(small, _job(), site="s").notices)


def test_parties_are_sites(small):
    three = pd.concat([small, small.assign(s="C")])
    assert "C alone" not in mercer.simulate(three, _job(parties=["The", "A"]), site="s").scores.index
    with pytest.raises(mercer.JobError, match="party 'D', but the sites are A, C, The"):
        mercer.simulate(three, _job(parties=["A", "D"]), site="s")


def test_columns_choose_from_a_dictionary(small):
    described = {"columns": {"a": {"range": [-9, 9]}, "b": {"range": [-9, 9]}}, "labels": {"y": {"classes": ["ill", "well"]}}}
    r = mercer.simulate(small, _job(dictionary=described, columns=["a"]), site="s")
    assert r.metrics["accuracy"] < 0.85  # the label is the sign of a + b


def test_a_label_of_two_dtypes(small):
    zero = small.assign(y=(small["y"] == "ill").astype(int))
    frames = {s: part.drop(columns="s") for s, part in zero.groupby("s")}
    frames["A"]["y"] = frames["A"]["y"].astype(float)
    assert mercer.simulate(frames, _job()).metrics["accuracy"] > 0.85


@pytest.mark.parametrize(
    ("kind", "says", "change", "job"),
    [
        (mercer.DataError, "column 'a' has dtype timedelta64", lambda f: f.assign(a=pd.to_timedelta(range(300), unit="D")), {}),
        (mercer.DataError, "column 'a' has no value at all; leave it out", lambda f: f.assign(a=None), {}),
        (mercer.DataError, "learner svr predicts numbers, but column 'y' holds 'ill'", lambda f: f.sort_values("y"), {"learner": "svr"}),
        (mercer.JobError, "data is a list; give a DataFrame", lambda f: [f], {}),
        (mercer.JobError, "columns is a text; give a list of names", lambda f: f, {"columns": "a"}),
        (mercer.JobError, "learner is {'C': 1}; give a name", lambda f: f, {"learner": {"C": 1}}),
        (mercer.DataError, "site 'A', row 1000: column \"y\" is empty, but every row needs a label; fill the cell$", lambda f: f.assign(y=f["y"].where(f.index > 1000)), {}),
        (mercer.MercerError, "^site 'The': column \"a\" has a value in only", lambda f: f.assign(a=f["a"].where(f["s"] == "A")), {}),
    ],
)
def test_what_a_frame_cannot_hold_is_named(small, kind, says, change, job):
    with pytest.raises(kind, match=says):
        mercer.simulate(change(small), _job(**job), site="s")


def test_weights(small):
    """The column of weights is described as such, and the coordinator learns it."""
    frame = small.assign(w=np.arange(len(small)) % 3)
    plain = mercer.simulate(small, _job(), site="s")
    weighed = mercer.simulate(frame, _job(weight="w"), site="s")
    assert "weight" not in _job().to_yaml() and '"weight": "w"' in _job(weight="w").to_yaml()
    said = [[line for role in r.leakage.sentences.values() for line in role if "weight of each training row" in line] for r in (plain, weighed)]
    assert said[0] == [] and len(said[1]) == 1
    with pytest.raises(mercer.JobError, match="no site has the weight 'v'"):
        mercer.simulate(frame, _job(weight="v"), site="s")
    with pytest.raises(mercer.DataError, match="site 'The', row 1003: column \"w\" is empty, but each row needs a weight"):
        mercer.simulate(frame.assign(w=frame["w"].where(frame.index != frame.index[3])), _job(weight="w"), site="s")


def test_a_job_files_error_has_its_line(tmp_path):
    path = tmp_path / "job.yaml"
    path.write_text("apiVersion: mercer/v1\nkind: Job\nmetadata: {name: x}\nspec:\n  learners: {name: svc}\n")
    with pytest.raises(mercer.JobError) as error:
        mercer.simulate(None, mercer.Job.from_file(path))
    assert error.value.line == 5


def _program(tmp_path, monkeypatch, script):
    """Let a script stand for the program."""
    path = tmp_path / "mercer"
    about = """[ "$1" = version ] && echo '{"ok": true, "result": {"interface": 1}}' && exit\n"""
    path.write_text("#!/bin/sh\n" + about + script)
    path.chmod(0o755)
    monkeypatch.setenv("MERCER_BIN", str(path))


def test_a_long_document_before_the_log_ends(tmp_path, monkeypatch):
    _program(tmp_path, monkeypatch, """printf '{"ok": true, "result": "'; head -c 300000 /dev/zero | tr '\\0' x; echo '"}'; echo warning: late >&2""")
    lines = []
    result, notices = _run_program("x", timeout=20, progress=lines.append)
    assert len(result) == 300000 and lines == notices == ["warning: late"]


def test_time_ends_with_progress_and_the_program_clears_up(tmp_path, monkeypatch):
    _program(tmp_path, monkeypatch, f"trap 'touch {tmp_path}/cleared; exit 1' TERM; echo begun >&2; while :; do sleep 0.05; done")
    with pytest.raises(mercer.Timeout):
        _run_program("x", timeout=0.5, progress=lambda _line: None)
    assert (tmp_path / "cleared").exists()


def test_an_error_in_progress_ends_the_program(tmp_path, monkeypatch):
    _program(tmp_path, monkeypatch, f"trap 'touch {tmp_path}/cleared; exit 1' TERM; echo begun >&2; while :; do sleep 0.05; done")

    def stop(_line):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        _run_program("x", progress=stop)
    assert (tmp_path / "cleared").exists()
