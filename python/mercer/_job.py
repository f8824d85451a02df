"""Jobs: one object for a simulation and for a federation."""

import json
import re
from dataclasses import dataclass, field
from numbers import Real
from pathlib import Path

from ._program import JobError

BY_COLUMNS = ("gram", "fdskl", "pp-svmv", "fd-svrg", "secureboost")


# A fill of gaps in quotes would be a value of the column.
_FILLS = re.compile(r'"missing": "(error|mean|median|most-frequent|category|drop-row)"')


def _plain(match):
    return f'"missing": {match[1]}'


def _listed(value):
    """Return a number or an array of NumPy or pandas as Python's own."""
    if hasattr(value, "tolist"):
        return value.tolist()
    raise JobError(f"the job has {value!r}, which no job file can hold; give numbers, texts, lists and dicts")


def _named(value, what):
    if isinstance(value, str):
        return {"name": value}
    if isinstance(value, dict) and "name" in value:
        return dict(value)
    raise JobError(f"{what} is {value!r}; give a name, or a dict with 'name' and parameters")


@dataclass(frozen=True)
class Job:
    """What to train, on which columns, by which protocol.

    The same job runs in one process (:func:`mercer.simulate`) and between
    organisations (:meth:`mercer.Federation.submit`).

    Parameters
    ----------
    learner : str or dict
        Name of the learner, such as ``"svc"``, or its section of a job file:
        ``{"name": "svc", "C": 10}``. A list of numbers makes a grid.
    kernel : str or dict, default="rbf"
        Name of the kernel, or its section of a job file. An rbf kernel without
        gamma gets 1 in units of the median distance, or with protocol moments
        1 / (2 x columns).
    protocol : str or dict, default="okra"
        Name of the protocol, or its section of a job file.
    label : str
        Column of the labels. "none" for learners without labels.
    id : str or None
        Column of the ids. Protocols by columns need it.
    columns : list of str or None
        Columns to learn from. None means all others.
    dictionary : str, dict or None
        The columns' description: the name of a dictionary that all members have
        approved, or its keys ``columns`` and ``labels`` as in a job file. None lets
        :func:`mercer.simulate` describe the columns by their dtypes.
    test : float, dict, str or None
        Share of rows that are held out, or the section of a job file. None means
        the dictionary's share, or 0.25.
    scale : str, default="standard"
        "none", "minmax" or "standard".
    source : str or None
        Name of the parties' table. Only a federation needs it.
    parties : list of str or None
        Parties of a federation, or sites of a simulation, that take part. None
        means all.
    seed : int, default=1
        Seed of the held-out rows.
    name : str, default="job"
        Name of the job.
    weight : str or None
        Column that says how often each row counts in the training, as
        ``sample_weight`` does: 2 is the same as two equal rows, and 0 or less as
        none. Metrics count each row once. None means 1 each.
    spec : dict
        Further keys of the section ``spec`` of a job file, such as ``compare`` or
        ``prediction``. They win over the arguments.

    Examples
    --------
    >>> import mercer
    >>> job = mercer.Job("svc", kernel={"name": "rbf", "gamma": 0.1}, label="diagnosis")
    >>> print(job.to_yaml().splitlines()[0])
    {"apiVersion": "mercer/v1",
    """

    learner: object
    kernel: object = "rbf"
    protocol: object = "okra"
    label: str = None
    id: str = None
    columns: list = None
    dictionary: object = None
    test: object = None
    scale: str = "standard"
    source: str = None
    parties: list = None
    seed: int = 1
    name: str = "job"
    weight: str = None
    spec: dict = field(default_factory=dict)
    path: str = field(default=None, repr=False)  # of a job that comes from a file
    text: str = field(default=None, repr=False)  # of that file

    @classmethod
    def from_file(cls, path):
        """Read a job file.

        Parameters
        ----------
        path : str or path-like
            The file. It is the same job as for ``mercer simulate`` and
            ``mercer job submit``; its tables are read as it says.

        Returns
        -------
        job : Job
        """
        return cls(learner=None, path=str(Path(path).absolute()), text=Path(path).read_text(encoding="utf-8"))

    def __post_init__(self):
        if self.text is not None:
            return
        if self.label is None:
            raise JobError("the job names no label; give label='COLUMN', or label='none' for a learner without labels")
        for what in ("learner", "kernel", "protocol"):
            _named(getattr(self, what), what)
        for what in ("columns", "parties"):
            if isinstance(getattr(self, what), str):
                raise JobError(f"{what} is a text; give a list of names")

    @property
    def share(self):
        """Share of rows that are held out, if the job gives it as a number."""
        return round(float(self.test), 6) if isinstance(self.test, Real) and not isinstance(self.test, bool) else None

    @property
    def by_columns(self):
        """Whether the parties hold different columns of the same people."""
        return self.text is None and _named(self.protocol, "protocol")["name"] in BY_COLUMNS

    def to_yaml(self):
        """Return the job file. It is written as JSON, which is YAML.

        Returns
        -------
        text : str
        """
        if self.text is not None:
            return self.text
        data = {"source": self.source} if self.source else {}
        if self.dictionary is not None:
            data["dictionary"] = self.dictionary
        if self.columns is not None:
            data["columns"] = list(self.columns)
        return self._written(data)

    def _written(self, data):
        """Return the job file with more keys in its section data."""
        data = {**data, "scale": self.scale}
        if "label" not in data and not isinstance(data.get("dictionary"), dict):
            data["label"] = self.label
        if self.weight is not None:
            data["weight"] = self.weight
        if self.id is not None:
            data["id"] = self.id
        if self.parties is not None:
            data.setdefault("partition", {})["parties"] = list(self.parties)
        if self.test is not None:
            data["test"] = {"fraction": self.share} if self.share is not None else self.test
        kernel, protocol = _named(self.kernel, "kernel"), _named(self.protocol, "protocol")
        if kernel == {"name": "rbf"} and protocol["name"] != "moments":
            kernel |= {"gamma": 1, "gamma_unit": "median"}
        spec = {"seed": self.seed, "data": data, "protocol": protocol, "kernel": kernel, "learner": _named(self.learner, "learner"), **self.spec}
        lines = ",\n ".join(f"{json.dumps(k)}: {_FILLS.sub(_plain, json.dumps(v, default=_listed))}" for k, v in spec.items())
        return f'{{"apiVersion": "mercer/v1",\n"kind": "Job",\n"metadata": {{"name": {json.dumps(self.name)}}},\n"spec": {{{lines}}}}}\n'
