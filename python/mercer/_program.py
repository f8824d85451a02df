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


def run(*arguments, timeout=None, progress=None, within=None, folder=None):
    """Run mercer with ``--json`` and return the result of its document, and its notices.

    Parameters
    ----------
    *arguments : str
        The command and its arguments.
    timeout : float or None
        Seconds after which the program is ended.
    progress : callable or None
        Called with each line of the program's log.
    within : PrivateFolder or None
        Folder for the program's temporary files. It ends with this process, and so does the program.
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
    with _Program(command, folder) if within is None else within.start(command, folder) as program:
        said = _listen(program, timeout, progress or _ignore)
        return _result(program.document().decode("utf-8"), "\n".join(said), program.wait()), _notices(said)


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


class _Program:
    """A program that this process has started."""

    def __init__(self, command, folder):
        self._out = tempfile.TemporaryFile()
        self._process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=self._out, stderr=subprocess.PIPE, text=True, encoding="utf-8", cwd=folder
        )

    def __enter__(self):
        return self

    def __exit__(self, *_error):
        self._process.stderr.close()
        self._process.wait()
        self._out.close()

    def lines(self):
        """Yield the lines that the program writes to stderr, until it ends."""
        yield from self._process.stderr

    def wait(self):
        """Return the exit code."""
        return self._process.wait()

    def stop(self):
        """End the program. It gets some seconds to end by itself."""
        self._process.terminate()
        try:
            self._process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            pass
        finally:
            self._process.kill()  # after a second Ctrl-C, too

    def document(self):
        """Return what the program has written to stdout."""
        self._out.seek(0)
        return self._out.read()


def _listen(program, timeout, progress):
    """Return the lines that a program writes to stderr until it ends."""
    lines, said = queue.SimpleQueue(), []
    reader = threading.Thread(target=_forward, args=(program, lines), daemon=True)
    reader.start()
    end = None if timeout is None else time.monotonic() + timeout
    try:
        while (line := _next(lines, end)) is not None:
            said.append(line)
            progress(line)
    except queue.Empty:
        program.stop()
        raise Timeout(f"mercer has not ended after {timeout:g} seconds") from None
    except BaseException:  # KeyboardInterrupt, too: no process stays behind
        program.stop()
        raise
    finally:
        reader.join()
    return said


def _next(lines, end):
    return lines.get() if end is None else lines.get(timeout=max(end - time.monotonic(), 0))


def _forward(program, lines):
    try:
        for line in program.lines():
            lines.put(line.rstrip("\n"))
    finally:
        lines.put(None)


def _notices(said):
    return [line for line in said if line.startswith(("notice", "warning: "))]


def _result(out, err, code):
    try:
        document = json.loads(out)
    except ValueError:
        raise MercerError(f"mercer ended with code {code}: {err.strip() or out.strip()}") from None
    if document.get("ok"):
        return document.get("result")
    error = _error(document["error"], code)
    error._found = document.get("result")
    raise error


def _error(failure, code):
    """Return the exception for the error of a document, and the exit code."""
    said = failure["message"]
    if code in _EXITS:
        return _EXITS[code](f"{said}; {failure['hint']}" if failure["hint"] else said)
    error = _KINDS.get(failure["code"], MercerError)(said)
    line = re.match(r"[^:]*:(\d+): ", said)
    if line and isinstance(error, JobError):
        error.line = int(line[1])
    return error
