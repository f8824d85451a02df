"""Run the program mercer, and turn its errors into exceptions."""

import json
import os
import re
import subprocess

from ._bin import find_bin
from ._child import MercerError


class JobError(MercerError):
    """A job that the program refuses, such as an unknown key.

    Attributes
    ----------
    line : int or None
        Line of the job file.
    """

    line = None


class DataError(MercerError):
    """A table that the program refuses. The message names the site, the column and the row's index.

    Attributes
    ----------
    site : str or None
        The site, as the caller wrote it.
    column : str or None
        The column.
    index : object or None
        The index of the row in the site's frame.
    """

    site = column = index = None


class Refused(MercerError):
    """A policy, a ledger or a member refuses the job."""


class PeerError(MercerError):
    """A member broke the protocol."""


class Timeout(MercerError):
    """A time limit has passed."""


_KINDS = {"bad_data": DataError, "bad_job": JobError, "usage": JobError}  # by the document's code
_EXITS = {3: Refused, 4: PeerError, 5: Timeout}


def run(*arguments, timeout=None, progress=None, folder=None):
    """Run mercer with ``--json`` and return the result of its document.

    Parameters
    ----------
    *arguments : str
        The command and its arguments.
    timeout : float or None
        Seconds after which the program is ended.
    progress : callable or None
        Called with each line of the program's log.
    folder : path-like or None
        Folder in which the program runs.

    Returns
    -------
    result : object
        The field ``result`` of the document.

    Raises
    ------
    MercerError
        If the program fails. The class follows from its exit code.
    """
    command = [find_bin("mercer"), *map(os.fspath, arguments), "--json"]
    if progress:
        command += ["--log-level", "info"]
    with subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, encoding="utf-8", cwd=folder
    ) as program:
        try:
            out, err = _talk(program, timeout, progress)
        except BaseException:  # KeyboardInterrupt, too: no process stays behind
            program.kill()
            raise
    return _result(out, err, program.returncode)


def _talk(program, timeout, progress):
    if progress:
        for line in program.stderr:
            progress(line.rstrip("\n"))
    try:
        return program.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        raise Timeout(f"mercer has not ended after {timeout:g} seconds") from None


def _result(out, err, code):
    try:
        document = json.loads(out)
    except ValueError:
        raise MercerError(f"mercer ended with code {code}: {err.strip() or out.strip()}") from None
    if document.get("ok"):
        return document.get("result")
    failure = document["error"]
    error = (_EXITS.get(code) or _KINDS.get(failure["code"], MercerError))(failure["message"])
    line = re.match(r"[^:]*:(\d+): ", failure["message"])
    error.line = int(line[1]) if line else None
    raise error
