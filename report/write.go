package report

import (
	"cmp"
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/mercer-fl/mercer/internal/base/humanize"
)

// HTML templates of the two pages, and the fragments that both templates include.
var (
	//go:embed page.html
	pageText string
	//go:embed study.html
	studyText string
	//go:embed parts.html
	partsText string
	//go:embed style.css
	styleText string
)

// Style returns the style sheet of the pages. It also styles the live page of a daemon, so that both look
// alike.
func Style() string { return styleText }

// styleTemplate defines the template "style" of the pages.
func styleTemplate() string {
	return `{{define "style"}}<style>` + "\n" + styleText + "</style>{{end}}\n"
}

// page holds the values that the template of a run's page uses.
type page struct {
	Run
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

// write executes a template. The template can use the parts that both pages share.
func write(w io.Writer, text string, values any) error {
	t, err := template.New("page").Parse(styleTemplate() + partsText)
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
	p.ScoreTable.Top = true
	for _, t := range r.Tables {
		p.Details = append(p.Details, detail{t.Title, gridOf(t.Header, t.Rows, nil)})
	}
	for i := range r.Graphs {
		p.Drawings = append(p.Drawings, r.Graphs[i].toDrawing())
	}
	if r.Matrix != nil {
		p.Shades = r.Matrix.shades()
	}
	if r.comparable() {
		c := r.scoreChart()
		p.ScoreChart = &c
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

// comparable reports whether the joint training and another training have the first metric. An answer of kind
// Constant is no training.
func (r *Run) comparable() bool {
	joint, others := false, 0
	for _, s := range r.Scores {
		_, known := s.value(r.Metrics[0])
		switch {
		case known && s.Kind == Together:
			joint = true
		case known && s.Kind != Constant:
			others++
		}
	}
	return joint && others > 0
}

// fewRows is the number of held-out rows below which shares have two decimals.
const fewRows = 1000

// format returns a metric as text for the page. With few held-out rows, shares have two decimals
// and other numbers three digits.
func (r *Run) format(v float64, known bool) string {
	switch {
	case !known || r.HeldOut == 0 || r.HeldOut >= fewRows:
		return formatMetric(v, known)
	case math.Abs(v) <= 1:
		return fmt.Sprintf("%.2f", v)
	}
	return humanize.ThreeDigits(v)
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
		items = append(items, item{label: s.Name, text: r.format(v, ok), class: string(s.Kind), value: v})
	}
	return newChart(fmt.Sprintf("%s on held-out rows", MetricTitle(metric)), full, items)
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

// scoreTable returns the table of scores, with one row for each score.
func (r *Run) scoreTable(unit string) grid {
	var rows [][]string
	var classes []string
	for _, s := range r.Scores {
		cells := []string{s.Name, s.rows()}
		for _, m := range r.Metrics {
			cells = append(cells, r.format(s.value(m)))
		}
		rows, classes = append(rows, cells), append(classes, string(s.Kind))
	}
	header := []string{"who learns", unit}
	for _, m := range r.Metrics {
		header = append(header, MetricTitle(m))
	}
	return gridOf(header, rows, classes)
}

// metricTitles gives titles to metrics whose keys are not readable.
var metricTitles = map[string]string{"auc": "AUC", "f1_macro": "F1 (mean of classes)", "rmse": "RMSE", "mae": "MAE", "r2": "R2", "brier": "Brier score"}

// MetricTitle returns the name of a metric for people.
func MetricTitle(name string) string {
	return cmp.Or(metricTitles[name], strings.ReplaceAll(name, "_", " "))
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

// rows returns the number of training rows. A constant answer has none.
func (s Score) rows() string {
	if s.Kind == Constant {
		return "-"
	}
	return count(s.Rows)
}

func count(n int) string {
	if n == 0 {
		return "not known"
	}
	return strconv.Itoa(n)
}
