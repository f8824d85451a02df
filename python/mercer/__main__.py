"""``python -m mercer`` runs the program mercer where it is installed, and otherwise says what is."""

import os
import subprocess
import sys

from . import __version__, find_bin


def main():
    try:
        program = find_bin("mercer")
    except FileNotFoundError:
        if sys.argv[1:]:
            sys.exit("mercer: this wheel has the estimators only; the program mercer is not installed")
        print(f"mercer {__version__}, with {find_bin()}")
        return
    if os.name == "posix":
        os.execv(program, [program, *sys.argv[1:]])
    sys.exit(subprocess.run([program, *sys.argv[1:]]).returncode)


if __name__ == "__main__":
    main()
