"""The child process that trains: one for each process, started at the first call.

The child, mercer-fit, reads requests from its stdin and writes answers to its
stdout (internal/fitserver of the Go module describes the frames). It ends when
its stdin ends, so it cannot outlive this process. Nothing but this module holds
it: estimators do not, and so pickles do not.
"""

import json
import os
import signal
import struct
import subprocess
import threading
import weakref

import numpy as np

from ._bin import find_bin, refusal


class MercerError(Exception):
    """A program of Mercer did not answer, or failed."""

    _found = None  # the result that the program printed beside its error


class FitError(ValueError):
    """A request that the program mercer-fit refuses.

    Parameters
    ----------
    message : str
        The program's sentence.
    cause : str, default=""
        ``"not-finite"``, ``"not-positive-definite"`` or ``""``.
    """

    def __init__(self, message, cause=""):
        super().__init__(message)
        self.cause = cause


def ask(header, arrays, threads=None):
    """Send a request to this process's child and return its answer.

    Parameters
    ----------
    header : dict
        The request without its arrays.
    arrays : dict of str to ndarray
        Its arrays, of one or two dimensions, as float64, int64 or int32.
    threads : int, default=None
        Cores to use; 0 means all. None means ``OMP_NUM_THREADS``, or all.

    Returns
    -------
    header, arrays : dict, dict of str to ndarray

    Raises
    ------
    FitError
        If the child refuses the request.
    MercerError
        If the child ends before it has answered. The next call starts another.
    """
    if threads is None:
        threads = _threads()
    answer, results = _here.ask({**header, "threads": threads}, arrays)
    if answer.get("error"):
        raise FitError(answer["error"], answer.get("cause", ""))
    return answer, results


def child_pid():
    """Return the process id of this process's child, or None if none runs."""
    return _here.pid()


def _threads():
    """Return the cores that OMP_NUM_THREADS allows (joblib sets it in its workers), or 0."""
    first = os.environ.get("OMP_NUM_THREADS", "").split(",")[0].strip()
    return int(first) if first.isdigit() else 0


class _Here:
    """The child of this process, if one runs, and the lock under which it is used."""

    def __init__(self):
        self.lock = threading.Lock()
        self.child = None

    def ask(self, header, arrays):
        with self.lock:
            if self.child is None or self.child.ended():
                self.child = None  # a failed start leaves none
                self.child = _Child()
            try:
                return self.child.ask(header, arrays)
            except BaseException:  # KeyboardInterrupt too: half a frame is in a pipe
                child, self.child = self.child, None
                child.kill()
                raise

    def pid(self):
        child = self.child
        return None if child is None or child.ended() else child.process.pid


class _Child:
    """A running mercer-fit."""

    def __init__(self):
        # A session of its own keeps a terminal's Ctrl-C from an idle child; where that does not
        # exist (Windows), the next call starts another.
        path = find_bin()
        self.process = subprocess.Popen(
            [path],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            bufsize=0,
            start_new_session=os.name == "posix",
        )
        _widen(self.process)
        self.arrived = memoryview(b"")  # bytes of an answer that were read ahead
        self.finalizer = weakref.finalize(self, _end, self.process)
        self._check(path)

    def _check(self, path):
        """Refuse a program of another version."""
        try:
            answer, _ = self.ask({"op": "interface"}, {})
            why = refusal(path, answer.get("interface"))
        except (ValueError, KeyError, TypeError, AttributeError):  # not an answer of mercer-fit
            why = refusal(path, None)
        except BaseException:
            self.kill()
            raise
        if why:
            self.kill()
            raise MercerError(why)

    def ended(self):
        return self.process.poll() is not None

    def kill(self):
        self.process.kill()
        self.finalizer()

    def ask(self, header, arrays):
        try:
            self._send(header, arrays)
            return self._receive()
        except (BrokenPipeError, EOFError):
            raise MercerError(_obituary(self.process)) from None

    def _send(self, header, arrays):
        arrays = {name: np.ascontiguousarray(a) for name, a in arrays.items()}
        header["arrays"] = [
            {"name": name, "type": _TYPES[a.dtype], "shape": a.shape} for name, a in arrays.items()
        ]
        text = json.dumps(header, allow_nan=False).encode()
        small = bytearray(struct.pack("<I", len(text)) + text)
        for a in arrays.values():
            if not a.size:
                continue
            if a.nbytes < _TOGETHER:
                small += memoryview(a).cast("B")
                continue
            self._write(small)
            self._write(memoryview(a).cast("B"))
            small = bytearray()
        self._write(small)

    def _write(self, data):
        view = memoryview(data)
        while view:
            view = view[self.process.stdin.write(view) :]

    def _receive(self):
        (length,) = struct.unpack("<I", self._read(bytearray(4)))
        if length > _HEADER:
            raise ValueError("the program's answer is none of mercer-fit")
        header = json.loads(self._read(bytearray(length)))
        results = {}
        for a in header["arrays"]:
            out = np.empty(a["shape"], dtype=_DTYPES[a["type"]])
            if out.size:
                self._read(memoryview(out).cast("B"))
            results[a["name"]] = out
        return header, results

    def _read(self, into):
        view = memoryview(into)
        while view:
            if not self.arrived and len(view) >= _TOGETHER:
                n = self.process.stdout.readinto(view)
                if not n:
                    raise EOFError
            else:
                n = self._take(view)
            view = view[n:]
        return into

    def _take(self, view):
        """Copy bytes that were read ahead into a view, and return how many."""
        if not self.arrived:
            self.arrived = memoryview(self.process.stdout.read(_TOGETHER))
            if not self.arrived:
                raise EOFError
        n = min(len(view), len(self.arrived))
        view[:n], self.arrived = self.arrived[:n], self.arrived[n:]
        return n


# Pieces below this size, in bytes, share a system call. The streams themselves have no buffers: a
# buffer has a lock, which another thread can hold while this process forks.
_TOGETHER = 1 << 16

_HEADER = 1 << 20  # bytes of the longest header, as in internal/fitserver

_DTYPES = {"f8": np.dtype("<f8"), "i8": np.dtype("<i8"), "i4": np.dtype("<i4")}
_TYPES = {dtype: name for name, dtype in _DTYPES.items()}

_PIPE_BYTES = 1 << 20  # the most that Linux gives to every user


def _widen(process):
    """Enlarge the pipes, where that is possible: it spares switches between the processes."""
    try:
        import fcntl

        for pipe in (process.stdin, process.stdout):
            fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, _PIPE_BYTES)
    except (ImportError, AttributeError, OSError):
        return  # not Linux, or this user has too many large pipes: small ones work as well


def _end(process):
    """End the child and wait for it."""
    process.stdin.close()
    process.stdout.close()
    try:
        process.wait(timeout=1)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _obituary(process):
    """Return a sentence about a child that ended by itself."""
    try:
        code = process.wait(timeout=1)
    except subprocess.TimeoutExpired:
        return f"mercer-fit (process {process.pid}) closed its output before it answered"
    if code >= 0:
        return f"mercer-fit (process {process.pid}) ended with exit code {code} before it answered"
    if -code == getattr(signal, "SIGKILL", None):
        return (
            f"mercer-fit (process {process.pid}) was killed before it answered;"
            " Linux kills processes when memory runs out"
        )
    return f"mercer-fit (process {process.pid}) was ended by signal {-code} before it answered"


_here = _Here()


def _forget():
    """Let a forked process forget its parent's child: close the pipes, end nothing."""
    global _here
    child, _here = _here.child, _Here()
    if child is not None:
        child.finalizer.detach()
        child.process.returncode = 0  # it is not this process's to wait for
        child.process.stdin.close()
        child.process.stdout.close()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
