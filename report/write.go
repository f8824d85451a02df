package report

import (
	"cmp"
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"strconv"

	"github.com/mercer-fl/mercer/internal/base/say"
)

// Texts of the pages, and the parts that they share.
var (
	//go:embed page.html
	pageText string
	//go:embed study.html
	studyText string
	//go:embed parts.html
	partsText string
)

// page holds the values that the template sees.
type page struct {
	Run
	Headline     []Row
	ScoreChart   *chart
	TimingChart  *chart
	TrafficChart *chart
	BoxCharts    []boxChart
	CurvePlots   []*plot
	Table        []line
}

// Write writes the page. What r holds is text: markup in it is shown, not
// obeyed. Nothing is written of a run that Validate refuses.
func Write(w io.Writer, r Run) error {
	if err := r.Validate(); err != nil {
		return err
	}
	return write(w, pageText, r.page())
}

// write fills a page that may use the shared parts.
func write(w io.Writer, text string, values any) error {
	t, err := template.New("page").Parse(partsText)
	if err == nil {
		t, err = t.New("whole").Parse(text)
	}
	if err != nil {
		return fmt.Errorf("report: %w", err)
	}
	if err := t.Execute(w, values); err != nil {
		return fmt.Errorf("report: %w", err)
	}
	return nil
}

func (r *Run) page() page {
	p := page{Run: *r, Table: r.table()}
	p.Unit = cmp.Or(r.Unit, "rows")
	if len(r.Scores) > 0 {
		c := r.scoreChart()
		p.ScoreChart, p.Headline = &c, r.headline()
	}
	for _, b := range r.Boxes {
		p.BoxCharts = append(p.BoxCharts, b.chart())
	}
	for _, c := range r.Curves {
		p.CurvePlots = append(p.CurvePlots, c.plot())
	}
	if len(r.Timings) > 0 {
		c := r.timingChart()
		p.TimingChart = &c
	}
	if len(r.Traffic) > 0 {
		c := r.trafficChart()
		p.TrafficChart = &c
	}
	return p
}

// scoreChart draws the first metric. Values up to 1 are drawn against 1, so
// that small differences look small.
func (r *Run) scoreChart() chart {
	metric := r.Metrics[0]
	full := 1.0
	var items []item
	for _, s := range r.Scores {
		v, ok := s.value(metric)
		if ok {
			full = max(full, v)
		}
		items = append(items, item{label: s.Name, text: number(v, ok), class: string(s.Kind), value: v})
	}
	return newChart(fmt.Sprintf("%s on held-out rows", metric), full, items)
}

func (r *Run) timingChart() chart {
	full := 0.0
	var items []item
	for _, t := range r.Timings {
		full = max(full, t.Seconds)
		text := seconds(t.Seconds)
		if t.CPU > 0 {
			text += ", " + seconds(t.CPU) + " CPU"
		}
		items = append(items, item{label: t.Stage, text: text, class: "plain", value: t.Seconds})
	}
	return newChart("seconds by stage", full, items)
}

func (r *Run) trafficChart() chart {
	full := 0.0
	var items []item
	for _, t := range r.Traffic {
		full = max(full, float64(t.Sent), float64(t.Received))
		items = append(items,
			item{label: t.Name, text: say.Bytes(t.Sent) + " sent", class: "plain", value: float64(t.Sent)},
			item{text: say.Bytes(t.Received) + " received", class: "faint", value: float64(t.Received)})
	}
	return newChart("bytes by member", full, items)
}

// headline returns the first metric in three figures: the mean of the parties
// alone, together, pooled.
func (r *Run) headline() []Row {
	var rows []Row
	for _, k := range []struct {
		kind  Kind
		label string
	}{{Alone, "alone, on average"}, {Together, "together"}, {Pooled, "pooled, without privacy"}} {
		if mean, ok := r.mean(k.kind); ok {
			rows = append(rows, Row{Label: r.Metrics[0] + " " + k.label, Value: number(mean, true)})
		}
	}
	return rows
}

// mean averages the first metric over the scores of a kind, if all are known.
func (r *Run) mean(kind Kind) (float64, bool) {
	sum, n := 0.0, 0
	for _, s := range r.Scores {
		if s.Kind != kind {
			continue
		}
		v, ok := s.value(r.Metrics[0])
		if !ok {
			return 0, false
		}
		sum += v
		n++
	}
	return sum / float64(n), n > 0
}

// line is a row of the table of scores.
type line struct {
	Kind  Kind
	Cells []string // the name, the training rows, and each metric
}

// table is one line for each score.
func (r *Run) table() []line {
	var table []line
	for _, s := range r.Scores {
		cells := []string{s.Name, count(s.Rows)}
		for _, m := range r.Metrics {
			cells = append(cells, number(s.value(m)))
		}
		table = append(table, line{s.Kind, cells})
	}
	return table
}

func count(n int) string {
	if n == 0 {
		return "not known"
	}
	return strconv.Itoa(n)
}
