"""A federation of organisations, seen from its coordinator's home."""

import os
from pathlib import Path

from . import _progress
from ._child import MercerError
from ._private import PrivateFolder
from ._program import run
from ._result import Result


class Federation:
    """The jobs of a running coordinator.

    Parameters
    ----------
    home : path-like or None
        The coordinator's home. None means ``MERCER_HOME``.

    Examples
    --------
    >>> import mercer
    >>> fed = mercer.Federation("~/coordinator")
    >>> run = fed.submit(mercer.Job.from_file("job.yaml"))  # doctest: +SKIP
    >>> run.result(timeout=3600).scores  # doctest: +SKIP
    """

    def __init__(self, home=None):
        self.home = Path(home if home is not None else os.environ.get("MERCER_HOME", "~/.config/mercer")).expanduser()

    def submit(self, job):
        """Submit a job to the parties.

        Parameters
        ----------
        job : Job
            It names the parties' table (``source``), and a dictionary that all
            operators have approved.

        Returns
        -------
        run : Run

        Raises
        ------
        JobError
            If the coordinator refuses the job.
        """
        return self.run(_with_file("submit", job, self.home)["id"])

    def check(self, job, home):
        """Ask a party whose home is on this machine whether it would accept a job now.

        The party reads its table and compares its ledger, as it does for a proposal
        of the coordinator. It records and sends nothing. Its daemon need not run, and
        neither need the coordinator's.

        Parameters
        ----------
        job : Job
            A job as for :meth:`submit`.
        home : path-like
            The party's home.

        Returns
        -------
        answer : Check

        Raises
        ------
        JobError, MercerError
            If the job has a mistake, or the home is not that of a party.
        """
        try:
            return Check(_with_file("check", job, Path(home).expanduser()))
        except MercerError as e:
            if e._found is None:
                raise
            return Check(e._found)

    def run(self, id):
        """Return the run of a submitted job.

        Parameters
        ----------
        id : str
            The job's id.

        Returns
        -------
        run : Run
        """
        return Run(self, id)

    @property
    def jobs(self):
        """The jobs in the order of submission: a DataFrame."""
        import pandas as pd

        return pd.DataFrame(self._do("list")["jobs"])

    def _do(self, command, *arguments, **settings):
        return self._run(command, *arguments, **settings)[0]

    def _run(self, command, *arguments, **settings):
        return _of_job(command, *arguments, home=self.home, **settings)


def _of_job(command, *arguments, home, **settings):
    """Run a command of mercer job for a home."""
    return run("job", command, *arguments, "--home", home.absolute(), **settings)


def _with_file(command, job, home):
    """Run a command of mercer job on the file of a job, and return its result."""
    if job.text is not None:
        return _of_job(command, job.path, home=home)[0]
    with PrivateFolder() as room:
        (room.path / "job.yaml").write_text(job.to_yaml(), encoding="utf-8")
        return _of_job(command, "job.yaml", home=home, within=room, folder=room.path)[0]


class Check:
    """A party's answer to a job that nobody has proposed. It is true if the party would accept the job.

    Attributes
    ----------
    accepted : bool
        Whether the party would accept the job's first session now.
    party, job : str
        Names of the party and the job. ``job`` is "" if its dictionary or study is not
        approved.
    exit_code : int
        0; 3 if a policy or the ledger refuses; 2 if the party's table cannot be used.
    message : str
        The refusal, which may describe the table; "" without one.
    file, line, key : str, int, str
        What refuses the job in the party's home: a key of a file. "", 0 and "" where
        no file does; ``line`` is 0 for a folder.
    undecided : list of str
        What depends on other parties, in sentences.
    """

    def __init__(self, document):
        where = document.get("where") or {}
        self.party, self.job = document["party"], document["job"]
        self.exit_code = document["exit_code"]
        self.accepted = self.exit_code == 0
        self.message = document.get("message", "")
        self.file, self.line, self.key = where.get("file", ""), where.get("line", 0), where.get("key", "")
        self.undecided = document.get("undecided") or []

    def __bool__(self):
        return self.accepted

    def __repr__(self):
        if self.accepted:
            return f"<mercer.Check: {self.party} would accept job {self.job}>"
        return f"<mercer.Check: {self.party} would refuse the job: {self.message}>"


class Run:
    """A submitted job, with the words of a future.

    Attributes
    ----------
    id : str
        The job's id.
    """

    _ENDED = ("done", "failed", "unreadable")

    def __init__(self, federation, id):
        self._federation, self.id = federation, id

    def _show(self):
        return self._federation._do("show", self.id)

    @property
    def status(self):
        """State of the job: "queued", "running", "closing", "done", "failed" or "unreadable"."""
        return self._show()["state"]

    @property
    def stage(self):
        """Stage of a running job, such as "protocol"; else ""."""
        return self._show().get("stage", "")

    @property
    def waiting_for(self):
        """Names of the parties for whose consent the stage waits: a list, mostly empty."""
        return list((self._show().get("waiting") or {}).get("parties", []))

    def done(self):
        """Return whether the job has ended, well or not.

        Returns
        -------
        ended : bool
        """
        return self.status in self._ENDED

    def log(self):
        """Return the job's events at the coordinator, the oldest first.

        They are those of ``mercer job logs``. The coordinator keeps the last 256 events of a job in
        its memory. After a restart it has only new ones.

        Returns
        -------
        events : DataFrame
            A row for each event. ``time`` is in UTC. ``event`` is "submitted", "stage-begun",
            "stage-ended", "waiting", "result", "failed", "aborted" or "closed". ``stage`` is the stage
            of the job. ``parties`` lists the parties of a submitted job, or those for whom a stage waits.
            ``state`` is the last state of a closed job. ``exit_code`` classifies a failure as the
            program's exit codes do; 0 is none. ``blamed`` names the member that caused it. A text that
            an event lacks is "".
        """
        import pandas as pd

        empty = {"stage": "", "parties": (), "state": "", "exit_code": 0, "blamed": ""}
        rows = [{"time": e["time"], "event": e["event"], **{k: e.get(k, v) for k, v in empty.items()}} for e in self._federation._do("logs", self.id)["events"]]
        for row in rows:
            row["parties"] = list(row["parties"])
        frame = pd.DataFrame(rows, columns=["time", "event", *empty])
        frame["time"] = pd.to_datetime(frame["time"], utc=True, format="ISO8601")
        return frame.astype({"exit_code": int})

    def cancel(self):
        """Abort the job at all members. A job that has ended stays as it is."""
        if not self.done():
            self._federation._do("abort", self.id)

    def result(self, timeout=None):
        """Wait until the job ends, and return its result.

        A terminal and a notebook show the stage and how much of it is done. A KeyboardInterrupt ends the waiting and leaves the job running.

        Parameters
        ----------
        timeout : float or None
            Seconds to wait at most. None waits without a limit.

        Returns
        -------
        result : Result

        Raises
        ------
        Timeout
            If the job still runs. It goes on.
        Refused, PeerError, MercerError
            If the job has failed.
        """
        limit = [] if timeout is None else ["--timeout", f"{max(timeout, 1e-3):.3f}s"]
        with PrivateFolder() as room, _progress.shown(self._show):
            document, notices = self._federation._run("wait", self.id, "--out", room.path / "out", *limit, within=room)
            return Result(document.get("result", document), folder=room.path, notices=notices)

    def __repr__(self):
        return f"<mercer.Run {self.id}: {self.status}>"
