"""A federation of organisations, seen from its coordinator's home."""

import os
from pathlib import Path

from . import _progress
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
        if job.text is not None:
            return self.run(self._do("submit", job.path)["id"])
        with PrivateFolder() as room:
            (room.path / "job.yaml").write_text(job.to_yaml(), encoding="utf-8")
            return self.run(self._do("submit", "job.yaml", within=room, folder=room.path)["id"])

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
        return run("job", command, *arguments, "--home", self.home.absolute(), **settings)


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
