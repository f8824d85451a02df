"""A whole federation in one process, from frames."""

import re
import tempfile
from pathlib import Path

from . import _frames
from ._job import Job
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
        New folder for the program's files: result, report, predictions, models.
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
    with tempfile.TemporaryDirectory(prefix="mercer-") as folder:  # of mode 0700
        if job.text is not None:
            if data is not None:
                raise JobError("a job from a file reads its own tables; give data=None, or make the job by mercer.Job")
            return _run(job.path, Path(folder), keep, timeout, progress, folder=None)
        frames = _frames.split(data, site)
        if job.by_columns:
            frames = dict(sorted(frames.items(), key=lambda f: job.label not in f[1].columns))  # the label's holder first
        names = _frames.parties(frames)
        text = write(frames, job, names, Path(folder))
        path = Path(folder, "job.yaml")
        path.write_text(text, encoding="utf-8")
        renaming = _Renaming(names, frames)
        try:
            return _run(path.name, Path(folder), keep, timeout, progress, folder=folder, renaming=renaming)
        except (DataError, JobError) as error:
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
    data["dictionary"] = job.dictionary or _frames.describe(frames, job, names)
    if data["dictionary"].get("labels") is None:
        data["label"] = job.label
    return _filled(job, data)._written(data)


def _filled(job, data):
    """Return the job with a gamma for protocol moments, which takes a number only."""
    kernel, protocol = job.kernel, job.protocol
    if kernel == "rbf" and (protocol == "moments" or isinstance(protocol, dict) and protocol.get("name") == "moments"):
        width = sum(len(c.get("categories", [0])) for c in data["dictionary"]["columns"].values())
        changes = dict(vars(job), kernel={"name": "rbf", "gamma": round(1 / (2 * max(1, width)), 6)})
        return Job(**changes)
    return job


def _run(path, own, keep, timeout, progress, folder, renaming=None):
    out = Path(keep).absolute() if keep is not None else own / "out"
    document = run("simulate", path, "--out", out, timeout=timeout, progress=progress, folder=folder)
    if renaming is None:
        return Result(document, folder=folder, kept=keep)
    return Result(document, renamed=renaming.text, sites=renaming.sites, frames=renaming.frames, folder=folder, kept=keep)


class _Renaming:
    """Names of parties and files become the caller's sites and rows again."""

    def __init__(self, names, frames):
        self.sites = {party: site for site, party in names.items()}
        self.frames = {names[site]: frame for site, frame in frames.items()}
        changed = [p for p, site in self.sites.items() if str(site) != p]
        self._words = re.compile(r"\b(" + "|".join(map(re.escape, sorted(changed, key=len, reverse=True))) + r")\b(?!\.csv)") if changed else None

    def text(self, text):
        """Return a text with the caller's names of sites."""
        if self._words is None:
            return text
        return self._words.sub(lambda m: str(self.sites[m[1]]), text)

    def error(self, error):
        """Return an error that names the site and the row's index in place of a file and a line."""
        said = re.search(r"(?:[^\s:]*/)?([a-z][a-z0-9-]*)\.csv(?::(\d+))?", str(error))
        if not said or said[1] not in self.sites:
            return type(error)(self.text(re.sub(r"^job\.yaml:\d+: ", "", str(error))))
        site, frame = self.sites[said[1]], self.frames[said[1]]
        where, index = f"site {str(site)!r}", None
        if said[2] and int(said[2]) >= 2 and int(said[2]) - 2 < len(frame):
            index = frame.index[int(said[2]) - 2]
            where += f", row {index!r}" if isinstance(index, str) else f", row {index}"
        message = str(error)[: said.start()] + where + str(error)[said.end() :]
        made = DataError(self.text(re.sub(rf"^{re.escape(said[1])}: ", "", message)))
        made.site, made.index = site, index
        column = re.search(r'column "([^"]*)"', message)
        made.column = column[1] if column else None
        return made
