"""A temporary folder that nobody else can read, and that goes with this process even if it is killed.

Another Python, the keeper, starts the programs that use the folder. Its stdin ends with this process,
however that ends. Then the keeper ends the program that runs, and removes the folder.
"""

import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

# The keeper reads commands from its stdin, one in a line. When a program has ended, it writes a line
# with the exit code to stderr, which begins with a byte that is in no line of a program.
_KEEPER = r"""
import json, os, shutil, signal, subprocess, sys, threading

def tell(program):
    sys.stderr.write("\0%d\n" % program.wait())
    sys.stderr.flush()

for one in (signal.SIGINT, signal.SIGHUP, signal.SIGTERM):
    signal.signal(one, lambda *_: None)
folder, program = sys.argv[1], None
for line in sys.stdin:
    command, where = json.loads(line)
    with open(os.path.join(folder, "document"), "wb") as out:
        program = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, cwd=where, env=dict(os.environ, TMPDIR=folder))
    threading.Thread(target=tell, args=(program,), daemon=True).start()
if program is not None and program.poll() is None:
    program.terminate()  # it gets some seconds to end by itself
    try:
        program.wait(timeout=5)
    except subprocess.TimeoutExpired:
        program.kill()
        program.wait()
shutil.rmtree(folder, ignore_errors=True)
"""


class PrivateFolder:
    """A folder of mode 0700, removed at the end of the ``with`` block or of this process.

    Attributes
    ----------
    path : Path
        The folder.
    """

    def __enter__(self):
        self.path = Path(tempfile.mkdtemp(prefix="mercer-")).absolute()  # of mode 0700
        try:
            self._keeper = subprocess.Popen(
                [sys.executable, "-I", "-S", "-c", _KEEPER, str(self.path)],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                text=True,
                encoding="utf-8",
                start_new_session=True,  # a terminal's Ctrl-C is this process's to answer
            )
        except BaseException:
            shutil.rmtree(self.path, ignore_errors=True)
            raise
        return self

    def __exit__(self, *_error):
        self.end()
        self._keeper.stderr.close()
        shutil.rmtree(self.path, ignore_errors=True)  # if the keeper was killed

    def start(self, command, folder):
        """Start a program in a folder, with this one as its folder for temporary files.

        Parameters
        ----------
        command : list of str
            The program and its arguments.
        folder : path-like or None
            None means this process's own.

        Returns
        -------
        program : _Kept
        """
        self._keeper.stdin.write(json.dumps([command, None if folder is None else str(folder)]) + "\n")
        self._keeper.stdin.flush()
        return _Kept(self)

    def end(self):
        """End the program that runs, if there is one, and remove the folder."""
        if not self._keeper.stdin.closed:
            self._keeper.stdin.close()
        try:
            self._keeper.wait(timeout=10)
        finally:
            self._keeper.kill()
            self._keeper.wait()


class _Kept:
    """A program that a keeper has started."""

    def __init__(self, room):
        self._room, self.code = room, None

    def __enter__(self):
        return self

    def __exit__(self, *_error):
        """Leave what is left to the folder's end."""

    def lines(self):
        """Yield the lines that the program writes to stderr, until it ends."""
        for line in self._room._keeper.stderr:
            if line.startswith("\0"):
                self.code = int(line[1:])
                return
            yield line

    def wait(self):
        """Return the exit code, once the lines have ended; -9 if the keeper was killed."""
        return -9 if self.code is None else self.code

    def stop(self):
        self._room.end()

    def document(self):
        """Return what the program has written to stdout."""
        path = self._room.path / "document"
        return path.read_bytes() if path.is_file() else b""
