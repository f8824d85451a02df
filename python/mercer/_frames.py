"""Frames of several sites become tables, and a description of their columns."""

import datetime
import math
import re

from ._program import DataError, JobError

# Learners of numbers. All others learn classes, or need no labels.
REGRESSIONS = ("svr", "ridge", "gp", "squared", "huber")
DAY = "%Y-%m-%d"  # how a table writes dates
# Words of the program's sentences. A party of such a name would be taken for them.
_TAKEN = set(
    "broker coalition column columns coordinator each every figures from leader member members model numbers only other"
    " parties party pooled rows same seed server site sums table tables that their together value values which with".split()
)


def split(data, site):
    """Return the frame of each site by its name.

    Parameters
    ----------
    data : DataFrame or dict of DataFrame
        One frame with a column that names the site, or the frame of each site.
    site : str or None
        The column that names the site, for one frame.
    """
    import pandas as pd

    if isinstance(data, dict):
        if site is not None:
            raise JobError("data is a dict of frames, which names the sites; leave site out")
        frames = dict(data)
    elif not isinstance(data, pd.DataFrame):
        raise JobError(f"data is a {type(data).__name__}; give a DataFrame, or a dict with the DataFrame of each site")
    elif site is None:
        raise JobError("data is one frame; name its column of sites: site='COLUMN', or give a dict of frames")
    elif site not in data.columns:
        raise JobError(f"the frame has no column {site!r} to tell the sites; it has {', '.join(map(str, data.columns))}")
    elif data[site].isna().any():
        row = data.index[data[site].isna()][0]
        raise DataError(f"column {site!r} names no site in row {row!r}; fill the cell", column=site, index=row)
    else:
        frames = {name: part.drop(columns=site) for name, part in data.groupby(site, sort=True, observed=True)}
    if len(frames) < 2:
        raise JobError(f"there {'is one site' if frames else 'is no site'}; a federation has two or more")
    for name, frame in frames.items():
        if not isinstance(frame, pd.DataFrame):
            raise JobError(f"site {name!r} has a {type(frame).__name__}; give a DataFrame")
        _check_names(name, frame)
        _check_numbers(name, frame)
    return frames


def _check_numbers(site, frame):
    """Refuse infinite numbers, which have no text in a table."""
    for name in frame.select_dtypes("number"):
        infinite = frame.index[frame[name].abs() == math.inf]
        if len(infinite):
            text = f"site {str(site)!r}, row {infinite[0]!r}: column {name!r} is infinite; write a number or a gap"
            raise DataError(text, site, name, infinite[0])


def _check_names(site, frame):
    twice = frame.columns[frame.columns.duplicated()]
    other = [c for c in frame.columns if not isinstance(c, str)]
    if len(twice) or other:
        name = twice[0] if len(twice) else other[0]
        wrong = "twice" if len(twice) else "whose name is no text"
        raise DataError(f"site {site!r} has a column {name!r} {wrong}; rename it", site, name)


def chosen(frames, parties):
    """Return the frames of the sites that take part in a job."""
    if parties is None:
        return frames
    known = {str(site): site for site in frames}
    absent = [p for p in parties if str(p) not in known]
    if absent:
        raise JobError(f"the job names party {absent[0]!r}, but the sites are {', '.join(known)}")
    return {known[str(p)]: frames[known[str(p)]] for p in parties}


def parties(sites):
    """Return a party's name for each site: letters, digits and dashes, all different."""
    names = {}
    for site in sites:
        word = re.sub(r"[^a-z0-9]+", "-", str(site).lower()).strip("-")[:24].strip("-")
        common = word in _TAKEN or len(word) <= 3 and word != str(site)  # "A" must not name every "a" of a sentence
        if not re.match(r"[a-z]", word) or common:
            word = f"site-{word or 1}"
        name, k = word, 2
        while name in names.values():
            name, k = f"{word}-{k}", k + 1
        names[site] = name
    return names


def describe(frames, job, names):
    """Return a dictionary of the columns, from the dtypes and values of all frames.

    Parameters
    ----------
    frames : dict of DataFrame
    job : Job
    names : dict
        The party of each site.

    Returns
    -------
    dictionary : dict
        As in a job file.
    """
    import pandas as pd

    aside = {job.label, job.id, job.weight}
    columns, label = {}, None
    if job.by_columns:
        for site, frame in frames.items():
            for name in _features(frame, job, aside):
                columns[f"{names[site]}.{name}"] = _column(frame[name])
            if job.label in frame.columns:
                label = frame[job.label]
    else:
        together = pd.concat(frames.values(), ignore_index=True)
        for name in _features(together, job, aside):
            columns[name] = _column(together[name])
        if job.label in together.columns:
            label = together[job.label]
    dictionary = {"columns": columns}
    if job.label != "none":
        if label is None:
            raise JobError(f"no site has the label {job.label!r}")
        dictionary["labels"] = {job.label: _label(label, job)}
    if job.weight is not None:
        if not any(job.weight in frame.columns for frame in frames.values()):
            raise JobError(f"no site has the weight {job.weight!r}")
        dictionary["weights"] = {job.weight: {}}
    return dictionary


def _features(frame, job, aside):
    if job.columns is None:
        return [c for c in frame.columns if c not in aside]
    absent = [c for c in job.columns if c not in frame.columns]
    if absent and not job.by_columns:
        raise JobError(f"no site has the column {absent[0]!r}")
    return [c for c in job.columns if c in frame.columns]


def _column(values):
    """Describe one column by its dtype."""
    import pandas as pd
    from pandas.api import types

    values = dated(values)
    if not types.is_numeric_dtype(values) and not types.is_datetime64_any_dtype(values):
        values = values.mask(values == "")  # an empty cell is a gap
    if types.is_timedelta64_dtype(values) or types.is_complex_dtype(values):
        raise DataError(f"column {values.name!r} has dtype {values.dtype}; make numbers of it", column=values.name)
    if values.isna().all():
        raise DataError(f"column {values.name!r} has no value at all; leave it out", column=values.name)
    gaps = {"missing": "median"} if values.isna().any() else {}
    if types.is_bool_dtype(values):
        return {"type": "boolean", **({"missing": "most-frequent"} if gaps else {})}
    if types.is_datetime64_any_dtype(values):
        days = (values.dropna().dt.tz_localize(None) - pd.Timestamp("1970-01-01")).dt.days
        return {"type": "date", "format": DAY, "as": "days", "since": "1970-01-01", "range": _range(days), **gaps}
    if types.is_numeric_dtype(values):
        return {"type": "number", "range": _range(values.dropna().astype(float)), **gaps}
    ordered = isinstance(values.dtype, pd.CategoricalDtype) and values.cat.ordered
    described = {"type": "category", "categories": classes(values.astype(str).where(values.notna()) if values.dtype == object else values)}
    if ordered:
        described["ordered"] = True
    if gaps:
        described["missing"] = "most-frequent" if ordered else "category"
    return described


def dated(values):
    """Return a column of Python's dates or of periods as pandas' dates, and another column as it is.

    A date is the day that its own time zone has; a period is its first day.
    """
    import numpy as np
    import pandas as pd

    if isinstance(values.dtype, pd.PeriodDtype):
        return values.dt.to_timestamp()
    if values.dtype.kind not in "O" or isinstance(values.dtype, pd.CategoricalDtype):
        return values
    gaps = values.isna()
    if gaps.all() or not all(isinstance(v, datetime.date) for v in values[~gaps]):
        return values
    days = [np.datetime64("NaT") if gap else np.datetime64(v.isoformat()[:10]) for v, gap in zip(values, gaps)]
    return pd.Series(np.array(days, dtype="datetime64[s]"), index=values.index, name=values.name)


def _range(values):
    """Return the range of numbers, rounded outwards, so that a job does not show a person's number."""
    least, most = float(values.min()), float(values.max())
    step = 10 ** math.floor(math.log10(max(abs(least), abs(most), 1e-12)))
    low, high = math.floor(least / step) * step, math.ceil(most / step) * step
    if low == high:
        high = low + step
    return [float(f"{low:.12g}"), float(f"{high:.12g}")]


def _label(values, job):
    import pandas as pd

    values = dated(values)
    name = job.learner if isinstance(job.learner, str) else job.learner["name"]
    if name not in REGRESSIONS:
        return {"classes": classes(values)}
    if values.isna().all():
        raise DataError(f"the label's column {job.label!r} has no value at all", column=job.label)
    numbers = pd.to_numeric(values, errors="coerce")
    words = values[values.notna() & numbers.isna()]
    if len(words):
        raise DataError(f"learner {name} predicts numbers, but column {job.label!r} holds {words.iloc[0]!r}", column=job.label)
    return {"range": _range(numbers.dropna().astype(float))}


def classes(values):
    """Return the classes as they are written, the order of a categorical kept."""
    if hasattr(values, "cat"):
        return [str(c) for c in values.cat.categories]
    if values.dtype.kind == "M":
        values = values.dt.strftime(DAY)  # as write writes them
    found = list(values.dropna().unique())
    try:
        return [str(c) for c in sorted(found)]
    except TypeError:  # numbers and words
        return sorted(map(str, found))


def write(frame, path):
    """Write a frame as CSV, a line for each row: dates as YYYY-MM-DD, numbers with all their digits, gaps empty."""
    frame = frame.apply(dated)
    texts = frame.select_dtypes(exclude=["number", "bool", "datetime", "datetimetz"])
    flat = frame.assign(**{name: texts[name].map(_flat, na_action="ignore") for name in texts})
    flat.columns = [_flat(name) for name in frame.columns]
    flat.to_csv(path, index=False, encoding="utf-8", date_format=DAY, lineterminator="\n")


def _flat(value):
    """Return a text without line feeds, by which the program counts lines."""
    return re.sub(r"[\r\n]+", " ", value) if isinstance(value, str) else value
