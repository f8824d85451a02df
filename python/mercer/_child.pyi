from typing import Any

import numpy as np

class MercerError(Exception): ...

class FitError(ValueError):
    cause: str
    def __init__(self, message: str, cause: str = "") -> None: ...

def ask(
    header: dict[str, Any], arrays: dict[str, np.ndarray], threads: int | None = None
) -> tuple[dict[str, Any], dict[str, np.ndarray]]: ...
def child_pid() -> int | None: ...
