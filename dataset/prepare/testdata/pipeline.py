"""Writes twelve dirty tables, and what scikit-learn's Pipeline makes of them, into golden.json.

    python3 pipeline.py            # needs scikit-learn and pandas

Each table has one kind of dirt. The golden has the fills, the scaling, the prepared rows of the
first lines and the decisions of an SVC on all rows. pandas reads the tables by options that say
the same as the mapping of the Go test; nothing is shared with Mercer but the tables.
"""
import io
import json
import math
import random

import numpy as np
import pandas as pd
import sklearn
from sklearn.compose import ColumnTransformer
from sklearn.impute import MissingIndicator, SimpleImputer
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, OrdinalEncoder, StandardScaler
from sklearn.svm import SVC

ROWS = 140


def people(seed):
    r = random.Random(seed)
    for i in range(ROWS):
        age, sex, creatinine = r.randint(20, 90), r.choice("FM"), math.exp(r.gauss(4.4, 0.4))
        smoker = r.choices(["never", "former", "current", "pipe"], [60, 25, 25, 3])[0]
        stage, day = r.choice(["I", "II", "III"]), "20%02d-%02d-%02d" % (r.randint(10, 24), r.randint(1, 12), r.randint(1, 28))
        risk = (age - 55) / 20 + (creatinine - 85) / 40 + (smoker != "never") + r.gauss(0, 0.5)
        yield dict(patient="p%d" % (1000 * seed + i), age=age, sex=sex, creatinine=round(creatinine, 4), smoker=smoker, stage=stage,
                   admitted=day, diagnosis="ill" if risk > 0.3 else "well")


def write(name, rows, delimiter=",", encoding="utf-8", head=None, bom=False, end="\n"):
    rows = list(rows)
    head = head or list(rows[0])
    lines = [delimiter.join(head)] + [delimiter.join(str(v) for v in row.values()) for row in rows]
    text = ("\ufeff" if bom else "") + end.join(lines) + end
    with open(name, "wb") as f:
        f.write(text.encode(encoding))


def gaps(rows, column, word, every):
    for i, row in enumerate(rows):
        if i % every == 0:
            row[column] = word
        yield row


NUMBER, CATEGORY, ORDERED = "number", "category", "ordered"


def numbers(fill, log=False):
    steps = [("fill", SimpleImputer(strategy=fill) if fill else "passthrough")]
    if log:
        steps.append(("log", FunctionTransformer(np.log)))
    return Pipeline(steps + [("scale", StandardScaler())])


def words(categories, fill=None, **more):
    steps = [("fill", SimpleImputer(strategy="most_frequent"))] if fill else []
    return Pipeline(steps + [("hot", OneHotEncoder(categories=[categories], sparse_output=False, **more))])


def tables():
    """Gives name, frame, transformers in the schema's order, names of columns."""
    plain = dict(dtype={"patient": str})
    sex, smoker, stage = ["F", "M"], ["current", "former", "never", "pipe"], ["I", "II", "III"]

    write("empty.csv", gaps(people(1), "creatinine", "", 7))
    yield "empty", pd.read_csv("empty.csv", **plain), [("creatinine", numbers("mean")), ("age", numbers(None))]

    write("na.csv", gaps(gaps(people(2), "creatinine", "NA", 6), "age", "-9", 11))
    yield "na", pd.read_csv("na.csv", na_values=["NA", "-9"], **plain), [("creatinine", numbers("median")), ("age", numbers("mean"))]

    write("sex.csv", people(3))
    yield "sex", pd.read_csv("sex.csv", **plain), [("sex", words(sex)), ("age", numbers(None))]

    write("smoker.csv", gaps(people(4), "smoker", "", 9))
    yield "smoker", pd.read_csv("smoker.csv", **plain), [("smoker", words(smoker, fill="most")), ("creatinine", numbers(None))]

    write("stage.csv", people(5))
    ordered = make_pipeline(OrdinalEncoder(categories=[stage]), StandardScaler())
    yield "stage", pd.read_csv("stage.csv", **plain), [("stage", ordered), ("age", numbers(None))]

    write("date.csv", people(6))
    year = make_pipeline(FunctionTransformer(lambda d: pd.to_datetime(d.iloc[:, 0]).dt.year.to_numpy()[:, None]), StandardScaler())
    yield "date", pd.read_csv("date.csv", **plain), [("admitted", year), ("age", numbers(None))]

    comma = [dict(r, creatinine=str(r["creatinine"]).replace(".", ",")) for r in people(7)]
    write("comma.csv", comma, delimiter=";")
    yield "comma", pd.read_csv("comma.csv", sep=";", decimal=",", **plain), [("creatinine", numbers(None)), ("age", numbers(None))]

    german = [dict(r, sex={"F": "w", "M": "m"}[r["sex"]], diagnosis={"ill": "krank", "well": "gesund"}[r["diagnosis"]]) for r in people(8)]
    head = ["kunde", "alter", "geschlecht", "kreatinin (µmol)", "raucher", "stadium", "aufnahme", "befund"]
    write("latin.csv", german, encoding="windows-1252", head=head)
    frame = pd.read_csv("latin.csv", encoding="windows-1252", dtype={"kunde": str})
    frame = frame.rename(columns={"kunde": "patient", "alter": "age", "geschlecht": "sex", "kreatinin (µmol)": "creatinine", "befund": "diagnosis"})
    frame["sex"], frame["diagnosis"] = frame["sex"].map({"w": "F", "m": "M"}), frame["diagnosis"].map({"krank": "ill", "gesund": "well"})
    yield "latin", frame, [("sex", words(sex)), ("creatinine", numbers(None)), ("age", numbers(None))]

    write("unit.csv", [dict(r, creatinine="%.6f" % (r["creatinine"] / 88.42)) for r in people(9)])
    frame = pd.read_csv("unit.csv", **plain)
    frame["creatinine"] *= 88.42
    yield "unit", frame, [("creatinine", numbers(None, log=True)), ("age", numbers(None))]

    write("bom.csv", people(10), delimiter="\t", bom=True, end="\r\n")
    yield "bom", pd.read_csv("bom.csv", sep="\t", encoding="utf-8-sig", **plain), [("age", numbers(None)), ("creatinine", numbers(None))]

    write("indicator.csv", gaps(people(11), "creatinine", "", 5))
    frame = pd.read_csv("indicator.csv", **plain)
    yield "indicator", frame, [("creatinine", numbers("mean", log=True)), ("creatinine#missing", make_pipeline(MissingIndicator(features="all"), FunctionTransformer(lambda x: x * 1.0))), ("age", numbers(None))]

    smoke = [dict(r, smoker={"never": "no", "former": "no"}.get(r["smoker"], "YES")) for r in people(12)]
    write("boolean.csv", gaps(smoke, "age", "999", 20))
    frame = pd.read_csv("boolean.csv", **plain)
    frame.loc[frame["age"] > 120, "age"] = np.nan
    yield "boolean", frame, [("smoker", FunctionTransformer(lambda x: (x == "YES").to_numpy() * 1.0)), ("age", numbers("mean"))]


def golden(frame, steps):
    transform = ColumnTransformer([(name, step, [name.split("#")[0]]) for name, step in steps])
    x = transform.fit_transform(frame)
    fills, scales = {}, {}
    for name, step in transform.named_transformers_.items():
        for part in getattr(step, "steps", []):
            if isinstance(part[1], SimpleImputer):
                fills[name] = part[1].statistics_[0]
            if isinstance(part[1], StandardScaler):
                scales[name] = [float(part[1].mean_[0]), float(part[1].scale_[0])]
    machine = SVC(C=1, gamma=0.5, tol=1e-10).fit(x, frame["diagnosis"])
    return dict(fills=fills, scales=scales, rows=x[:5].tolist(), decisions=machine.decision_function(x).tolist(),
                classes=machine.classes_.tolist())


if __name__ == "__main__":
    out = {"scikit-learn": sklearn.__version__}
    for name, frame, steps in tables():
        out[name] = golden(frame, steps)
    with open("golden.json", "w") as f:
        json.dump(out, f)
