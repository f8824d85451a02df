"""Results of jobs, for people and for programs."""

import html
import shutil
from pathlib import Path

ROLES = {"server": "coordinator"}  # words of the program's documents: words of this package


class Leakage:
    """What each role learned.

    Attributes
    ----------
    sentences : dict of list of str
        By role: coordinator, party, coalition and others.
    rows : dict of dict
        By role: whether it can reconstruct rows ("yes", "in part" or "no"), and why.
    """

    def __init__(self, document, renamed):
        self.sentences = {ROLES.get(k, k): [renamed(s) for s in v] for k, v in (document.get("leakage") or {}).items()}
        exposure = document.get("row_exposure") or {}
        self.rows = {ROLES.get(k, k): {"rows": v["rows"], "why": renamed(v["why"])} for k, v in exposure.items()}

    def __getattr__(self, role):
        if role.startswith("_") or role not in self.__dict__.get("sentences", {}):
            raise AttributeError(role)
        return self.sentences[role]

    def summary(self):
        """Return one line for each role: can it reconstruct rows, and why.

        Returns
        -------
        text : str
        """
        who = {"coordinator": "the coordinator", "party": "another party", "coalition": "members that work together"}
        return "\n".join(f"Can {who.get(r, r)} reconstruct rows? {v['rows'].capitalize()}. {v['why']}" for r, v in self.rows.items())

    def __repr__(self):
        return self.summary()


class Result:
    """The result of a job.

    Attributes
    ----------
    metrics : dict of float
        Figures of the joint model on rows that were not used for training.
    intervals : dict of tuple
        95 % interval of a figure, where there is one.
    scores : DataFrame
        A row for the joint model ("together"), for each site alone and for all
        rows in one place ("pooled"), with the number of training rows. A job
        between organisations has the joint model only.
    by_site : DataFrame or None
        Figures on each site's held-out rows.
    grid : DataFrame
        Cells of a grid, empty without one.
    predictions : DataFrame or None
        Truth, prediction and scores of each held-out row, with its site and the
        index in the site's frame; by columns, and between organisations, with its id.
    leakage : Leakage
        What each role learned.
    report : str or None
        The page of the result as HTML.
    notices : list of str
        Warnings, and what each party's operator alone would read.
    document : dict
        The program's own JSON document.
    """

    def __init__(self, document, *, renamed=str, sites=None, frames=None, folder=None, kept=None, notices=()):
        self.document = document
        self._figures = document.get("figures") or {}
        self.metrics = dict(document.get("metrics") or {})
        self.intervals = {k: (v["low"], v["high"]) for k, v in (self._figures.get("intervals") or {}).items()}
        self.training_rows, self.held_out_rows = document.get("training_rows"), document.get("held_out_rows")
        self.leakage = Leakage(document, renamed)
        self._sites = sites or {}
        self._folder, self._kept = folder, kept
        self.predictions = self._predictions(document.get("predictions"), frames)
        path = self._path(document.get("report"))
        self.report = renamed(path.read_text(encoding="utf-8")) if path and path.is_file() else None
        self.notices = [renamed(n) for n in [*(f"warning: {w}" for w in document.get("warnings") or []), *notices]]

    def _path(self, name):
        return Path(self._folder or ".", name) if name else None

    def _site(self, party):
        return self._sites.get(party, party)

    @property
    def scores(self):
        import pandas as pd

        rows = {"together": {"training_rows": self.training_rows, **self.metrics}}
        for one in self.document.get("alone") or []:
            figures = {k: v for k, v in one.items() if k not in ("party", "error")}
            rows[f"{self._site(one['party'])} alone"] = figures
        if self.document.get("pooled"):
            rows["pooled"] = {"training_rows": self.training_rows, **self.document["pooled"]}
        return pd.DataFrame.from_dict(rows, orient="index")

    @property
    def by_site(self):
        import pandas as pd

        found = self._figures.get("by_party")
        if not found:
            return None
        rows = {self._site(one["party"]): {"held_out_rows": one["held_out_rows"], **one["metrics"]} for one in found}
        return pd.DataFrame.from_dict(rows, orient="index").rename_axis("site")

    @property
    def grid(self):
        import pandas as pd

        return pd.json_normalize(self.document.get("grid") or [])

    def _predictions(self, name, frames):
        import pandas as pd

        path = self._path(name)
        if path is None or not path.is_file():
            return None
        table = pd.read_csv(path, dtype={"truth": str, "predicted": str, "id": str}, keep_default_na=False)
        if "party" not in table.columns:
            return table
        if frames and "line" in table.columns:
            table["line"] = [frames[p].index[k - 2] for p, k in zip(table["party"], table["line"])]
            table = table.rename(columns={"line": "index"})
        table["party"] = [self._site(p) for p in table["party"]]
        return table.rename(columns={"party": "site"})

    def plot(self, kind="scores", ax=None):
        """Draw the result with matplotlib.

        Parameters
        ----------
        kind : {"scores", "roc", "calibration"}, default="scores"
            Bars of the first figure for the joint model, each site alone and pooled;
            the ROC curve; or the calibration curve.
        ax : Axes or None
            Where to draw. None makes new axes.

        Returns
        -------
        ax : Axes
        """
        import matplotlib.pyplot as plt

        if kind not in ("scores", "roc", "calibration"):
            raise ValueError(f"kind is {kind!r}; it must be 'scores', 'roc' or 'calibration'")
        bins = (self._figures.get("calibration") or {}).get("quantile")
        curves = self._figures.get("curves")
        if kind == "roc" and not curves or kind == "calibration" and not bins:
            raise ValueError(f"this result has no curve of kind {kind!r}")
        if ax is None:
            _, ax = plt.subplots()
        if kind == "scores":
            scores = self.scores
            figure = next(iter(self.metrics))
            ax.barh(list(scores.index)[::-1], scores[figure].to_numpy()[::-1])
            ax.set_xlabel(figure)
            return ax
        if kind == "roc":
            for c in curves:
                ax.plot(c["false_positive_rate"], c["true_positive_rate"], label=f"{c['class']}: {c['roc_auc']:.3f}")
            ax.set(xlabel="false positive rate", ylabel="true positive rate")
        else:
            ax.plot([b["predicted"] for b in bins], [b["true"] for b in bins], marker="o", label=self._figures.get("positive"))
            ax.set(xlabel="predicted probability", ylabel="share of the class")
        ax.legend()
        return ax

    def save(self, folder):
        """Copy the program's files (result, report, predictions, models) to a new folder.

        Parameters
        ----------
        folder : path-like
            It must not exist yet.
        """
        if self._kept is None or not Path(self._kept).is_dir():
            raise ValueError("the files of this result are gone; give keep=FOLDER to simulate, or run: mercer job wait ID --out FOLDER")
        shutil.copytree(self._kept, folder)

    def __repr__(self):
        return f"{self.scores.to_string()}\n{self.leakage.summary()}"

    def _repr_html_(self):
        lines = "".join(f"<li>{html.escape(line)}</li>" for line in self.leakage.summary().splitlines())
        return f"{self.scores.to_html()}<ul>{lines}</ul>"
