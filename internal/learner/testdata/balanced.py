"""Writes balanced.json: decisions of scikit-learn's SVC with class_weight="balanced", and its balanced_accuracy in folds."""

import json
import pathlib

import numpy as np
import sklearn
from sklearn.metrics import balanced_accuracy_score
from sklearn.svm import SVC

random = np.random.default_rng(4)
sizes = {"rare": 9, "common": 60, "some": 21}
labels = np.array([name for name, n in sizes.items() for _ in range(n)])
centres = {"rare": (0, 0), "common": (1, 0.2), "some": (0.4, 1)}
x = np.round([np.array(centres[name]) + 0.6 * random.normal(size=2) for name in labels], 3)
order = random.permutation(len(labels))
x, labels = x[order], labels[order]
out = {"scikit-learn": sklearn.__version__, "x": x.tolist(), "labels": labels.tolist()}
for name, y in {"three": labels, "binary": np.where(labels == "rare", "a", "b")}.items():
    machine = SVC(C=2, gamma=0.5, class_weight="balanced", decision_function_shape="ovo", tol=1e-10).fit(x[:60], y[:60])
    decisions = machine.decision_function(x[60:])
    if name == "binary":  # scikit-learn's is for the second class
        decisions = -decisions[:, None]
    out[name] = {
        "decisions": decisions.tolist(), "predicted": machine.predict(x[60:]).tolist(),
        "balanced_accuracy": balanced_accuracy_score(y[60:], machine.predict(x[60:])),
    }
pathlib.Path(__file__).with_name("balanced.json").write_text(json.dumps(out) + "\n")
