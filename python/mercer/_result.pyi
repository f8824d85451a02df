from os import PathLike
from typing import Any

import pandas as pd

class Leakage:
    sentences: dict[str, list[str]]
    rows: dict[str, dict[str, str]]
    def __getattr__(self, role: str) -> list[str]: ...
    def summary(self) -> str: ...

class Result:
    document: dict[str, Any]
    metrics: dict[str, float]
    intervals: dict[str, tuple[float, float]]
    training_rows: int | None
    held_out_rows: int | None
    leakage: Leakage
    predictions: pd.DataFrame | None
    report: str | None
    notices: list[str]
    @property
    def scores(self) -> pd.DataFrame: ...
    @property
    def by_site(self) -> pd.DataFrame | None: ...
    @property
    def grid(self) -> pd.DataFrame: ...
    def plot(self, kind: str = "scores", ax: Any = None) -> Any: ...
    def save(self, folder: str | PathLike[str]) -> None: ...
