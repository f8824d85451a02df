from collections.abc import Callable
from os import PathLike
from typing import Any

from mercer._child import MercerError

class JobError(MercerError):
    line: int | None

class DataError(MercerError):
    site: Any
    column: str | None
    index: Any
    def __init__(self, message: str, site: Any = None, column: str | None = None, index: Any = None) -> None: ...

class Refused(MercerError): ...
class PeerError(MercerError): ...
class Timeout(MercerError): ...

def run(
    *arguments: str | PathLike[str],
    timeout: float | None = None,
    progress: Callable[[str], object] | None = None,
    folder: str | PathLike[str] | None = None,
) -> tuple[Any, list[str]]: ...
