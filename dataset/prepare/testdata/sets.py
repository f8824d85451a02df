"""Compares Mercer with scikit-learn's Pipeline on six public sets, in one process and between daemons.

    python3 sets.py MERCER DATA [NAME ...]     # needs scikit-learn and pandas

MERCER is the program, DATA the folder of the public sets, NAME one or more of them. Every seventh
cell of two columns becomes a gap. Three parties hold the rows, of which the last one's are held
out; where a set is known by columns, two parties hold other columns of the same rows, too. The
pipeline is fitted on the same training rows: SimpleImputer and StandardScaler on numbers,
OneHotEncoder on categories, then SVC or SVR, by a tolerance of 1e-10 on both sides.

LIBSVM keeps its kernel matrix in float32, so that its solution misses the optimality conditions of
the problem in float64. "polished" is the difference from the solution in float64 that an active-set
method finds from scikit-learn's.
"""
import gzip
import json
import os
import socket
import subprocess
import sys
import tempfile
import time

import numpy as np
import pandas as pd
from scipy.linalg import lu_factor, lu_solve
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_svmlight_file
from sklearn.impute import SimpleImputer
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC, SVR

MOST_ROWS = 16384  # of one okra or gram job
LEAST = 100  # rows of a set in which a column does not have its commonest value
C, EPSILON = {SVC: 1, SVR: 10}, 0.1


def numbered(table):
    return table.set_axis([f"x{i}" for i in range(table.shape[1])], axis=1)


def words(column):
    order = {v: f"k{i}" for i, v in enumerate(sorted(column.unique()))}
    return column.map(order)


def digits(data):
    table = pd.read_csv(f"{data}/digits/digits.csv.gz", header=None)
    return numbered(table.iloc[:, :64].astype(float)), table[64].astype(int).astype(str)


def wdbc(data):
    table = pd.read_csv(f"{data}/breast-cancer/wdbc.csv", skiprows=1, header=None)
    return numbered(table.iloc[:, :30].astype(float)), table[30].astype(str)


def credit(data):
    guest = pd.read_csv(f"{data}/default-credit/guest.csv").set_index("id")
    host = pd.read_csv(f"{data}/default-credit/host.csv").set_index("id").add_prefix("h")
    table = guest.join(host).reset_index(drop=True)
    for name in ("hx1", "hx2", "hx3"):  # sex, education, marriage
        table[name] = words(table[name])
    return table.drop(columns="y"), table["y"].astype(str)


def libsvm(path):
    x, y = load_svmlight_file(path)
    return numbered(pd.DataFrame(x.toarray())), pd.Series(y.astype(int).astype(str))


def diabetes(data):
    rows = pd.read_csv(gzip.open(f"{data}/diabetes/diabetes_data_raw.csv.gz"), sep=r"\s+", header=None)
    table = numbered(rows.astype(float))
    table["x1"] = words(table["x1"])  # sex
    target = pd.read_csv(gzip.open(f"{data}/diabetes/diabetes_target.csv.gz"), header=None)[0]
    return table, target.map(repr)


SETS = {
    "digits": (digits, SVC, False),
    "wdbc": (wdbc, SVC, True),
    "phishing": (lambda data: libsvm(f"{data}/phishing/phishing"), SVC, True),
    "a9a": (lambda data: libsvm(f"{data}/a9a/a9a"), SVC, True),
    "default-credit": (credit, SVC, True),
    "diabetes": (diabetes, SVR, False),
}


def dirty(table):
    """Makes gaps in two columns, and leaves out columns in which nearly all cells are equal.

    A party with fewer than ten other cells would fit the column as constant, and the pipeline would not.
    """
    for k, name in enumerate([c for c in table if table[c].dtype == float][:2]):
        table.loc[table.index[k::7], name] = np.nan
    return table[[c for c in table if len(table) - table[c].value_counts(dropna=False).iloc[0] >= LEAST]]


def split(rows):
    """A part in the place of each row: the three parties' rows, the last one's held out."""
    return np.random.default_rng(1).choice(3, size=rows, p=[0.4, 0.35, 0.25])


class Reference:
    """scikit-learn's pipeline, fitted on the training rows."""

    def __init__(self, table, labels, estimator, train):
        self.numbers = [c for c in table if table[c].dtype == float]
        self.categories = [c for c in table if c not in self.numbers]
        self.prepare = ColumnTransformer([
            ("numbers", make_pipeline(SimpleImputer(strategy="mean"), StandardScaler()), self.numbers),
            ("categories", OneHotEncoder(sparse_output=False), self.categories)])
        self.train = self.prepare.fit_transform(table[train])
        self.gamma = 0.5 / width(table)
        options = {"decision_function_shape": "ovo"} if estimator is SVC else {"epsilon": EPSILON}
        self.machine = estimator(gamma=self.gamma, C=C[estimator], tol=1e-10, cache_size=2000, **options)
        self.labels = labels[train].values if estimator is SVC else labels[train].astype(float).values
        self.machine.fit(self.train, self.labels)
        self.test = self.prepare.transform(table[~train])

    def decisions(self):
        if isinstance(self.machine, SVC):
            return self.machine.decision_function(self.test).reshape(len(self.test), -1)
        return self.machine.predict(self.test).reshape(-1, 1)

    def polished(self):
        """The decisions of the solutions in float64 that lie next to scikit-learn's."""
        limit, dense = self.machine.C, np.zeros((self.machine.dual_coef_.shape[0], len(self.train)))
        dense[:, self.machine.support_] = self.machine.dual_coef_
        if isinstance(self.machine, SVR):  # a row pulls up or down: two coefficients
            n = len(self.train)
            rows, zero, most = np.tile(np.arange(n), 2), np.zeros(n), np.full(n, limit)
            a = np.append(np.maximum(dense[0], 0), np.minimum(dense[0], 0))
            target = np.append(self.labels - EPSILON, self.labels + EPSILON)
            return self.exactly(rows, a, target, np.append(zero, -most), np.append(most, zero))
        codes = np.searchsorted(self.machine.classes_, self.labels)
        columns = []
        for i in range(len(self.machine.classes_)):
            for j in range(i + 1, len(self.machine.classes_)):
                rows = np.flatnonzero((codes == i) | (codes == j))
                sign = np.where(codes[rows] == i, 1.0, -1.0)
                a = np.where(codes[rows] == i, dense[j - 1, rows], dense[i if i < len(dense) else 0, rows])
                if len(self.machine.classes_) == 2:  # scikit-learn turns the sign of two classes
                    a, sign = dense[0, rows], -sign
                columns.append(self.exactly(rows, a, sign, np.minimum(0, sign * limit), np.maximum(0, sign * limit)))
        return np.hstack(columns)

    def exactly(self, rows, a, target, lower, upper):
        """One machine's decisions: its coefficients a, within bounds, are solved for in float64.

        Of a free coefficient the decision is the row's target. At its lower bound it is no less,
        at its upper bound no more, up to 1e-10; otherwise the coefficient becomes free.
        """
        x, a = self.train[rows], a.copy()
        free = (a > lower + 1e-9) & (a < upper - 1e-9)
        for _ in range(60):
            offset = self.solve(x, a, target, free)
            left = free & ((a < lower) | (a > upper))
            a, free = np.clip(a, lower, upper), free & ~left
            if left.any():
                continue
            used = a != 0
            rest = target - rbf_kernel(x, x[used], gamma=self.gamma) @ a[used] - offset
            wrong = ~free & (((a <= lower) & (rest > 1e-10)) | ((a >= upper) & (rest < -1e-10)))
            if not wrong.any():
                return (rbf_kernel(self.test, x[used], gamma=self.gamma) @ a[used] + offset).reshape(-1, 1)
            free |= wrong
        return np.full((len(self.test), 1), np.nan)

    def solve(self, x, a, target, free):
        """Sets the free coefficients to those whose rows have their targets, and returns the offset.

        Equal rows make the system singular, so that a little is added to its diagonal and the step
        is made three times.
        """
        used, f, offset = free | (a != 0), int(free.sum()), 0.0
        kernel = rbf_kernel(x[free], x[used], gamma=self.gamma)
        system = np.ones((f + 1, f + 1))
        system[:f, :f] = kernel[:, free[used]] + 1e-11 * np.eye(f)
        system[f, f] = 0
        factors = lu_factor(system)
        for _ in range(3):
            step = lu_solve(factors, np.append(target[free] - kernel @ a[used] - offset, -a.sum()))
            a[free] += step[:f]
            offset += step[f]
        return offset


def width(table):
    """The number of prepared columns."""
    return sum(1 if table[c].dtype == float else table[c].nunique() for c in table)


def schema(table, owners=None):
    lines = ["    schema:"]
    for name in table:
        key = f"{owners[name]}.{name}" if owners else name
        if table[name].dtype != float:
            lines.append(f"      {key}: {{type: category, categories: [{', '.join(sorted(table[name].unique()))}]}}")
            continue
        gaps = ", missing: mean" if table[name].isna().any() else ""
        low, high = float(np.floor(table[name].min() - 1)), float(np.ceil(table[name].max() + 1))
        lines.append(f"      {key}: {{range: [{low!r}, {high!r}]{gaps}}}")
    return "\n".join(lines)


def job(name, data, protocol, gamma, estimator):
    learner = f"svc, C: {C[SVC]}" if estimator is SVC else f"svr, C: {C[SVR]}, epsilon: {EPSILON}"
    return f"""apiVersion: mercer/v1
kind: Job
metadata: {{name: {name}}}
spec:
  seed: 1
  data:
{data}
    scale: standard
  protocol: {protocol}
  kernel: {{name: rbf, gamma: {gamma!r}}}
  learner: {{name: {learner}, tol: 1.0e-10}}
  compare: []
"""


def write(path, text):
    with open(path, "w") as file:
        file.write(text)


def simulate(mercer, folder, text):
    write(f"{folder}/job.yaml", text)
    run(mercer, "simulate", "job.yaml", "--out", "out", "--json", cwd=folder)
    return predictions(f"{folder}/out")


def run(*command, cwd):
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(command)}: exit {done.returncode}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}")
    return done.stdout


def predictions(folder):
    return pd.read_csv(f"{folder}/predictions.csv", dtype=str)


def values(table, estimator):
    columns = [c for c in table if c.startswith("score")] if estimator is SVC else ["predicted"]
    return table[columns].astype(float).values


class Federation:
    """A coordinator and parties on loopback, each with one table called rows."""

    POLICY = "{protocols: [okra, gram], splits: [party], floors: {rows: 10, held_out_rows: 10, training_rows: 10}}"

    def __init__(self, mercer, folder, entries):
        """entries has each party's keys of its table, which is the file PARTY.csv of the folder."""
        self.mercer, self.folder, self.processes = mercer, folder, []
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            address = f"127.0.0.1:{s.getsockname()[1]}"
        self.run("federation", "init", "--home", "boss", "--name", "boss", "--role", "coordinator", "--listen", address)
        for p, keys in entries.items():
            self.run("federation", "init", "--home", p, "--name", p, "--coordinator", f"nats://{address}")
            entry = f"path: ../{p}.csv, policy: {self.POLICY}, {keys}"
            with open(f"{folder}/{p}/config.yaml", "a") as config:
                config.write(f"data:\n  rows: {{{entry}}}\n")
        members = ["boss", *entries]
        self.run("federation", "roster", "six-sets", *[f"{m}/member.yaml" for m in members], "--out", "roster.yaml")
        for m in members:
            self.run("federation", "join", "--home", m, "roster.yaml", "--yes")

    def __enter__(self):
        for home in sorted(os.listdir(self.folder)):
            if os.path.exists(f"{self.folder}/{home}/identity"):
                self.start("coordinator" if home == "boss" else "party", home)
        return self

    def __exit__(self, *failure):
        for p in self.processes:
            p.terminate()
            p.wait(30)

    def run(self, *command):
        return run(self.mercer, *command, cwd=self.folder)

    def start(self, role, home):
        command = [self.mercer, role, "--home", home]
        with open(f"{self.folder}/{home}.log", "w") as log:
            self.processes.append(subprocess.Popen(command, cwd=self.folder, stdout=log, stderr=log))
        time.sleep(1)

    def train(self, text):
        """Returns the job's id and the coordinator's predictions of the held-out rows."""
        write(f"{self.folder}/deployed.yaml", text)
        answer = self.run("job", "submit", "deployed.yaml", "--home", "boss", "--wait", "--json")
        ident = json.loads(answer)["result"]["id"]
        self.run("job", "show", ident, "--home", "boss", "--out", "shown")
        return ident, predictions(f"{self.folder}/shown")


def rows(mercer, name, table, labels, estimator, folder):
    """Three parties hold the rows; the rows of east are held out."""
    parts = split(len(table))
    for k, party in enumerate(("north", "south", "east")):
        mine = table[parts == k].copy()
        mine.insert(0, "id", [f"r{i}" for i in np.flatnonzero(parts == k)])
        mine["label"] = labels[parts == k].values
        mine.to_csv(f"{folder}/{party}.csv", index=False)
    reference = Reference(table, labels, estimator, parts != 2)
    sources = "    sources: {north: north.csv, south: south.csv, east: east.csv}\n    id: id\n    label: label"
    common = "\n    test: {party: east}\n" + schema(table)
    protocol = "{name: okra, wire: float64}"
    here = simulate(mercer, folder, job(name, sources + common, protocol, reference.gamma, estimator))
    with Federation(mercer, folder, dict.fromkeys(["north", "south", "east"], "id: id, label: label")) as federation:
        source = "    source: rows\n    partition: {parties: [north, south, east]}"
        _, there = federation.train(job(name, source + common, protocol, reference.gamma, estimator))
    report(name, "okra", reference, estimator, values(here, estimator), "simulate")
    report(name, "okra", reference, estimator, values(there, estimator), "deployed")


def columns(mercer, name, table, labels, estimator, folder):
    """Guest has the labels and the first half of the columns, host the others, in another order of rows."""
    half = table.shape[1] // 2
    owners = {c: "guest" if i < half else "host" for i, c in enumerate(table)}
    ids = [f"r{i}" for i in range(len(table))]
    guest = table.iloc[:, :half].assign(label=labels.values)
    guest.insert(0, "id", ids)
    guest.to_csv(f"{folder}/guest.csv", index=False)
    host = table.iloc[:, half:].copy()
    host.insert(0, "id", ids)
    host.sample(frac=1, random_state=1).to_csv(f"{folder}/host.csv", index=False)
    sources = "    sources: {guest: guest.csv, host: host.csv}\n    partition: {by: columns}\n"
    sources += "    id: id\n    label: label\n"
    described = schema(table, owners)
    gamma = 0.5 / width(table)

    def compare(found, ids, where):
        """found are the predictions of the held-out rows, ids those rows' in the same order."""
        places = np.array([int(i[1:]) for i in ids])
        reference = Reference(table, labels, estimator, ~np.isin(np.arange(len(table)), places))
        report(name, "gram", reference, estimator, values(found, estimator)[np.argsort(places)], where)

    found = simulate(mercer, folder, job(name, sources + described, "{name: gram}", gamma, estimator))
    compare(found, found["id"], "simulate")
    with Federation(mercer, folder, {"guest": "id: id, label: label", "host": "id: id, label: none"}) as federation:
        source = "    source: rows\n    partition: {by: columns, parties: [guest, host]}\n"
        ident, found = federation.train(job(name, source + described, "{name: gram}", gamma, estimator))
        aligned = federation.run("job", "show", ident, "--home", "guest", "--alignment").split()[1:]
    compare(found, aligned[-len(found):], "deployed")  # training rows come first


def report(name, protocol, reference, estimator, found, where):
    theirs, polished = reference.decisions(), reference.polished()
    if estimator is SVC and theirs.shape[1] == 1:  # Mercer's score A over B is above 0 for A, scikit-learn's for B
        found = -found
    rows, width = reference.train.shape
    print(f"{name:15}{protocol:6}{where:10}{rows:6} x {width:<4} held out {len(theirs):5}",
          f"from scikit-learn {np.abs(found - theirs).max():.1e} polished {np.abs(found - polished).max():.1e}",
          f"decisions up to {np.abs(theirs).max():.3g}", flush=True)


def main(mercer, data, *names):
    for name in names or SETS:
        read, estimator, by_columns = SETS[name]
        table, labels = read(data)
        table, labels = dirty(table[:MOST_ROWS].copy()), labels[:MOST_ROWS]
        with tempfile.TemporaryDirectory() as folder:
            rows(os.path.abspath(mercer), name, table, labels, estimator, folder)
        if by_columns:
            with tempfile.TemporaryDirectory() as folder:
                columns(os.path.abspath(mercer), name, table, labels, estimator, folder)


if __name__ == "__main__":
    main(*sys.argv[1:])
