package cli

import (
	"fmt"
	"maps"
	"slices"

	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/report"
)

// scores returns the table of metrics. It compares the constant answer, each party alone, all parties together, and
// pooled training.
func (o outcome) scores() *tableOf {
	names := tableNames(o.Metrics)
	t := &tableOf{header: append([]string{"who learns", o.trainingUnit()}, names...)}
	if c := o.constant(); c != nil {
		t.add(append([]any{"always answering " + c.answer, "-"}, figures(c.metrics, names)...)...)
	}
	for _, a := range o.Alone {
		t.add(append([]any{a.Party + " alone", a.Rows}, figures(a.Metrics, names)...)...)
	}
	t.add(append([]any{"together, by Mercer", o.Training}, figures(o.Metrics, names)...)...)
	for _, other := range o.besides {
		t.add(append([]any{"together, " + other.title, o.Training}, figures(other.metrics, names)...)...)
	}
	if o.Pooled != nil {
		t.add(append([]any{"pooled, no privacy", o.pooledRows()}, figures(o.Pooled, names)...)...)
	}
	if o.ExactKernel != nil {
		t.add(append([]any{"pooled, exact kernel", o.pooledRows()}, figures(o.ExactKernel, names)...)...)
	}
	return t
}

// spreads returns the table of metrics over the runs of a repeated job.
func (o outcome) spreads() *tableOf {
	names := tableNames(o.Metrics)
	t := &tableOf{header: append([]string{"who learns"}, names...)}
	for _, s := range o.repeated() {
		t.add(append([]any{s.name}, spreadCells(s.figures, names)...)...)
	}
	return t
}

// sites returns a table of the metrics on each held-out party, with mean and deviation.
func (o outcome) sites() *tableOf {
	names := metricNames(o.Metrics)
	t := &tableOf{header: append([]string{"held out", "rows", "in training"}, names...)}
	for _, site := range o.LeaveOneSiteOut.Parties {
		t.add(append([]any{site.Party, site.HeldOut, site.Training}, figures(site.Metrics, names)...)...)
	}
	t.add(append([]any{"mean", "", ""}, spreadCells(o.LeaveOneSiteOut.Together, names)...)...)
	if o.LeaveOneSiteOut.Pooled != nil {
		t.add(append([]any{"pooled, mean", "", ""}, spreadCells(o.LeaveOneSiteOut.Pooled, names)...)...)
	}
	return t
}

// spreadCells formats the mean and the deviation of each named metric.
func spreadCells(of map[string]learner.Spread, names []string) []any {
	cells := make([]any, len(names))
	for i, name := range names {
		cells[i] = ""
		if v, some := of[name]; some {
			cells[i] = fmt.Sprintf("%.4f ± %.4f", v.Mean, v.Deviation)
		}
	}
	return cells
}

// trainingKind is a kind of training with its metrics over several runs.
type trainingKind struct {
	name    string
	kind    report.Kind
	figures map[string]learner.Spread
}

// repeated returns the figures of a repeated job, for each kind of training.
func (o outcome) repeated() []trainingKind {
	var list []trainingKind
	for _, a := range o.Repeats.Alone {
		list = append(list, trainingKind{a.Party + " alone", report.Alone, a.Figures})
	}
	list = append(list, trainingKind{"together, by Mercer", report.Together, o.Repeats.Together})
	if o.Repeats.Pooled != nil {
		list = append(list, trainingKind{"pooled, no privacy", report.Pooled, o.Repeats.Pooled})
	}
	if o.Repeats.ExactKernel != nil {
		list = append(list, trainingKind{"pooled, exact kernel", report.Pooled, o.Repeats.ExactKernel})
	}
	return list
}

// trainingUnit returns the plural word for training examples: "rows", unless the method has another
// word.
func (o outcome) trainingUnit() string {
	if o.shown != nil && o.shown.Unit != "" {
		return o.shown.Unit
	}
	return "rows"
}

// metricNames returns the names of metrics, with the best-known ones first. The report draws the
// first metric as bars.
func metricNames(m learner.Metrics) []string {
	first := []string{"accuracy", "balanced_accuracy", "auc", "f1_macro", "rmse", "r2", "mae"}
	names := slices.Sorted(maps.Keys(m))
	slices.SortStableFunc(names, func(a, b string) int {
		i, j := slices.Index(first, a), slices.Index(first, b)
		switch {
		case i < 0 && j < 0:
			return 0
		case i < 0:
			return 1
		case j < 0:
			return -1
		}
		return i - j
	})
	return names
}

// tableNames returns the names of the metrics in the table of scores. It leaves out metrics of few learners, which are
// shown elsewhere, and f1_micro, which equals the accuracy.
func tableNames(m learner.Metrics) []string {
	aside := []string{"f1_micro", "average_precision", "brier"}
	return slices.DeleteFunc(metricNames(m), func(name string) bool { return slices.Contains(aside, name) })
}

func figures(m learner.Metrics, names []string) []any {
	return formatted(m, names, func(v float64) string { return fmt.Sprintf("%.4f", v) })
}

// formatted formats the named metrics; a dash stands for a missing one.
func formatted(m learner.Metrics, names []string, format func(float64) string) []any {
	var cells []any
	for _, name := range names {
		if v, ok := m[name]; ok {
			cells = append(cells, format(v))
		} else {
			cells = append(cells, "-")
		}
	}
	return cells
}
