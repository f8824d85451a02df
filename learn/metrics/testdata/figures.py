"""Writes figures.json, the values with which golden_figures_test.go compares.

python3 figures.py, with scikit-learn and scipy; their versions stand in the file.
Areas, curves, Brier scores, calibration curves and figures of classes are scikit-learn's,
intervals are scipy.stats.bootstrap's on the samples that the Go program draws.
"""

import json
import math
import pathlib
from types import SimpleNamespace

import numpy as np
import scipy
import sklearn
from scipy import stats
from sklearn import calibration, metrics

RESAMPLES = 1000
WORD = (1 << 64) - 1


def pcg(seed):
    """Yields the numbers of math/rand/v2's NewPCG(seed, 0)."""
    state = seed << 64
    while True:
        state = (state * 0x2360ED051FC65DA44385DF649FCCF645 + 0x5851F42D4C957F2D14057B7EF767814F) % (1 << 128)
        hi, lo = state >> 64, state & WORD
        hi ^= hi >> 32
        hi = hi * 0xDA942042E4DD58B5 & WORD
        hi ^= hi >> 48
        yield hi * (lo | 1) & WORD


def samples(strata, seed):
    """Returns the rows of each sample, drawn within the strata."""
    numbers = pcg(seed)
    groups = [np.flatnonzero(strata == s) for s in range(max(strata) + 1)]
    return [
        np.array([g[next(numbers) * len(g) >> 64] for g in groups for _ in g])
        for _ in range(RESAMPLES)
    ]


def interval(figure, drawn, *columns):
    values = np.array([figure(*(c[rows] for c in columns)) for rows in drawn])
    done = stats.bootstrap(
        (np.arange(len(columns[0])),), np.mean, n_resamples=0, method="percentile",
        bootstrap_result=SimpleNamespace(bootstrap_distribution=values),
    ).confidence_interval
    return [done.low, done.high]


def finite(values):
    return [v if math.isfinite(v) else None for v in values]


def bins(strategy, truth, p):
    true, predicted = calibration.calibration_curve(truth, p, n_bins=10, strategy=strategy)
    return {"true": list(true), "predicted": list(predicted)}


def benefit(truth, p, t):
    """Vickers and Elkin 2006."""
    treated = p >= t
    return float((np.sum(treated & (truth == 1)) - np.sum(treated & (truth == 0)) * t / (1 - t)) / len(p))


def binary(random):
    n = 211
    truth = (random.random(n) < 0.3).astype(int)
    # Rounded: ties among scores.
    p = np.round(1 / (1 + np.exp(-(1.5 * truth - 1 + random.normal(size=n)))), 2)
    predicted = (p >= 0.5).astype(int)
    fpr, tpr, at = metrics.roc_curve(truth, p)
    precision, recall, pr_at = metrics.precision_recall_curve(truth, p)
    drawn = samples(truth, 7)
    thresholds = [0.05, 0.2, 0.5, 0.95]
    return {
        "truth": truth.tolist(), "p": p.tolist(), "predicted": predicted.tolist(),
        "roc_auc": metrics.roc_auc_score(truth, p), "average_precision": metrics.average_precision_score(truth, p),
        "roc": {"x": list(fpr), "y": list(tpr), "thresholds": finite(at)},
        "precision_recall": {"x": list(recall), "y": list(precision), "thresholds": list(pr_at)},
        "brier": metrics.brier_score_loss(truth, p),
        "uniform": bins("uniform", truth, p), "quantile": bins("quantile", truth, p),
        "thresholds": thresholds, "benefit": [benefit(truth, p, t) for t in thresholds],
        "treat_all": [benefit(truth, np.ones(n), t) for t in thresholds],
        "intervals": {
            "auc": interval(metrics.roc_auc_score, drawn, truth, p),
            "average_precision": interval(metrics.average_precision_score, drawn, truth, p),
            "balanced_accuracy": interval(metrics.balanced_accuracy_score, drawn, truth, predicted),
        },
    }


def many(random):
    n, classes = 150, 4
    truth = random.integers(classes, size=n)
    p = random.random((n, classes)) + 1.2 * np.eye(classes)[truth]
    p /= p.sum(axis=1, keepdims=True)
    predicted = p.argmax(axis=1)
    predicted[truth == 3] = 0  # one class is never right
    precision, recall, f1, rows = metrics.precision_recall_fscore_support(truth, predicted, zero_division=0)
    specificity = [metrics.recall_score(truth != c, predicted != c) for c in range(classes)]
    return {
        "truth": truth.tolist(), "predicted": predicted.tolist(), "p": p.tolist(),
        "precision": list(precision), "recall": list(recall), "f1": list(f1), "rows": rows.tolist(), "specificity": specificity,
        "balanced_accuracy": metrics.balanced_accuracy_score(truth, predicted), "brier": metrics.brier_score_loss(truth, p),
        "auc": metrics.roc_auc_score(truth, p, multi_class="ovo"),
        "auc_interval": interval(lambda t, s: metrics.roc_auc_score(t, s, multi_class="ovo"), samples(truth, 3), truth, p),
    }


def regression(random):
    truth = random.normal(size=97) * 3 + 5
    predicted = truth + random.normal(size=97)
    e = truth - predicted
    drawn = samples(np.zeros(97, int), 11)
    return {
        "truth": truth.tolist(), "predicted": predicted.tolist(), "mae": metrics.mean_absolute_error(truth, predicted),
        "residuals": {
            "mean": e.mean(), "deviation": e.std(ddof=1), "least": e.min(), "quartile_1": np.quantile(e, 0.25),
            "median": np.median(e), "quartile_3": np.quantile(e, 0.75), "greatest": e.max(),
        },
        "intervals": {
            "rmse": interval(metrics.root_mean_squared_error, drawn, truth, predicted),
            "r2": interval(metrics.r2_score, drawn, truth, predicted),
            "mae": interval(metrics.mean_absolute_error, drawn, truth, predicted),
        },
    }


random = np.random.default_rng(20)
figures = {
    "versions": {"scikit-learn": sklearn.__version__, "scipy": scipy.__version__, "numpy": np.__version__},
    "binary": binary(random), "many": many(random), "regression": regression(random),
}
pathlib.Path(__file__).with_name("figures.json").write_text(json.dumps(figures) + "\n")
