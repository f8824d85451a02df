package paper

import (
	"encoding/csv"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"

	"gonum.org/v1/plot"

	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/report"
	"github.com/mercer-fl/mercer/report/picture"
)

// Measurement holds the rows, charts and claims of an experiment.
type Measurement struct {
	Experiment Experiment     `json:"experiment"`
	Data       string         `json:"data"` // origin of the rows: the paper's data, or a replacement
	Rows       []Row          `json:"rows"`
	Boxes      []report.Boxes `json:"-"`
	Curves     []report.Curve `json:"-"` // curves drawn from the rows
	Claims     []Claim        `json:"claims"`
	Seconds    float64        `json:"seconds"` // duration of the experiment in seconds
}

// Row holds one measured figure and its published value.
type Row struct {
	Cell      string         `json:"cell"`
	Figure    string         `json:"figure"` // name and unit of the figure
	Ours      learner.Spread `json:"ours"`
	Published *float64       `json:"published"` // nil if the paper prints no such number
}

// Claim is a claim of the paper, or of Mercer's documentation, with our verdict.
type Claim struct {
	Text    string  `json:"claim"`
	Verdict Verdict `json:"verdict"`
	Numbers string  `json:"numbers"` // measured values that decide the verdict
	Doubted bool    `json:"doubted"` // the documentation says that the claim does not hold in general
}

// Surprises reports whether a claim unexpectedly does not hold.
func (c Claim) Surprises() bool { return c.Verdict == Fails && !c.Doubted }

// Verdict compares our figures with a claim.
type Verdict string

// Possible verdicts on a claim.
const (
	Holds   Verdict = "holds"
	Fails   Verdict = "does not hold"
	Unknown Verdict = "cannot be checked"
)

// judge returns a claim with its verdict. The argument isConfirmed says whether our figures confirm
// the claim.
func judge(text string, isConfirmed bool, format string, numbers ...any) Claim {
	verdict := Fails
	if isConfirmed {
		verdict = Holds
	}
	return Claim{Text: text, Verdict: verdict, Numbers: fmt.Sprintf(format, numbers...)}
}

// published returns a pointer to a number from the paper.
func published(v float64) *float64 { return &v }

// Header returns the column names of Table and WriteCSV.
func Header() []string {
	return []string{"cell", "figure", "mean", "deviation", "runs", "paper", "data"}
}

// beforeData is the number of columns before the column "data". A page or a terminal shows the
// content of that column only once.
const beforeData = 6

// Brief returns the table's header and rows, without the column "data" and the columns after it.
func (f *Measurement) Brief() (header []string, rows [][]string) {
	for _, row := range f.Table() {
		rows = append(rows, row[:beforeData])
	}
	return Header()[:beforeData], rows
}

// Table returns the rows as texts, one for each column of Header.
func (f *Measurement) Table() [][]string {
	var table [][]string
	for _, r := range f.Rows {
		paper := "no number"
		if strings.HasPrefix(f.Experiment.Name, "figure") {
			paper = "picture"
		}
		if r.Published != nil {
			paper = number(*r.Published)
		}
		deviation := ""
		if len(r.Ours.Values) > 1 {
			deviation = number(r.Ours.Deviation)
		}
		table = append(table, []string{r.Cell, r.Figure, number(r.Ours.Mean), deviation, strconv.Itoa(len(r.Ours.Values)), paper, f.Data})
	}
	return table
}

func number(v float64) string { return strconv.FormatFloat(v, 'g', 4, 64) }

// WriteCSV writes the rows of all measurements. Each row begins with the paper and the experiment.
func WriteCSV(w io.Writer, measurements []*Measurement) error {
	c := csv.NewWriter(w)
	records := [][]string{append([]string{"paper", "experiment"}, Header()...)}
	for _, f := range measurements {
		for _, row := range f.Table() {
			records = append(records, append([]string{f.Experiment.Paper, f.Experiment.Name}, row...))
		}
	}
	return c.WriteAll(records)
}

// SavePictures writes each curve and box plot as SVG and PNG into a folder.
func (f *Measurement) SavePictures(dir string) error {
	n := 0
	save := func(p *plot.Plot, err error) error {
		n++
		if err != nil {
			return err
		}
		return picture.Save(filepath.Join(dir, fmt.Sprintf("%s-%s-%d", f.Experiment.Paper, f.Experiment.Name, n)), p)
	}
	for i := range f.Curves {
		if err := save(picture.OfCurve(&f.Curves[i])); err != nil {
			return err
		}
	}
	for i := range f.Boxes {
		if err := save(picture.OfBoxes(&f.Boxes[i])); err != nil {
			return err
		}
	}
	return nil
}

// Part returns the measurement as one part of a report page.
func (f *Measurement) Part() report.Part {
	p := report.Part{
		Title: fmt.Sprintf("%s %s: %s", f.Experiment.Paper, f.Experiment.Name, f.Experiment.Title),
		Intro: fmt.Sprintf("Data: %s. It took %.0f s.", f.Data, f.Seconds),
		Boxes: f.Boxes, Curves: f.Curves,
	}
	p.Header, p.Rows = f.Brief()
	for _, c := range f.Claims {
		p.Claims = append(p.Claims, report.Claim{Text: c.Text, Verdict: string(c.Verdict), Numbers: c.Numbers})
	}
	return p
}
