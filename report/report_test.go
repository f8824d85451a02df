package report

import (
	"bytes"
	"encoding/xml"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mercer-fl/mercer/internal/base/humanize"
)

var update = flag.Bool("update", false, "rewrite testdata/hospitals.html")

// hospitals returns an invented run: only its form comes from a job.
func hospitals() Run {
	return Run{
		Title:   "three-hospitals",
		Verdict: "On 250 rows not used for training, the joint model is right for 98 %; always answering 1 would be right for 11 %.",
		Subject: "Predicted: label (ill or well), from 64 columns of the rows of 3 parties.",
		Notes:   []string{"south alone has no auc: it has rows of one class."},
		Privacy: []string{"The coordinator (server) can reconstruct rows: yes. The rows outnumber the features (1000 > 64).", "Another party alone: no. It receives nothing.", "Members that work together: yes. One party together with the server decodes every row."},
		Next:    []string{"refusals: 1 of 3 parties would refuse this job", "next: mercer predict model TABLE.csv"},
		Refused: []string{"south: too few rows"},
		Summary: []Row{
			{"data", "digits.csv: 1000 rows, 64 features, 10 classes; north 400, south 350, a-hospital-with-a-very-long-name 250"},
			{"protocol", "okra, encoder hadamard, wire float32, mode hardened"},
			{"kernel", "rbf, gamma 0.5"},
			{"learner", "svc, C 10, tol 1e-08"},
			{"held out", "250 rows"},
		},
		Metrics: []string{"accuracy", "f1_macro", "auc"},
		Scores: []Score{
			{"north", Alone, 466, map[string]float64{"accuracy": 0.912, "f1_macro": 0.90125, "auc": 0.985}},
			{"south", Alone, 437, map[string]float64{"accuracy": 0.884, "f1_macro": 0.87, "auc": math.NaN()}},
			{"a-hospital-with-a-very-long-name", Alone, 445, map[string]float64{"accuracy": 0.74, "f1_macro": 0.70}},
			{"Mercer", Together, 1348, map[string]float64{"accuracy": 0.984, "f1_macro": 0.9838, "auc": 0.9994}},
			{"pooled", Pooled, 1348, map[string]float64{"accuracy": 0.984, "f1_macro": 0.9838, "auc": 0.9994}},
		},
		Grid: Grid{
			Columns: []string{"kernel", "C", "mean accuracy", "correct of 1348"},
			Rows: []Cell{
				{[]string{"rbf, gamma = 0.5", "1", "0.9758", "1315"}, false},
				{[]string{"rbf, gamma = 0.5", "10", "0.9822", "1324"}, true},
			},
		},
		Boxes: []Boxes{{Title: "accuracy over 5 splits", Boxes: []Box{
			{"north", Alone, []float64{0.95, 0.91, 0.93, 0.92, 0.94}},
			{"Mercer", Together, []float64{0.98, 0.98, 0.98, 0.98, 0.98}},
		}}},
		Curves: []Curve{{
			Title: "What sums give and what they show", X: "rows for each feature", Steps: []string{"20", "4", "1"},
			Lines: []Line{{"accuracy", []float64{0.67, 0.91, 0.97}}, {"membership AUC", []float64{0.61, 0.84, 1}}},
			Notes: []Note{{"features", []string{"44", "224", "898"}}},
		}},
		Timings: []Timing{{"scale", 0.034, 0}, {"protocol", 1.52, 2.25}, {"learn", 0.61, 1.1}, {"evaluate", 0.0004, 0}},
		Traffic: []Traffic{{"north", 310_000, 5_200}, {"south", 270_000, 5_100}, {"a-hospital-with-a-very-long-name", 900, 1_500_000}},
		Leakage: []Leak{
			{"server", []string{"It learns the complete linear Gram matrix of all 1000 rows.", "These rows hold values on a grid and outnumber the features (1000 > 64): treat them as readable by the server."}},
			{"party", []string{"A party learns who takes part & how many rows there are (n < f or not)."}},
		},
		Facts: []Row{{"model", "model-0d2f.mercer"}, {"model_sha256", strings.Repeat("0d2f", 16)}},
	}
}

func render(t *testing.T, r Run) string {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, r); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestGolden(t *testing.T) {
	got := render(t, hospitals())
	path := filepath.Join("testdata", "hospitals.html")
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), got); d != "" {
		t.Errorf("the page has changed; look at it and run go test ./report -update:\n%s", d)
	}
}

func TestEmptyPartsAreLeftOut(t *testing.T) {
	got := render(t, Run{Title: "bare"})
	for _, part := range []string{"<h2", "<svg", "<table", "<dl"} {
		if strings.Contains(got, part) {
			t.Errorf("%s of nothing", part)
		}
	}
	if !strings.Contains(got, "<h1>bare</h1>") {
		t.Error("no title")
	}
}

// TestSelfContained looks for anything that a browser would fetch or run.
func TestSelfContained(t *testing.T) {
	got := render(t, hospitals())
	for _, foreign := range []string{"http:", "https:", "src=", "href=", "url(", "@import", "<script", "<link", "<iframe"} {
		if strings.Contains(strings.ToLower(got), foreign) {
			t.Errorf("the page contains %s", foreign)
		}
	}
}

// TestMarkupIsShown puts markup into all texts of a job.
func TestMarkupIsShown(t *testing.T) {
	const evil = `<script>alert(1)</script>"'><img src=x onerror=alert(1)>`
	got := render(t, Run{
		Title: evil, Summary: []Row{{evil, evil}}, Facts: []Row{{evil, evil}},
		Metrics: []string{evil}, Scores: []Score{{evil, Alone, 7, map[string]float64{evil: 1}}},
		Grid:    Grid{[]string{evil}, []Cell{{[]string{evil}, true}}, evil},
		Curves:  []Curve{{Title: evil, X: evil, Steps: []string{evil}, Lines: []Line{{evil, []float64{1}}}, Notes: []Note{{evil, []string{evil}}}}},
		Timings: []Timing{{evil, 1, 0}}, Traffic: []Traffic{{evil, 1, 1}}, Leakage: []Leak{{evil, []string{evil}}},
	})
	if strings.Contains(got, "<script") || strings.Contains(got, "<img") {
		t.Error("markup of a job reaches the page")
	}
	if !strings.Contains(got, "&lt;script&gt;alert(1)") {
		t.Error("the text is lost")
	}
}

func TestTagsBalance(t *testing.T) {
	page := render(t, hospitals())
	page = regexp.MustCompile(`<meta([^>]*)>`).ReplaceAllString(page, "<meta$1/>")
	d := xml.NewDecoder(strings.NewReader(page))
	for {
		_, err := d.Token()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

func TestCharts(t *testing.T) {
	r := hospitals()
	for _, c := range []chart{r.scoreChart(), r.timingChart(), r.trafficChart()} {
		for _, b := range c.Bars {
			if b.Width < 0 || b.Width > barRoom || b.Y+bandHeight > c.Height {
				t.Errorf("%s: %+v is out of the picture", c.Title, b)
			}
		}
	}
	scores := r.scoreChart()
	if got, want := scores.Bars[0].Width, round1(0.912*barRoom); got != want {
		t.Errorf("an accuracy of .912 is %g wide, want %g: bars start at 0 and end at 1", got, want)
	}
	r.Scores[0].Values["accuracy"] = 40 // an error, not a share
	if got := r.scoreChart().Bars[0].Width; got != barRoom {
		t.Errorf("the largest value is %g wide", got)
	}
	r.Scores[1].Values["accuracy"] = -3
	if got := r.scoreChart().Bars[1].Width; got != 0 {
		t.Errorf("a negative value is %g wide", got)
	}
	r.Scores[1].Values["accuracy"] = 80 // above the former greatest value
	if got := r.scoreChart().Bars[0].Width; got != barRoom/2 {
		t.Errorf("half of the largest value is %g wide", got)
	}
	for _, unknown := range []float64{math.Inf(1), math.Inf(-1), math.NaN()} {
		r.Scores[0].Values["accuracy"] = unknown
		if got := r.scoreChart().Bars[0]; got.Width != 0 || got.Text != "not known" {
			t.Errorf("%g is drawn %g wide as %q", unknown, got.Width, got.Text)
		}
	}
	zero := Run{Title: "t", Timings: []Timing{{"fast", 0, 0}}, Traffic: []Traffic{{"quiet", 0, 0}}}
	if strings.Contains(render(t, zero), "NaN") {
		t.Error("zero over zero is drawn")
	}
}

func TestCurve(t *testing.T) {
	r := hospitals()
	p := r.Curves[0].plot()
	if at := p.Lines[0].Points; at[0].X != curveLeft || at[2].X != curveRight || at[0].Y <= at[1].Y {
		t.Errorf("points at %+v: steps go right, shares up", at)
	}
	if one := p.Lines[1].Points[2].Y; one != curveTop || p.Grid[4].At != one || p.Grid[0].At != curveBottom {
		t.Errorf("a share of 1 is drawn at %v, of 0 at %v", one, p.Grid[0].At)
	}
	if gap := math.Abs(p.Lines[0].EndY - p.Lines[1].EndY); gap < baseLine {
		t.Errorf("names are %v apart and cover each other", gap)
	}
	if d := cmp.Diff([]string{"4", "0.9100", "0.8400", "224"}, p.Rows[1]); d != "" {
		t.Error(d)
	}
	equal := Curve{Steps: []string{"20"}}
	for range 5 {
		equal.Lines = append(equal.Lines, Line{"accuracy", []float64{0.5}})
	}
	lines := equal.plot().Lines
	for k := range lines[:4] {
		if gap := lines[k+1].EndY - lines[k].EndY; gap != baseLine {
			t.Errorf("names of equal lines are %v apart", gap)
		}
		if lines[k].Class == lines[k+1].Class {
			t.Errorf("two lines in turn are both %q", lines[k].Class)
		}
	}
	if lines[4].Class != lines[0].Class {
		t.Errorf("the fifth line is %q", lines[4].Class)
	}
	single := Curve{Steps: []string{"20"}, Lines: []Line{{"accuracy", []float64{0.5}}}}
	if got := single.plot().Lines[0].Points[0].X; got != curveLeft {
		t.Errorf("a single step is drawn at %v", got)
	}
}

// A chart with a single bar compares nothing.
func TestNoChartWithoutAComparison(t *testing.T) {
	const heading = "What joining gains"
	r := hospitals()
	if !strings.Contains(render(t, r), heading) {
		t.Error("no chart of five trainings")
	}
	r.Scores = r.Scores[3:4]
	r.Scores = append(r.Scores, Score{Name: "always answering 1", Kind: Constant, Values: map[string]float64{"accuracy": 0.1}})
	got := render(t, r)
	if strings.Contains(got, heading) {
		t.Error("a chart of one training")
	}
	for _, part := range []string{`<th scope="row">always answering 1</th><td data-label="rows">-</td><td data-label="accuracy">0.1000</td>`, `<td data-label="accuracy">0.9840</td>`} {
		if !strings.Contains(got, part) {
			t.Errorf("the table lacks %s", part)
		}
	}
}

// The reader finds first what is predicted and what the model is good for, then the table, who can
// read rows, and what to do next. Figures follow, and last what each role learns, folded.
func TestOrderOfThePage(t *testing.T) {
	r := hospitals()
	r.Graphs = []Graph{{Title: "roc", Lines: []Trace{{Name: "ill", X: []float64{0, 1}, Y: []float64{0, 1}}}}}
	got, at := render(t, r), 0
	for _, part := range []string{
		"<h1>three-hospitals</h1>", "<p>Predicted: label", `<p class="verdict">On 250 rows`, "<table", "<p>south alone has no auc",
		"<h2>Who can reconstruct rows", "<li>The coordinator (server) can", "<li>Another party", "<li>Members that work together",
		"<h2>What to do next", "<li>refusals: ", "<li>next: ", "<details>", "<li>south: too few rows</li>", "</details>", "What joining gains",
		`aria-label="roc"`, "<h2>What each role learnt</h2>", "<details>\n<summary>server</summary>", "For the record",
	} {
		next := strings.Index(got[at:], part)
		if next < 0 {
			t.Fatalf("no %s after the part before", part)
		}
		at += next
	}
	if strings.Contains(got, "<details open") {
		t.Error("a role is unfolded")
	}
}

func TestFailedJob(t *testing.T) {
	if got := render(t, Run{Title: "t", Failure: "north refused: <too few>"}); !strings.Contains(got, "<h2>The job failed</h2>\n<p class=\"verdict\">north refused: &lt;too few&gt;</p>") {
		t.Errorf("the page does not say why the job failed:\n%s", got)
	}
}

// Few rows carry two decimals.
func TestDecimalsFollowTheRows(t *testing.T) {
	for _, tt := range []struct {
		rows  int
		value float64
		known bool
		want  string
	}{
		{191, 0.67539, true, "0.68"}, {191, 12.3456, true, "12.3"}, {191, -0.5, true, "-0.50"}, {191, 0, false, "not known"}, {5000, 0.67539, true, "0.6754"}, {0, 0.67539, true, "0.6754"},
	} {
		if got := (&Run{HeldOut: tt.rows}).format(tt.value, tt.known); got != tt.want {
			t.Errorf("%g of %d rows is %s, want %s", tt.value, tt.rows, got, tt.want)
		}
	}
}

// The labels of an axis end before its name begins.
func TestAxisNamesTouchNoLabels(t *testing.T) {
	const digit, name = 8, 18 // width of a digit of 13 px, and the right edge of the turned name
	g := Graph{Title: "t", Y: "truth minus prediction", Lines: []Trace{{Name: "a", X: []float64{0, 1}, Y: []float64{-12345, 23456}}}}
	for _, m := range g.toDrawing().Up {
		if left := graphLeft - 6 - digit*len(m.Text); left < name {
			t.Errorf("the label %s begins at %d, over the axis' name", m.Text, left)
		}
	}
	got := render(t, Run{Title: "t", Graphs: []Graph{g}})
	if !strings.Contains(got, `y="276" text-anchor="middle"`) || !strings.Contains(got, `y="302" text-anchor="middle"`) {
		t.Error("labels and name of the lower axis are not 26 units apart")
	}
}

// Lines have their colours at their names, on a narrow screen in a list below the chart.
func TestNamesHaveTheColoursOfTheirLines(t *testing.T) {
	r := hospitals()
	r.Graphs = []Graph{{Title: "roc", Lines: []Trace{{Name: "ill", X: []float64{0, 1}, Y: []float64{0, 1}}, {Name: "chance", X: []float64{0, 1}, Y: []float64{0, 1}}}}}
	got := render(t, r)
	for _, part := range []string{
		`<text class="name together" x="512"`, `<text class="name alarm" x="512"`, `<li class="together">accuracy</li>`, `<li class="alarm">membership AUC</li>`,
		`<text class="name together" x="102"`, `<text class="name alarm" x="102"`, "svg.curve .name { display: none; }",
	} {
		if !strings.Contains(got, part) {
			t.Errorf("the page lacks %s", part)
		}
	}
}

// Every kind of score is drawn, and shares may be 0 and 1.
func TestValid(t *testing.T) {
	for _, kind := range []Kind{Constant, Alone, Together, Sums, Pooled} {
		r := Run{
			Title: "t", Metrics: []string{"auc"}, Scores: []Score{{Name: "a", Kind: kind}},
			Curves: []Curve{{Steps: []string{"1", "2"}, Lines: []Line{{"a", []float64{0, 1}}}}},
		}
		if err := r.Validate(); err != nil {
			t.Error(err)
		}
	}
}

func TestValidate(t *testing.T) {
	for name, r := range map[string]Run{
		"no title":                {},
		"no metric":               {Title: "t", Scores: []Score{{Name: "a", Kind: Alone}}},
		"unknown kind":            {Title: "t", Metrics: []string{"auc"}, Scores: []Score{{Name: "a", Kind: "both"}}},
		"ragged grid":             {Title: "t", Grid: Grid{[]string{"kernel", "C"}, []Cell{{[]string{"rbf"}, false}}, ""}},
		"ragged line":             {Title: "t", Curves: []Curve{{Steps: []string{"1"}, Lines: []Line{{"a", nil}}}}},
		"no steps":                {Title: "t", Curves: []Curve{{Title: "c"}}},
		"ragged notes":            {Title: "t", Curves: []Curve{{Steps: []string{"1"}, Notes: []Note{{"a", nil}}}}},
		"line beyond 1":           {Title: "t", Curves: []Curve{{Steps: []string{"1"}, Lines: []Line{{"a", []float64{1.01}}}}}},
		"line of no number":       {Title: "t", Curves: []Curve{{Steps: []string{"1"}, Lines: []Line{{"a", []float64{math.NaN()}}}}}},
		"negative time":           {Title: "t", Timings: []Timing{{"s", -1, 0}}},
		"negative processor time": {Title: "t", Timings: []Timing{{"s", 1, -1}}},
		"infinite processor time": {Title: "t", Timings: []Timing{{"s", 1, math.Inf(1)}}},
		"infinite time":           {Title: "t", Timings: []Timing{{"s", math.Inf(1), 1}}},
		"time is no number":       {Title: "t", Timings: []Timing{{"s", math.NaN(), 0}}},
	} {
		var b bytes.Buffer
		if err := Write(&b, r); err == nil || !strings.HasPrefix(err.Error(), "report: ") {
			t.Errorf("%s: %v", name, err)
		}
		if b.Len() > 0 {
			t.Errorf("%s: half a page is written", name)
		}
	}
}

func TestNumbers(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{formatMetric(0.98765, true), "0.9877"}, {formatMetric(-0.5, true), "-0.5000"}, {formatMetric(1234.5678, true), "1234.6"}, {formatMetric(0, false), "not known"},
		{formatMetric(9.9999, true), "9.9999"}, {formatMetric(10, true), "10"},
		{seconds(0.0004), "0.4 ms"}, {seconds(0.0999), "99.9 ms"}, {seconds(0.1), "0.10 s"}, {seconds(12.345), "12.35 s"},
		{humanize.Bytes(1023), "1023 B"}, {humanize.Bytes(1024), "1.0 KiB"}, {humanize.Bytes(1 << 20), "1.0 MiB"}, {humanize.Bytes(uint64(math.MaxUint64)), "16.0 EiB"},
		{count(0), "not known"}, {count(1), "1"},
		{shorten("north"), "north"}, {shorten(strings.Repeat("ä", 20)), strings.Repeat("ä", 20)}, {shorten(strings.Repeat("ä", 25)), strings.Repeat("ä", 19) + "…"},
	} {
		if c.got != c.want {
			t.Errorf("%q, want %q", c.got, c.want)
		}
	}
}

// brokenWriter behaves like a full disk.
type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, io.ErrShortWrite }

func TestWriteErrors(t *testing.T) {
	if err := Write(brokenWriter{}, hospitals()); !errors.Is(err, io.ErrShortWrite) {
		t.Errorf("%v", err)
	}
}

func ExampleWrite() {
	var page strings.Builder
	err := Write(&page, Run{Title: "digits-hospitals", Facts: []Row{{"model", "digits.mercer"}}})
	fmt.Println(strings.Contains(page.String(), "<h1>digits-hospitals</h1>"), err)
	// Output: true <nil>
}

func TestQuantilesAreThoseOfNumpy(t *testing.T) {
	sorted := []float64{1, 2, 4, 8}
	for q, want := range map[float64]float64{0: 1, 0.25: 1.75, 0.5: 3, 0.75: 5, 1: 8} {
		if got := quantile(sorted, q); got != want {
			t.Errorf("quantile %g is %g, want %g", q, got, want)
		}
	}
}

func TestBoxesThatCannotBeDrawnAreRefused(t *testing.T) {
	for name, b := range map[string]Boxes{
		"no boxes":    {Title: "x"},
		"no values":   {Title: "x", Boxes: []Box{{Name: "a", Kind: Alone}}},
		"no kind":     {Title: "x", Boxes: []Box{{Name: "a", Values: []float64{1}}}},
		"not finite":  {Title: "x", Boxes: []Box{{Name: "a", Kind: Alone, Values: []float64{math.Inf(1)}}}},
		"not numbers": {Title: "x", Boxes: []Box{{Name: "a", Kind: Alone, Values: []float64{math.NaN()}}}},
	} {
		if err := Write(io.Discard, Run{Title: "t", Boxes: []Boxes{b}}); err == nil {
			t.Errorf("%s: drawn", name)
		}
	}
}

func TestScalesHoldTheValues(t *testing.T) {
	lines := []Line{{"a", []float64{0.3, math.NaN(), 20}}}
	for name, got := range map[string]struct{ is, want Scale }{
		"linear":   {LinearScale(lines), Scale{Most: 20}},
		"close":    {CloseScale([]Line{{"a", []float64{0.63, 0.66}}}), Scale{Least: 0.6, Most: 0.7}},
		"log":      {LogScale(lines), Scale{Least: 0.1, Most: 100, Log: true}},
		"log of 0": {LogScale([]Line{{"a", []float64{0, 5}}}), Scale{Most: 5}},
	} {
		if got.is != got.want {
			t.Errorf("%s: %+v, want %+v", name, got.is, got.want)
		}
	}
	if at := (Scale{Least: 0.1, Most: 1000, Log: true}).position(10); math.Abs(at-0.5) > 1e-12 {
		t.Errorf("10 lies at %g of the powers from 0.1 to 1000, want the middle", at)
	}
	if err := (&Curve{Title: "c", Steps: []string{"1"}, Scale: Scale{Most: 5}, Lines: []Line{{"a", []float64{6}}}}).validate(); err == nil {
		t.Error("a value above the scale is drawn")
	}
}

func TestStudyShowsItsPartsAndObeysNoMarkup(t *testing.T) {
	var b bytes.Buffer
	err := WriteStudy(&b, Study{Title: "papers", Parts: []Part{{
		Title: "table <script>", Header: []string{"cell", "ours"}, Rows: [][]string{{"all", "0.5"}},
		Curves: []Curve{{Title: "c", X: "n", Steps: []string{"1", "2"}, Lines: []Line{{"a", []float64{0.25, 1}}}}},
		Claims: []Claim{{"it is fast", "holds", "2 s"}},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"table &lt;script&gt;", "<td>0.5</td>", "polyline", "it is fast", "holds"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if WriteStudy(io.Discard, Study{}) == nil {
		t.Error("a study without a title is written")
	}
}

// A graph's ends are the corners of its square, and other values get even steps.
func TestGraph(t *testing.T) {
	g := Graph{Title: "roc", X: "fpr", Y: "tpr", Lines: []Trace{
		{Name: "a", X: []float64{0, 0, 1}, Y: []float64{0, 0.5, 1}, Dotted: true}, {Name: "chance", X: []float64{0, 1}, Y: []float64{0, 1}, Dashed: true},
	}}
	d := g.toDrawing()
	if at := d.Lines[0].Points; at[0].X != graphLeft || at[0].Y != graphBottom || at[2].X != graphRight || at[2].Y != graphTop || at[1].Y != (graphTop+graphBottom)/2 {
		t.Errorf("points %+v", at)
	}
	if len(d.Lines[1].Points) > 0 || !d.Lines[1].Dashed || d.Lines[1].Base <= d.Lines[0].Base || d.Lines[1].Base >= d.Height {
		t.Errorf("second line %+v of height %d", d.Lines[1], d.Height)
	}
	g.Lines[0].Y = []float64{-0.33, 0.1, 0.655}
	var texts []string
	for _, m := range g.toDrawing().Up {
		texts = append(texts, m.Text)
	}
	if d := cmp.Diff([]string{"-0.5", "0", "0.5", "1", "1.5"}, texts); d != "" {
		t.Error(d)
	}
	for least, most := range map[float64]float64{-0.33: 1, 0: 0, 120: 2500, -7: -6.99} {
		if s := evenScale(least, most); s.Least > least || s.Most < most || (s.Most-s.Least) > 16*math.Max(most-least, 1) {
			t.Errorf("%v to %v is drawn from %v to %v", least, most, s.Least, s.Most)
		}
	}
}

func TestFiguresOnAPage(t *testing.T) {
	r := Run{
		Title: "t", Tables: []Table{{Title: "each class", Header: []string{"class", "f1"}, Rows: [][]string{{"ill", "0.5"}}}},
		Matrix: &Matrix{Classes: []string{"ill", "well"}, Counts: [][]int{{3, 1}, {0, 0}}}, Job: "kind: Job",
		Graphs: []Graph{{Title: "roc", Lines: []Trace{{Name: "ill", X: []float64{0, 1}, Y: []float64{0, 1}}}}},
	}
	got := render(t, r)
	for _, part := range []string{"each class", `<td data-label="f1">0.5</td>`, "<pre>kind: Job</pre>", `aria-label="roc"`, "45%", "as well"} {
		if !strings.Contains(got, part) {
			t.Errorf("the page lacks %s", part)
		}
	}
	if s := r.Matrix.shades(); s[1][0].Percent != 0 || !s[0][0].Right || s[0][1].Right {
		t.Errorf("shades %+v", s)
	}
}

func TestFiguresThatCannotBeDrawn(t *testing.T) {
	for name, r := range map[string]Run{
		"ragged table":   {Title: "t", Tables: []Table{{Header: []string{"a"}, Rows: [][]string{{"1", "2"}}}}},
		"matrix":         {Title: "t", Matrix: &Matrix{Classes: []string{"a"}, Counts: [][]int{{1, 2}}}},
		"no lines":       {Title: "t", Graphs: []Graph{{Title: "g"}}},
		"ragged line":    {Title: "t", Graphs: []Graph{{Lines: []Trace{{X: []float64{1}}}}}},
		"line to no end": {Title: "t", Graphs: []Graph{{Lines: []Trace{{X: []float64{1}, Y: []float64{math.Inf(1)}}}}}},
	} {
		if err := Write(io.Discard, r); err == nil || !strings.HasPrefix(err.Error(), "report: ") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
