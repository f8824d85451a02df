from collections.abc import Callable, Mapping
from os import PathLike
from typing import Any

import pandas as pd

from mercer._job import Job
from mercer._result import Result

def simulate(
    data: pd.DataFrame | Mapping[Any, pd.DataFrame] | None,
    job: Job,
    *,
    site: str | None = None,
    keep: str | PathLike[str] | None = None,
    timeout: float | None = None,
    progress: Callable[[str], object] | None = None,
) -> Result: ...
