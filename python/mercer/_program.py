"""Run the program mercer, and turn its errors into exceptions."""

import json
import os
import queue
import re
import subprocess
import tempfile
import threading
import time

from ._bin import find_bin, refusal
from ._child import MercerError


class JobError(MercerError):
    """A job that the program refuses, such as an unknown key.

    Attributes
    ----------
    line : int or None
        Line of the job file, for a job that comes from a file.
    """

    line = None


class DataError(MercerError):
    """A table that cannot be used. From frames, the message names the site, the column and the row's index.

    Attributes
    ----------
    site : object or None
        The site, as the caller wrote it.
    column : str or None
        The column.
    index : object or None
        The index of the row in the site's frame.
    """

    def __init__(self, message, site=None, column=None, index=None):
        super().__init__(message)
        self.site, self.column, self.index = site, column, index


class Refused(MercerError):
    """A policy, a ledger or a member refuses the job."""


class PeerError(MercerError):
    """A member broke the protocol."""


class Timeout(MercerError):
    """A time limit has passed."""


_KINDS = {"bad_data": DataError, "bad_job": JobError, "usage": JobError}  # by the document's code
_EXITS = {3: Refused, 4: PeerError, 5: Timeout}


def run(*arguments, timeout=None, progress=None, folder=None):
    """Run mercer with ``--json`` and return the result of its document, and its notices.

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
    notices : list of str
        What the program has to say beside it.

    Raises
    ------
    MercerError
        If the program fails. The class follows from its exit code.
    """
    path = find_bin("mercer")
    _check(path)
    command = [path, *map(os.fspath, arguments), "--json"]
    if progress:
        command += ["--log-level", "info"]
    with tempfile.TemporaryFile() as out, subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.PIPE, text=True, encoding="utf-8", cwd=folder
    ) as program:
        said = _listen(program, timeout, progress or _ignore)
        out.seek(0)
        return _result(out.read().decode("utf-8"), "\n".join(said), program.returncode), _notices(said)


_checked = set()  # programs that have this package's interface, with the times of their files


def _check(path):
    """Refuse a program of another version, once for each file."""
    key = path, os.stat(path).st_mtime_ns
    if key in _checked:
        return
    try:
        out = subprocess.run([path, "version", "--json"], stdin=subprocess.DEVNULL, capture_output=True, timeout=60).stdout
        interface = json.loads(out)["result"].get("interface")
    except (ValueError, KeyError, TypeError, AttributeError, subprocess.TimeoutExpired):  # not a document of mercer
        interface = None
    why = refusal(path, interface)
    if why:
        raise MercerError(why)
    _checked.add(key)


def _ignore(_line):
    """Take a line of the log that nobody wants to see."""


def _listen(program, timeout, progress):
    """Return the lines that a program writes to stderr until it ends."""
    lines, said = queue.SimpleQueue(), []
    reader = threading.Thread(target=_forward, args=(program.stderr, lines), daemon=True)
    reader.start()
    end = None if timeout is None else time.monotonic() + timeout
    try:
        while (line := _next(lines, end)) is not None:
            said.append(line)
            progress(line)
        program.wait()
    except queue.Empty:
        _stop(program)
        raise Timeout(f"mercer has not ended after {timeout:g} seconds") from None
    except BaseException:  # KeyboardInterrupt, too: no process stays behind
        _stop(program)
        raise
    reader.join()
    return said


def _next(lines, end):
    return lines.get() if end is None else lines.get(timeout=max(end - time.monotonic(), 0))


def _forward(stream, lines):
    for line in stream:
        lines.put(line.rstrip("\n"))
    lines.put(None)


def _stop(program):
    """End a program. It gets some seconds to remove its own temporary folder, which has models."""
    program.terminate()
    try:
        program.wait(timeout=5)
    except subprocess.TimeoutExpired:
        pass
    finally:
        program.kill()  # after a second Ctrl-C, too


def _notices(said):
    return [line for line in said if line.startswith(("notice", "warning: "))]


def _result(out, err, code):
    try:
        document = json.loads(out)
    except ValueError:
        raise MercerError(f"mercer ended with code {code}: {err.strip() or out.strip()}") from None
    if document.get("ok"):
        return document.get("result")
    failure = document["error"]
    said = failure["message"]
    if code in _EXITS:
        raise _EXITS[code](f"{said}; {failure['hint']}" if failure["hint"] else said)
    error = _KINDS.get(failure["code"], MercerError)(said)
    line = re.match(r"[^:]*:(\d+): ", said)
    if line and isinstance(error, JobError):
        error.line = int(line[1])
    raise error
