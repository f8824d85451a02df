"""Where the wheel's programs are."""

import os
import shutil
import sys
import sysconfig
from pathlib import Path

_SUFFIX = ".exe" if os.name == "nt" else ""

_INTERFACE = 1  # of the programs that this package understands (internal/fitserver/interface.go)


def refusal(path, interface):
    """Return why a program cannot be used, or None if it has this package's interface.

    Parameters
    ----------
    path : str
        The program.
    interface : object
        The number that the program gives, or None.

    Returns
    -------
    sentence : str or None
    """
    if interface == _INTERFACE:
        return None
    given = "MERCER_BIN" if os.environ.get("MERCER_BIN") else "the installation"
    has = "names no interface" if interface is None else f"has interface {interface}"
    return (
        f"{path} is of another version than this package: the program {has}, and the package needs"
        f" {_INTERFACE}; install both anew from one wheel, or correct {given}"
    )


def find_bin(name="mercer-fit"):
    """Return the path of a program that the wheel brings.

    Parameters
    ----------
    name : str, default="mercer-fit"
        Name of the program, without ``.exe``.

    Returns
    -------
    path : str
        The file that the environment variable ``MERCER_BIN`` names, or the
        program in the folder that it names. Without the variable, the program
        in the folder of this Python's scripts, in the user's folder of scripts,
        beside the package (``pip install --target``) or on the path.

    Raises
    ------
    FileNotFoundError
        If there is no such program.

    Examples
    --------
    >>> import mercer, os
    >>> os.path.basename(mercer.find_bin()).removesuffix(".exe")
    'mercer-fit'
    """
    given = os.environ.get("MERCER_BIN")
    if given:
        path = Path(given)
        if path.is_dir():
            path = path / (name + _SUFFIX)
        elif path.stem != name:
            path = path.with_name(name + _SUFFIX)  # the variable names another program of the same folder
        if path.is_file():
            return str(path.absolute())  # a program may be started in another folder
        raise FileNotFoundError(f"MERCER_BIN is {given!r}, but there is no file {path}")
    for folder in _folders():
        path = folder / (name + _SUFFIX)
        if path.is_file():
            return str(path)
    path = shutil.which(name)
    if path:
        return os.path.abspath(path)
    raise FileNotFoundError(
        f"the program {name} is not installed: install the wheel of package"
        f" {'mercer' if name == 'mercer-fit' else 'mercer-federation'} for this platform,"
        " or let MERCER_BIN name the program"
    )


def _folders():
    yield Path(sysconfig.get_path("scripts"))
    user = sysconfig.get_preferred_scheme("user")
    yield Path(sysconfig.get_path("scripts", user))
    yield Path(__file__).parent.parent / "bin"
    yield Path(sys.prefix) / "bin"
