"""Trains the twelve dirty tables of pipeline.py by okra, simulated and deployed, as sets.py does.

    python3 twelve.py MERCER [NAME ...]     # needs scikit-learn and pandas

Three parties hold the rows of one table, and the last one's 12 are held out. Means and most
frequent words are fitted by the parties. The median of the table "na" is given in the schema,
since parties have medians of 1,024 parts of the range.
"""
import os
import sys
import tempfile

from sklearn.compose import ColumnTransformer
from sklearn.svm import SVC

import pipeline
import sets

AGE, CREATININE = "age: {range: [0, 120]}", "creatinine: {range: [0, 1000]}"
SEX = "sex: {type: category, categories: [F, M]}"
SMOKER = "smoker: {type: category, categories: [current, former, never, pipe], missing: most-frequent}"
OWN = "id: patient, label: diagnosis"
GERMAN = """csv: {encoding: windows-1252}, drop: [raucher], columns: {kunde: {as: patient}, alter: {as: age},
  geschlecht: {as: sex, values: {w: F, m: M}}, kreatinin (µmol): {as: creatinine},
  befund: {as: diagnosis, values: {krank: ill, gesund: well}}}"""

# What a job and the tables' owners say of each table.
TABLES = {
    "empty": ("creatinine: {range: [0, 1000], missing: mean}, " + AGE, ""),
    "na": ("creatinine: {range: [0, 1000], missing: MEDIAN}, age: {range: [0, 120], missing: mean}",
           'csv: {missing: [NA, "-9"]}'),
    "sex": (SEX + ", " + AGE, ""),
    "smoker": (SMOKER + ", " + CREATININE, ""),
    "stage": ("stage: {type: category, categories: [I, II, III], ordered: true}, " + AGE, ""),
    "date": ('admitted: {type: date, format: "%Y-%m-%d", as: year, range: [2000, 2030]}, ' + AGE, ""),
    "comma": (CREATININE + ", " + AGE, 'csv: {delimiter: ";", decimal: ","}'),
    "latin": (", ".join([SEX, CREATININE, AGE]), GERMAN),
    "unit": ("creatinine: {unit: umol/L, range: [1, 3000], transform: log}, " + AGE,
             "columns: {creatinine: {unit: mg/dL, times: 88.42}}"),
    "bom": (AGE + ", " + CREATININE, 'csv: {delimiter: "\\t"}'),
    "indicator": ("creatinine: {range: [1, 1000], missing: mean, indicator: true, transform: log}, " + AGE, ""),
    "boolean": ("smoker: {type: boolean, true: [yes], false: [no]}, "
                "age: {range: [0, 120], outside: missing, missing: mean}", ""),
}


class Fitted(sets.Reference):
    """A pipeline of pipeline.py, fitted on the first rows."""

    def __init__(self, frame, steps, train):
        self.prepare = ColumnTransformer([(name, step, [name.split("#")[0]]) for name, step in steps])
        self.train, self.labels = self.prepare.fit_transform(frame[:train]), frame["diagnosis"][:train].values
        self.gamma = 0.5
        self.machine = SVC(C=1, gamma=self.gamma, tol=1e-10).fit(self.train, self.labels)
        self.test = self.prepare.transform(frame[train:])


def deal(name, folder):
    """Gives the lines of a table to three parties, and returns the number of training rows."""
    with open(f"{name}.csv", "rb") as file:
        head, *lines = file.read().splitlines(keepends=True)
    for party, part in {"north": lines[:64], "south": lines[64:128], "east": lines[128:]}.items():
        with open(f"{folder}/{party}.csv", "wb") as file:
            file.write(head + b"".join(part))
    return 128


def compare(mercer, name, frame, steps, folder):
    schema, mapping = TABLES[name]
    fitted = Fitted(frame, steps, deal(name, folder))
    schema = schema.replace("MEDIAN", repr(float(frame["creatinine"][:128].median())))
    keys = f", {mapping}" if mapping else ""
    sources = "\n".join(f"      {p}: {{path: {p}.csv{keys}}}" for p in ("north", "south", "east"))
    common = f"    test: {{party: east}}\n    schema: {{{schema}}}"
    protocol = "{name: okra, wire: float64}"
    data = f"    sources:\n{sources}\n    id: patient\n    label: diagnosis\n{common}"
    text = sets.job(name, data, protocol, 0.5, SVC)
    sets.report(name, "okra", fitted, SVC, sets.values(sets.simulate(mercer, folder, text), SVC), "simulate")
    with sets.Federation(mercer, folder, dict.fromkeys(["north", "south", "east"], OWN + keys)) as federation:
        source = "    source: rows\n    partition: {parties: [north, south, east]}\n"
        _, found = federation.train(sets.job(name, source + common, protocol, 0.5, SVC))
    sets.report(name, "okra", fitted, SVC, sets.values(found, SVC), "deployed")


def main(mercer, *names):
    mercer = os.path.abspath(mercer)
    with tempfile.TemporaryDirectory() as tables:
        os.chdir(tables)
        for name, frame, steps in pipeline.tables():
            if names and name not in names:
                continue
            with tempfile.TemporaryDirectory() as folder:
                compare(mercer, name, frame, steps, folder)


if __name__ == "__main__":
    main(*sys.argv[1:])
