package cli

import (
	"fmt"
	"strings"
	"time"

	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/report"
)

// leastRows is the smallest number of held-out rows that the class of a curve must have. All other classes
// together must have as many. It is also the smallest number of rows in a bin of a calibration; bins of
// residuals need half as many.
const leastRows = 10

// graphs returns those graphs of an assessment that have enough rows.
func graphs(a *learner.Assessment, named func(class string) string) []report.Graph {
	if a == nil {
		return nil
	}
	var list []report.Graph
	if curves := shownCurves(a); len(curves) > 0 {
		list = append(list, rocGraph(curves, named), precisionGraph(curves, named))
	}
	if a.Calibration != nil {
		list = append(list, calibrationGraph(a, named)...)
	}
	if len(a.Benefit) > 0 && enoughRows(a.Classes, a.Positive) {
		list = append(list, benefitGraph(a, named))
	}
	if len(a.Bins) > 0 && a.Bins[0].Rows >= leastRows/2 {
		list = append(list, residualGraph(a.Bins))
	}
	return list
}

// enoughRows reports whether a class and all others together have enough held-out rows for a curve.
func enoughRows(counts []learner.ClassCount, class string) bool {
	of, others := 0, 0
	for _, c := range counts {
		if c.Class == class {
			of += c.HeldOut
		} else {
			others += c.HeldOut
		}
	}
	return of >= leastRows && others >= leastRows
}

func rocGraph(curves []learner.ClassCurves, named func(string) string) report.Graph {
	g := report.Graph{Title: "ROC curve", X: "false positive rate", Y: "true positive rate"}
	for _, c := range curves {
		name := fmt.Sprintf("%s, area %.2f", named(c.Class), c.AUC)
		if c.Within > 0 {
			name += fmt.Sprintf(" +- %.4f", c.Within)
		}
		g.Lines = append(g.Lines, report.Trace{Name: name, X: c.FPR, Y: c.TPR})
	}
	g.Lines = append(g.Lines, report.Trace{Name: "chance", X: []float64{0, 1}, Y: []float64{0, 1}, Dashed: true})
	return g
}

// precisionGraph returns the graph of precision by recall. It leaves out the points of recall 0, at
// which precision is computed from a few rows or from none.
func precisionGraph(curves []learner.ClassCurves, named func(string) string) report.Graph {
	g := report.Graph{Title: "Precision-recall curve", X: "recall", Y: "precision"}
	for _, c := range curves {
		first := 0
		for first < len(c.Recall)-1 && c.Recall[first] == 0 {
			first++
		}
		g.Lines = append(g.Lines, report.Trace{Name: fmt.Sprintf("%s, average precision %.2f", named(c.Class), c.AP), X: c.Recall[first:], Y: c.Precision[first:]})
	}
	return g
}

// shownCurves returns the curves of the first four classes that have enough held-out rows.
func shownCurves(a *learner.Assessment) (list []learner.ClassCurves) {
	const room = 4
	for _, c := range a.Curves {
		if len(list) < room && enoughRows(a.Classes, c.Class) {
			list = append(list, c)
		}
	}
	return list
}

// calibrationGraph returns the graph of the calibration, or none if no line has two bins with enough
// rows.
func calibrationGraph(a *learner.Assessment, named func(string) string) []report.Graph {
	positive := named(a.Positive)
	g := report.Graph{Title: "Calibration of the probability of " + positive, X: "mean probability", Y: "share of rows of " + positive}
	for _, bins := range []struct {
		name string
		list []learner.CalibrationBin
	}{{"bins of equally many rows", a.Calibration.Quantile}, {"bins of equal width", a.Calibration.Uniform}} {
		line := report.Trace{Name: bins.name, Dotted: true}
		for _, b := range bins.list {
			if b.Rows >= leastRows {
				line.X, line.Y = append(line.X, b.Predicted), append(line.Y, b.True)
			}
		}
		if len(line.X) > 1 {
			g.Lines = append(g.Lines, line)
		}
	}
	if len(g.Lines) == 0 {
		return nil
	}
	g.Lines = append(g.Lines, report.Trace{Name: "perfect", X: []float64{0, 1}, Y: []float64{0, 1}, Dashed: true})
	return []report.Graph{g}
}

// benefitGraph returns the graph of the decision curve. It leaves out values far below 0, which
// would flatten the rest of the curve.
func benefitGraph(a *learner.Assessment, named func(string) string) report.Graph {
	g := report.Graph{Title: "Decision curve for " + named(a.Positive), X: "probability from which to act", Y: "net benefit"}
	model, all := report.Trace{Name: "by the model"}, report.Trace{Name: "always", Dashed: true}
	most := 0.0
	for _, b := range a.Benefit {
		most = max(most, b.Model, b.All)
	}
	for _, b := range a.Benefit {
		if b.Model >= -most/2 {
			model.X, model.Y = append(model.X, b.Threshold), append(model.Y, b.Model)
		}
		if b.All >= -most/2 {
			all.X, all.Y = append(all.X, b.Threshold), append(all.Y, b.All)
		}
	}
	for _, line := range []report.Trace{model, all} {
		if len(line.X) > 0 {
			g.Lines = append(g.Lines, line)
		}
	}
	g.Lines = append(g.Lines, report.Trace{Name: "never", X: []float64{0, 1}, Y: []float64{0, 0}, Dashed: true})
	return g
}

func residualGraph(bins []learner.ResidualBin) report.Graph {
	g := report.Graph{Title: "Residuals of rows with similar predictions", X: "prediction", Y: "truth minus prediction"}
	mean, above, below := report.Trace{Name: "mean", Dotted: true}, report.Trace{Name: "a deviation above", Dashed: true}, report.Trace{Name: "a deviation below", Dashed: true}
	for _, b := range bins {
		mean.X, mean.Y = append(mean.X, b.Predicted), append(mean.Y, b.Mean)
		above.X, above.Y = append(above.X, b.Predicted), append(above.Y, b.Mean+b.Deviation)
		below.X, below.Y = append(below.X, b.Predicted), append(below.Y, b.Mean-b.Deviation)
	}
	g.Lines = []report.Trace{mean, above, below}
	return g
}

// addFigures adds the assessment of held-out rows and the facts of the run to a page.
func (o outcome) addFigures(run *report.Run) {
	named := func(class string) string { return className(o.job, class) }
	if t := screeningTable(o.Figures, named); t != nil {
		run.Tables = append(run.Tables, t.table.page(t.title))
	}
	for _, t := range pageTables(o.Metrics, o.Figures) {
		if t.matrix && o.Figures.Confusion != nil {
			run.Matrix = &report.Matrix{Classes: o.Figures.Confusion.Classes, Counts: o.Figures.Confusion.Matrix}
			continue
		}
		run.Tables = append(run.Tables, t.table.page(t.title))
	}
	run.Graphs = graphs(o.Figures, named)
	if o.Figures != nil && o.Figures.Classes != nil {
		run.Summary = append(run.Summary, report.Row{Label: "Classes", Value: countsText(o.Figures.Classes, func(class string) string { return withClass(o.titles(), named(class)) })})
	}
	if p := o.Prepared; p != nil {
		run.Facts = append(run.Facts, report.Row{Label: "Preparation", Value: p.Text()})
	}
	if a := o.About; a != nil {
		run.Summary = append(run.Summary, report.Row{Label: "Seed", Value: fmt.Sprint(a.Seed)})
		run.Facts = append(run.Facts, report.Row{Label: "Date", Value: a.Date.Format(time.RFC3339)}, report.Row{Label: "Mercer", Value: a.Version})
		run.Job = a.Job
	}
}

// withClass adds to a title the class that files have in its place.
func withClass(titles job.Titles, title string) string {
	for class, one := range titles {
		if one == title && class != title {
			return fmt.Sprintf("%s, class %s", title, class)
		}
	}
	return title
}

// countsText lists classes with their numbers of rows.
func countsText(classes []learner.ClassCount, named func(string) string) string {
	parts := make([]string, len(classes))
	for i, c := range classes {
		parts[i] = fmt.Sprintf("%s (%d in training, %d held out)", named(c.Class), c.Training, c.HeldOut)
	}
	return strings.Join(parts, ", ")
}

// page converts a table for a report page.
func (t *tableOf) page(title string) report.Table {
	out := report.Table{Title: title, Header: t.header}
	for _, row := range t.rows {
		texts := make([]string, len(row))
		for i, cell := range row {
			texts[i] = fmt.Sprint(cell)
		}
		out.Rows = append(out.Rows, texts)
	}
	return out
}
