"""A whole federation in one process, from frames."""

import re
from dataclasses import replace
from pathlib import Path

from . import _frames
from ._child import MercerError
from ._private import PrivateFolder
from ._program import DataError, JobError, run
from ._result import Result


def simulate(data, job, *, site=None, keep=None, timeout=None, progress=None):
    """Run a job with all its parties on this machine.

    Parameters
    ----------
    data : DataFrame, dict of DataFrame or None
        The rows of all sites: one frame with a column that names the site, or a
        frame for each site. None for a job that comes from a file, which reads
        the tables that it names.
    job : Job
        The job.
    site : str or None
        The column that names the site, for one frame.
    keep : path-like or None
        Folder for the program's files: result, report, predictions, models.
        Without it they are deleted.
    timeout : float or None
        Seconds after which the run is ended.
    progress : callable or None
        Called with each line of the program's log.

    Returns
    -------
    result : Result

    Raises
    ------
    JobError, DataError, MercerError
        If the job or a table is refused. The error names the site, the column
        and the row's index.

    Examples
    --------
    >>> import mercer
    >>> from sklearn.datasets import load_breast_cancer
    >>> frame = load_breast_cancer(as_frame=True).frame.iloc[:, [0, 1, 2, 3, 30]]
    >>> frame["hospital"] = ["North", "South", "St. Mary's"] * 189 + ["North", "South"]
    >>> job = mercer.Job("svc", label="target")
    >>> result = mercer.simulate(frame, job, site="hospital")  # doctest: +SKIP
    """
    with PrivateFolder() as room:
        if job.text is not None:
            if data is not None:
                raise JobError("a job from a file reads its own tables; give data=None, or make the job by mercer.Job")
            return _run(job.path, room, keep, timeout, progress, folder=None)
        frames = _frames.chosen(_frames.split(data, site), job.parties)
        if job.by_columns:
            frames = dict(sorted(frames.items(), key=lambda f: job.label not in f[1].columns))  # the label's holder first
        names = _frames.parties(frames)
        text = write(frames, job, names, room.path)
        path = room.path / "job.yaml"
        path.write_text(text, encoding="utf-8")
        renaming = _Renaming(names, frames)
        try:
            return _run(path.name, room, keep, timeout, progress, folder=room.path, renaming=renaming)
        except MercerError as error:
            raise renaming.error(error) from None


def write(frames, job, names, folder):
    """Write the tables into a folder, and return the job file that names them."""
    sources = {}
    for site, frame in frames.items():
        _frames.write(frame, folder / f"{names[site]}.csv")
        sources[names[site]] = {"path": f"{names[site]}.csv"}
    data = {"sources": sources}
    if job.by_columns:
        data["partition"] = {"by": "columns"}
    if isinstance(job.dictionary, str):
        raise JobError(f"the job names the dictionary {job.dictionary!r}, which organisations have approved; give its keys as a dict, or leave it out")
    if job.dictionary is None:
        data["dictionary"] = _frames.describe(frames, job, names)
        if job.share is not None:
            data["dictionary"]["fraction"] = job.share
    else:
        data["dictionary"] = job.dictionary
        if job.columns is not None:
            data["columns"] = job.columns
    data["label"] = job.label
    return replace(_filled(job, data), parties=None)._written(data)


def _filled(job, data):
    """Return the job with a gamma for protocol moments, which takes a number only."""
    kernel, protocol = job.kernel, job.protocol
    if kernel == "rbf" and (protocol == "moments" or isinstance(protocol, dict) and protocol.get("name") == "moments"):
        width = sum(len(c.get("categories", [0])) for c in data["dictionary"]["columns"].values())
        return replace(job, kernel={"name": "rbf", "gamma": round(1 / (2 * max(1, width)), 6)})
    return job


def _run(path, room, keep, timeout, progress, folder, renaming=None):
    out = Path(keep).expanduser().absolute() if keep is not None else room.path / "out"
    kept = None if keep is None else out
    document, notices = run("simulate", path, "--out", out, timeout=timeout, progress=progress, within=room, folder=folder)
    if renaming is None:
        return Result(document, folder=folder, kept=kept, notices=notices)
    named = {"renamed": renaming.text, "sites": renaming.sites, "frames": renaming.frames}
    return Result(document, folder=folder, kept=kept, notices=notices, **named)


class _Renaming:
    """Names of parties and files become the caller's sites and rows again."""

    def __init__(self, names, frames):
        self.sites = {party: site for site, party in names.items()}
        self.frames = {names[site]: frame for site, frame in frames.items()}
        self._words = _words(p for p, site in self.sites.items() if str(site) != p)
        self._tables = re.compile(r"(?:[^\s:]*/)?\b(" + "|".join(map(re.escape, self.sites)) + r")\.csv(?::(\d+))?")

    def text(self, text):
        """Return a text with the caller's sites and rows."""
        text = self._tables.sub(self._place, text)
        return self._words.sub(lambda m: str(self.sites[m[1]]), text) if self._words else text

    def _place(self, match):
        """Return the words for a line of a table."""
        where, row = f"site {str(self.sites[match[1]])!r}", self._row(match)
        return where if row is None else f"{where}, row {row!r}" if isinstance(row, str) else f"{where}, row {row}"

    def _row(self, match):
        """Return the index of the row that a table's line holds, or None."""
        frame, line = self.frames[match[1]], int(match[2] or 0)
        return frame.index[line - 2] if 2 <= line < len(frame) + 2 else None

    def error(self, error):
        """Return an error that names the site and the row's index in place of a file and a line."""
        said = _without_file(str(error))
        found = self._tables.search(said)
        said = re.sub(rf"^{re.escape(found[1])}: ", "", said) if found else said
        if not found or not isinstance(error, (DataError, JobError)):
            return type(error)(self.text(said))
        column = re.search(r'column "([^"]*)"', said)
        return DataError(self.text(said), self.sites[found[1]], column[1] if column else None, self._row(found))


def _words(names):
    """Return the pattern of names that are words of their own, or None."""
    names = sorted(names, key=len, reverse=True)
    return re.compile(r"(?<![\w'./-])(" + "|".join(map(re.escape, names)) + r")(?![\w-]|\.csv)") if names else None


def _without_file(said):
    """Return a sentence without the advice to edit the job file, which the caller has not written."""
    said = re.sub(r"^job\.yaml:\d+: ", "", said)
    clause = r"(?:\{[^}]*\}|[^,;{}])*"
    said = re.sub(rf"(; ){clause}\bjob\.yaml{clause}, (?:or )?", r"\1", said)
    return re.sub(rf"[,;]{clause}\bjob\.yaml{clause}", "", said)
