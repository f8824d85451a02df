package report

import (
	"errors"
	"io"
)

// Study is the content of a page about several experiments.
type Study struct {
	Title string
	Facts []Row // facts about the run, such as machine and versions
	Parts []Part
}

// Part is one experiment. Every field except the title can be empty.
type Part struct {
	Title, Intro string
	Header       []string
	Rows         [][]string
	Boxes        []Boxes
	Curves       []Curve
	Claims       []Claim
}

// Claim is a published claim with the outcome of its test.
type Claim struct{ Text, Verdict, Numbers string }

// drawnPart holds the values of one experiment that the template uses.
type drawnPart struct {
	Part
	BoxCharts  []boxChart
	CurvePlots []*plot
}

// WriteStudy writes a study as one HTML page. It writes nothing if the title is empty or a chart cannot be drawn.
func WriteStudy(w io.Writer, s Study) error {
	if s.Title == "" {
		return errors.New("report: the study has no title; give it one")
	}
	var parts []drawnPart
	for _, p := range s.Parts {
		d := drawnPart{Part: p}
		for _, b := range p.Boxes {
			if err := b.validate(); err != nil {
				return err
			}
			d.BoxCharts = append(d.BoxCharts, b.chart())
		}
		for _, c := range p.Curves {
			if err := c.validate(); err != nil {
				return err
			}
			d.CurvePlots = append(d.CurvePlots, c.plot())
		}
		parts = append(parts, d)
	}
	return write(w, studyText, struct {
		Study
		Drawn []drawnPart
	}{s, parts})
}
