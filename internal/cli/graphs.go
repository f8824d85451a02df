package cli

import (
	"fmt"
	"strings"
	"time"

	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/report"
)

// graphs returns the graphs of an assessment's curves.
func graphs(a *learner.Assessment) []report.Graph {
	if a == nil {
		return nil
	}
	var list []report.Graph
	if len(a.Curves) > 0 {
		list = append(list, rocGraph(a.Curves), precisionGraph(a.Curves))
	}
	if a.Calibration != nil {
		list = append(list, calibrationGraph(a))
	}
	if len(a.Benefit) > 0 {
		list = append(list, benefitGraph(a))
	}
	if len(a.Bins) > 0 {
		list = append(list, residualGraph(a.Bins))
	}
	return list
}

func rocGraph(curves []learner.ClassCurves) report.Graph {
	g := report.Graph{Title: "ROC curve", X: "false positive rate", Y: "true positive rate"}
	for _, c := range shownCurves(curves) {
		name := fmt.Sprintf("%s, area %.4f", c.Class, c.AUC)
		if c.Within > 0 {
			name += fmt.Sprintf(" +- %.4f", c.Within)
		}
		g.Lines = append(g.Lines, report.Trace{Name: name, X: c.FPR, Y: c.TPR})
	}
	g.Lines = append(g.Lines, report.Trace{Name: "chance", X: []float64{0, 1}, Y: []float64{0, 1}, Dashed: true})
	return g
}

func precisionGraph(curves []learner.ClassCurves) report.Graph {
	g := report.Graph{Title: "Precision-recall curve", X: "recall", Y: "precision"}
	for _, c := range shownCurves(curves) {
		g.Lines = append(g.Lines, report.Trace{Name: fmt.Sprintf("%s, average precision %.4f", c.Class, c.AP), X: c.Recall, Y: c.Precision})
	}
	return g
}

// shownCurves returns the curves of the classes that a graph shows. The table of classes shows all
// classes.
func shownCurves(curves []learner.ClassCurves) []learner.ClassCurves {
	const room = 4
	return curves[:min(room, len(curves))]
}

func calibrationGraph(a *learner.Assessment) report.Graph {
	g := report.Graph{Title: "Calibration of the probability of " + a.Positive, X: "mean probability", Y: "share of rows of " + a.Positive}
	quantile := report.Trace{Name: "ten bins of equally many rows", Dotted: true}
	for _, b := range a.Calibration.Quantile {
		quantile.X, quantile.Y = append(quantile.X, b.Predicted), append(quantile.Y, b.True)
	}
	uniform := report.Trace{Name: "ten bins of equal width", Dotted: true}
	for _, b := range a.Calibration.Uniform {
		uniform.X, uniform.Y = append(uniform.X, b.Predicted), append(uniform.Y, b.True)
	}
	g.Lines = []report.Trace{quantile, uniform, {Name: "perfect", X: []float64{0, 1}, Y: []float64{0, 1}, Dashed: true}}
	return g
}

// benefitGraph returns the graph of the decision curve. It leaves out values far below 0, which
// would flatten the rest of the curve.
func benefitGraph(a *learner.Assessment) report.Graph {
	g := report.Graph{Title: "Decision curve for " + a.Positive, X: "probability from which to act", Y: "net benefit"}
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
	for _, t := range figureTables(o.Metrics, o.Figures) {
		if t.matrix && o.Figures.Confusion != nil {
			run.Matrix = &report.Matrix{Classes: o.Figures.Confusion.Classes, Counts: o.Figures.Confusion.Matrix}
			continue
		}
		run.Tables = append(run.Tables, t.table.page(t.title))
	}
	run.Graphs = graphs(o.Figures)
	if o.Figures != nil && o.Figures.Classes != nil {
		run.Summary = append(run.Summary, report.Row{Label: "Classes", Value: countsText(o.Figures.Classes)})
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

// countsText lists classes with their numbers of rows.
func countsText(classes []learner.ClassCount) string {
	parts := make([]string, len(classes))
	for i, c := range classes {
		parts[i] = fmt.Sprintf("%s (%d in training, %d held out)", c.Class, c.Training, c.HeldOut)
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
