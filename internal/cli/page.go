package cli

import (
	"bytes"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mercer-fl/mercer/internal/base/disk"
	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/base/humanize"
	"github.com/mercer-fl/mercer/internal/daemon"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/report"
)

// savePage writes the HTML report of a run into a folder and returns its path. The job must be known.
func savePage(folder string, o outcome) (string, error) {
	var b bytes.Buffer
	if err := report.Write(&b, page(o)); err != nil {
		return "", err
	}
	path := filepath.Join(folder, "report.html")
	return path, disk.Replace(path, b.Bytes())
}

// reportWriter returns a function that writes a result like [savePage]. The reader knows the dictionaries of the home.
func reportWriter(jobs *job.Reader) daemon.ReportWriter {
	return func(w io.Writer, r *method.Result) (err error) {
		o := outcome{Result: r, job: jobIn(jobs, r)}
		if o.job == nil {
			return fault.BadInputf("the job of this result cannot be read here; mercer job show prints its figures")
		}
		if o.shown, err = method.Presented(jobs.Protocols, o.job, r); err != nil {
			return err
		}
		return report.Write(w, page(o))
	}
}

func page(o outcome) report.Run {
	o = o.titled()
	j, r, shown := o.job, o.Result, o.shown
	run := report.Run{
		Title: j.Name, Subject: o.subject(), Verdict: o.verdict(), Notes: o.scoreNotes(), Privacy: privacyLines(r.Exposures), HeldOut: r.HeldOut,
		Next: slices.Concat(o.objections.outlook(), o.fileLines()), Refused: slices.Concat(r.Refused, r.Withheld),
		Summary: []report.Row{
			{Label: "Data", Value: describeData(j)},
			{Label: "Parties", Value: describeParties(j)},
			{Label: "Protocol", Value: o.settings()},
			{Label: "Kernel", Value: describeKernel(j, r)},
			{Label: "Learner", Value: o.learnerText()},
			{Label: "Rows", Value: fmt.Sprintf("%d in training, %s", r.Training, describeHeldOut(r))},
		},
		Grid:    o.reportGrid(),
		Metrics: tableNames(r.Metrics),
		Scores:  o.scored(),
		Unit:    o.trainingUnit(),
	}
	if r.ModelHash != "" {
		run.Facts = append(run.Facts, report.Row{Label: "model_sha256", Value: r.ModelHash})
	}
	if j.Data.Test.None {
		run.Metrics, run.Scores, run.Facts = nil, nil, append(run.Facts, o.trainingMetrics()...)
	}
	if shown != nil {
		if shown.Summary != nil {
			run.Summary = shown.Summary
		}
		run.Summary, run.Curves = append(run.Summary, shown.More...), append(run.Curves, shown.Curves...)
	}
	for _, name := range timingNames(r.Timings) {
		if name != "total" {
			run.Timings = append(run.Timings, report.Timing{Stage: stageTitle(name), Seconds: r.Timings[name]})
		}
	}
	for _, m := range r.Parties {
		run.Traffic = append(run.Traffic, report.Traffic{Name: m.Name, Sent: m.Sent, Received: m.Received})
	}
	for _, role := range method.Roles() {
		if lines := r.Leakage[role]; len(lines) > 0 {
			run.Leakage = append(run.Leakage, report.Leak{Role: role, Lines: lines})
		}
	}
	if r.Repeats != nil {
		run.Boxes = append(run.Boxes, o.boxes(run.Metrics[0]))
	}
	o.addFigures(&run)
	if r.LeaveOneSiteOut != nil {
		run.Boxes = append(run.Boxes, o.turnBoxes(run.Metrics[0]))
		for _, t := range r.LeaveOneSiteOut.Parties {
			run.Facts = append(run.Facts, report.Row{Label: t.Party + " held out", Value: siteText(t)})
		}
	}
	for _, other := range o.besides {
		run.Summary = append(run.Summary, report.Row{Label: "Together, " + other.title, Value: other.said})
	}
	run.Facts = append(run.Facts, lastFacts(r, run.Metrics)...)
	return run
}

// lastFacts returns the last rows of the table of facts on a page.
func lastFacts(r *method.Result, metrics []string) (facts []report.Row) {
	add := func(label, value string) { facts = append(facts, report.Row{Label: label, Value: value}) }
	if r.ExactKernel != nil {
		if v, some := r.ExactKernel[metrics[0]]; some {
			add(metrics[0]+" of the exact kernel, pooled", fmt.Sprintf("%.4f", v))
		}
	}
	if n := r.Network; n != nil {
		add("Network of the job's link", fmt.Sprintf("%.2f s for %s in %s", n.Seconds, humanize.Bytes(n.Bytes), humanize.Count(int(n.Messages), "message")))
	}
	for _, line := range r.Warnings {
		add("Warning", line)
	}
	for _, m := range r.Models {
		add("model of "+m.Party, describeModel(m))
	}
	return facts
}

// learnerText describes the learner with the numbers that trained the model.
func (o outcome) learnerText() string {
	if o.shown != nil && o.shown.Learner != "" {
		return o.shown.Learner
	}
	return chosenLearner(o.job, o.Result).Text()
}

// chosenLearner returns the learner of the chosen grid cell, or the job's learner if no cell was chosen. Cells have the
// order of the job's grid.
func chosenLearner(j *job.Job, r *method.Result) job.Named {
	if i := chosenIndex(r.Grid); i >= 0 && len(r.Grid) == j.Cells() {
		return j.At(i).Learner
	}
	return j.Learner
}

// reportGrid converts the grid to a table of the report page.
func (o outcome) reportGrid() report.Grid {
	grid := o.Grid
	if len(grid) == 0 {
		return report.Grid{}
	}
	t := gridTable(grid)
	out := report.Grid{Columns: t.header, ChosenBy: o.gridScore()}
	for i, row := range t.rows {
		cell := report.Cell{Best: grid[i].Best}
		for _, text := range row {
			cell.Texts = append(cell.Texts, fmt.Sprint(text))
		}
		out.Rows = append(out.Rows, cell)
	}
	return out
}

// scored returns the scores of all kinds of training but that with the exact kernel, for the bar chart.
func (o outcome) scored() []report.Score {
	var list []report.Score
	if c := o.constant(); c != nil {
		list = append(list, report.Score{Name: "always answering " + c.answer, Kind: report.Constant, Values: c.metrics})
	}
	for _, a := range o.Alone {
		list = append(list, report.Score{Name: a.Party + " alone", Kind: report.Alone, Rows: a.Rows, Values: a.Metrics})
	}
	list = append(list, report.Score{Name: "together, by Mercer", Kind: report.Together, Rows: o.Training, Values: o.Metrics})
	for _, other := range o.besides {
		list = append(list, report.Score{Name: "together, " + other.title, Kind: other.kind, Rows: o.Training, Values: other.metrics})
	}
	if o.Pooled != nil {
		list = append(list, report.Score{Name: "pooled, no privacy", Kind: report.Pooled, Rows: o.pooledRows(), Values: o.Pooled})
	}
	return list
}

// boxes returns box plots of one metric over the runs of a repeated job.
func (o outcome) boxes(metric string) report.Boxes {
	b := report.Boxes{Title: fmt.Sprintf("%s over %d splits", metric, len(o.Repeats.Seeds))}
	for _, s := range o.repeated() {
		if v, some := s.figures[metric]; some {
			b.Boxes = append(b.Boxes, report.Box{Name: s.name, Kind: s.kind, Values: v.Values})
		}
	}
	return b
}

// turnBoxes returns box plots of one metric over runs that each hold out one party.
func (o outcome) turnBoxes(metric string) report.Boxes {
	b := report.Boxes{Title: fmt.Sprintf("%s over %d parties, each held out in turn", metric, len(o.LeaveOneSiteOut.Parties))}
	for _, s := range []trainingKind{{"together, by Mercer", report.Together, o.LeaveOneSiteOut.Together}, {"pooled, no privacy", report.Pooled, o.LeaveOneSiteOut.Pooled}} {
		if v, some := s.figures[metric]; some {
			b.Boxes = append(b.Boxes, report.Box{Name: s.name, Kind: s.kind, Values: v.Values})
		}
	}
	return b
}

// siteText formats all metrics of a held-out party.
func siteText(t method.Site) string {
	parts := []string{humanize.Count(t.HeldOut, "row")}
	for _, name := range metricNames(t.Metrics) {
		parts = append(parts, fmt.Sprintf("%s %.4f", name, t.Metrics[name]))
	}
	return strings.Join(parts, ", ")
}

// pooledRows returns the number of training rows of all parties together. It includes rows of
// devices that vanish.
func (o outcome) pooledRows() int {
	if o.shown != nil && o.shown.Pooled > 0 {
		return o.shown.Pooled
	}
	return o.Training
}

// settings describes the settings of the job's protocol, including settings that the method derived
// from the data.
func (o outcome) settings() string {
	if o.shown != nil {
		return o.job.Protocol.Text() + o.shown.Settings
	}
	return o.job.Protocol.Text()
}

func describeData(j *job.Job) string {
	if j.Data.Sources != nil {
		return "one source for each party"
	}
	return j.Data.Source
}

// describeParties lists the parties of a job. For a job on a single table it says that there are none.
func describeParties(j *job.Job) string {
	if j.Parties() == nil && j.Unshared() {
		return "none: one table in one process"
	}
	return strings.Join(j.Parties(), ", ")
}

// trainingMetrics returns the metrics of a training that has no held-out rows.
func (o outcome) trainingMetrics() (list []report.Row) {
	for _, name := range metricNames(o.Metrics) {
		list = append(list, report.Row{Label: name, Value: fmt.Sprintf("%.4f", o.Metrics[name])})
	}
	return list
}

// describeHeldOut describes the rows on which the metrics were computed.
func describeHeldOut(r *method.Result) string {
	if r.HeldOut == 0 && len(r.Grid) > 0 {
		if len(r.Grid[0].Folds) == 1 {
			return "each held out once, by itself"
		}
		return fmt.Sprintf("each held out once, in %d folds", len(r.Grid[0].Folds))
	}
	if r.HeldOut == 0 {
		return "no row held out"
	}
	held := humanize.Count(r.HeldOut, "row") + " held out"
	if r.Chosen != "" {
		held += ": " + r.Chosen
	}
	return held
}

// describeKernel describes the kernel of the chosen grid cell, or the job's kernel if there is no
// grid. In a cell, gamma is a number without a unit.
func describeKernel(j *job.Job, r *method.Result) string {
	if c, ok := chosenCell(r.Grid); ok {
		return cellKernel(c.Kernel)
	}
	return j.Kernel.String()
}

// chosenCell returns the chosen cell of a grid. It returns false if no cell was chosen.
func chosenCell(grid []learner.Cell) (learner.Cell, bool) {
	i := chosenIndex(grid)
	if i < 0 {
		return learner.Cell{}, false
	}
	return grid[i], true
}
