package report

import (
	"cmp"
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"strconv"

	"github.com/mercer-fl/mercer/internal/base/humanize"
)

// HTML templates of the two pages, and the parts that both pages use.
var (
	//go:embed page.html
	pageText string
	//go:embed study.html
	studyText string
	//go:embed parts.html
	partsText string
)

// page holds the values that the template of a run's page uses.
type page struct {
	Run
	Headline     []Row
	ScoreChart   *chart
	TimingChart  *chart
	TrafficChart *chart
	BoxCharts    []boxChart
	CurvePlots   []*plot
	Drawings     []*drawing
	ScoreTable   grid
	GridTable    grid
	Details      []detail
	Shades       [][]shade
}

// detail is a table of detailed values with its title.
type detail struct {
	Title string
	Table grid
}

// Write writes the run as one HTML page. Markup in r's texts is escaped. It writes nothing if
// Validate refuses r.
func Write(w io.Writer, r Run) error {
	if err := r.Validate(); err != nil {
		return err
	}
	return write(w, pageText, r.page())
}

// write executes a template. The template may use the parts that both pages share.
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
	p := page{Run: *r, GridTable: r.gridTable()}
	p.Unit = cmp.Or(r.Unit, "rows")
	p.ScoreTable = r.scoreTable(p.Unit)
	for _, t := range r.Tables {
		p.Details = append(p.Details, detail{t.Title, gridOf(t.Header, t.Rows, nil)})
	}
	for i := range r.Graphs {
		p.Drawings = append(p.Drawings, r.Graphs[i].toDrawing())
	}
	if r.Matrix != nil {
		p.Shades = r.Matrix.shades()
	}
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

// scoreChart draws the first metric as bars. Values up to 1 are drawn on a scale from 0 to 1, so
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
		items = append(items, item{label: s.Name, text: formatMetric(v, ok), class: string(s.Kind), value: v})
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
			item{label: t.Name, text: humanize.Bytes(t.Sent) + " sent", class: "plain", value: float64(t.Sent)},
			item{text: humanize.Bytes(t.Received) + " received", class: "faint", value: float64(t.Received)})
	}
	return newChart("bytes by member", full, items)
}

// headline returns up to three means of the first metric: parties alone, together, and pooled.
func (r *Run) headline() []Row {
	var rows []Row
	for _, k := range []struct {
		kind  Kind
		label string
	}{{Alone, "alone, on average"}, {Together, "together"}, {Pooled, "pooled, without privacy"}} {
		if mean, ok := r.mean(k.kind); ok {
			rows = append(rows, Row{Label: r.Metrics[0] + " " + k.label, Value: formatMetric(mean, true)})
		}
	}
	return rows
}

// mean returns the mean of the first metric over the scores of a kind. It returns false if a score
// is unknown.
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

// scoreTable returns the table of scores, with one row for each score.
func (r *Run) scoreTable(unit string) grid {
	var rows [][]string
	var classes []string
	for _, s := range r.Scores {
		cells := []string{s.Name, count(s.Rows)}
		for _, m := range r.Metrics {
			cells = append(cells, formatMetric(s.value(m)))
		}
		rows, classes = append(rows, cells), append(classes, string(s.Kind))
	}
	return gridOf(append([]string{"who learns", unit}, r.Metrics...), rows, classes)
}

// gridTable returns one row for each combination of parameters.
func (r *Run) gridTable() grid {
	var rows [][]string
	var classes []string
	for _, c := range r.Grid.Rows {
		rows, classes = append(rows, c.Texts), append(classes, map[bool]string{true: "together"}[c.Best])
	}
	return gridOf(r.Grid.Columns, rows, classes)
}

func count(n int) string {
	if n == 0 {
		return "not known"
	}
	return strconv.Itoa(n)
}
