"""One line that says how far a job is: in a terminal or a notebook, and nowhere else."""

import contextlib
import shutil
import sys
import threading
import time

_EVERY = 1.0  # seconds between two looks at the job
_WIDTH = 24  # characters of the bar


@contextlib.contextmanager
def shown(look):
    """Show a job's progress while a block runs.

    Parameters
    ----------
    look : callable
        Returns the job as ``mercer job show`` describes it.
    """
    line = _line()
    if line is None:
        yield
        return
    ended = threading.Event()
    watcher = threading.Thread(target=_watch, args=(look, line, ended), daemon=True)
    watcher.start()
    try:
        yield
    finally:
        ended.set()
        watcher.join()
        line.end()


def _watch(look, line, ended):
    """Show the job until the block ends. The block itself reports errors."""
    began = time.monotonic()
    while not ended.wait(_EVERY):
        try:
            job = look()
        except Exception:
            continue
        if not ended.is_set():
            line.show(text(job, time.monotonic() - began))


def text(job, seconds):
    """Return a line about a job that has been watched for some seconds."""
    said = job.get("stage") or job["state"]
    part = job.get("part")
    if part and part["total"] > 0:
        full = min(_WIDTH, _WIDTH * part["done"] // part["total"])
        name = "" if part["name"] == said else f" {part['name']}"
        said += f":{name} [{'#' * full}{'.' * (_WIDTH - full)}] {part['done']} of {part['total']}"
    if job.get("waiting"):
        said += f", waits for {', '.join(job['waiting']['parties'])}"
    return f"{said}, {seconds:.0f} s"


def _line():
    """Return where a line can be shown in place: a notebook, a terminal or None."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    if shell is not None and type(shell).__name__ == "ZMQInteractiveShell":
        return _Notebook()
    if sys.stderr is not None and sys.stderr.isatty():
        return _Terminal(sys.stderr)
    return None


class _Terminal:
    """The last line of a terminal."""

    def __init__(self, stream):
        self._stream = stream

    def show(self, said):
        wide = shutil.get_terminal_size().columns - 1
        self._stream.write(f"\r{said[:wide]}\x1b[K")
        self._stream.flush()

    def end(self):
        self.show("")


class _Notebook:
    """An output of a notebook's cell, updated in place."""

    def __init__(self):
        from IPython.display import Pretty, display

        self._wrap = Pretty
        self._output = display(Pretty("waiting"), display_id=True)

    def show(self, said):
        self._output.update(self._wrap(said))

    def end(self):
        self.show("")
