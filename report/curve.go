package report

import (
	"fmt"
	"math"
	"strings"
)

// Curve holds lines over common steps. The page draws the lines and lists their values in a table.
type Curve struct {
	Title string
	Scale Scale    // scale of the values; the zero Scale suits shares from 0 to 1
	X     string   // the unit of the steps
	Steps []string // labels of the steps, from left to right
	Lines []Line
	Notes []Note // additional columns of the table
}

// Scale is the range of a curve's value axis.
type Scale struct {
	Least, Most float64
	Log         bool // whether the scale is logarithmic; then Least must be above 0
}

// isOfShares reports whether s is the zero Scale, which suits shares from 0 to 1.
func (s Scale) isOfShares() bool { return s == Scale{} }

// Ends returns the least and the greatest value of the scale.
func (s Scale) Ends() (least, most float64) {
	if s.isOfShares() {
		return 0, 1
	}
	return s.Least, s.Most
}

// position returns the position of a value between the ends of the scale, as a number from 0 to 1.
func (s Scale) position(v float64) float64 {
	switch {
	case s.isOfShares():
		return v
	case s.Log:
		return math.Log(v/s.Least) / math.Log(s.Most/s.Least)
	}
	return (v - s.Least) / (s.Most - s.Least)
}

// gridValues returns the values at which grid lines are drawn.
func (s Scale) gridValues() (list []float64) {
	if s.isOfShares() {
		return []float64{0, 0.25, 0.5, 0.75, 1}
	}
	if !s.Log {
		for i := range 5 {
			list = append(list, s.Least+float64(i)/4*(s.Most-s.Least))
		}
		return list
	}
	for v := math.Pow10(int(math.Ceil(math.Log10(s.Least)))); v <= s.Most; v *= 10 {
		list = append(list, v)
	}
	return list
}

// valueLabel formats the value of a grid line.
func (s Scale) valueLabel(v float64) string {
	if s.isOfShares() {
		return fmt.Sprintf("%.2f", v)
	}
	return fmt.Sprintf("%.3g", v)
}

// LinearScale returns a scale from 0 to the largest value of the lines.
func LinearScale(lines []Line) Scale {
	_, most := extent(lines)
	return Scale{Most: most}
}

// CloseScale returns a scale that is hardly wider than the range of the lines' values, so that
// small differences are visible. The ends of the scale are multiples of 1/20.
func CloseScale(lines []Line) Scale {
	least, most := extent(lines)
	return Scale{Least: math.Floor(20*least) / 20, Most: math.Max(math.Ceil(20*most), math.Floor(20*least)+1) / 20}
}

// LogScale returns a logarithmic scale that contains the values of the lines. Its ends are powers
// of ten. If a value is not above 0, it returns a linear scale.
func LogScale(lines []Line) Scale {
	least, most := extent(lines)
	if least <= 0 {
		return LinearScale(lines)
	}
	first, last := math.Floor(math.Log10(least)), math.Ceil(math.Log10(most))
	return Scale{Least: math.Pow10(int(first)), Most: math.Pow10(int(math.Max(last, first+1))), Log: true}
}

// extent returns the smallest and the largest value of the lines.
func extent(lines []Line) (least, most float64) {
	least, most = math.Inf(1), math.Inf(-1)
	for _, l := range lines {
		for _, v := range l.Values {
			if !math.IsNaN(v) {
				least, most = math.Min(least, v), math.Max(most, v)
			}
		}
	}
	return least, most
}

// Line has one value for each step. NaN marks a missing value; a curve with the zero [Scale] allows none.
type Line struct {
	Name   string
	Values []float64
}

// Note is an additional column of a curve's table, with one text for each step.
type Note struct {
	Name  string
	Texts []string
}

// validate returns an error if the curve cannot be drawn.
func (c *Curve) validate() error {
	if len(c.Steps) == 0 {
		return fmt.Errorf("report: curve %q has no steps", c.Title)
	}
	for _, l := range c.Lines {
		if len(l.Values) != len(c.Steps) {
			return fmt.Errorf("report: line %q has %d values for %d steps; the numbers must be equal", l.Name, len(l.Values), len(c.Steps))
		}
		for _, v := range l.Values {
			if at := c.Scale.position(v); (c.Scale.isOfShares() || !math.IsNaN(v)) && !(at >= 0 && at <= 1) {
				least, most := c.Scale.Ends()
				return fmt.Errorf("report: line %q has the value %v; values must be within the scale, from %g to %g", l.Name, v, least, most)
			}
		}
	}
	for _, n := range c.Notes {
		if len(n.Texts) != len(c.Steps) {
			return fmt.Errorf("report: column %q has %d texts for %d steps; the numbers must be equal", n.Name, len(n.Texts), len(c.Steps))
		}
	}
	return nil
}

// Geometry of a curve, in units of the view box.
const (
	curveHeight = 276
	curveLeft   = 62
	curveRight  = 500 // horizontal position where lines end and names begin
	curveTop    = 12
	curveBottom = 220
)

// plot is a curve in the units of its view box.
type plot struct {
	Title  string
	X      string
	Grid   []mark // grid lines with their values
	Steps  []mark
	Lines  []drawnLine
	Header []string
	Rows   [][]string
}

// mark is a text at a position on an axis.
type mark struct {
	At   float64
	Text string
}

// drawnLine is a line of a curve in the units of the view box.
type drawnLine struct {
	Name   string
	Class  string
	Path   string // the points of an SVG polyline
	Points []point
	EndY   float64 // vertical position of the line's name
}

type point struct {
	X, Y float64
	Text string
}

// lineClass returns the CSS class of line i.
func lineClass(i int) string { return []string{"together", "alarm", "plain", "pooled"}[i%4] }

func (c *Curve) plot() *plot {
	p := &plot{Title: c.Title, X: c.X, Header: []string{c.X}}
	for _, level := range c.Scale.gridValues() {
		p.Grid = append(p.Grid, mark{c.yOfValue(level), c.Scale.valueLabel(level)})
	}
	for i, s := range c.Steps {
		p.Steps = append(p.Steps, mark{c.xOfStep(i), s})
		p.Rows = append(p.Rows, []string{s})
	}
	for k, l := range c.Lines {
		d := drawnLine{Name: l.Name, Class: lineClass(k)}
		var path []string
		for i, v := range l.Values {
			if math.IsNaN(v) {
				p.Rows[i] = append(p.Rows[i], "")
				continue
			}
			at := point{c.xOfStep(i), c.yOfValue(v), fmt.Sprintf("%s, %s %s: %.4f", l.Name, c.X, c.Steps[i], v)}
			d.Points = append(d.Points, at)
			path = append(path, fmt.Sprintf("%g,%g", at.X, at.Y))
			p.Rows[i] = append(p.Rows[i], fmt.Sprintf("%.4f", v))
		}
		d.Path = strings.Join(path, " ")
		if len(d.Points) > 0 {
			d.EndY = d.Points[len(d.Points)-1].Y + 4
		}
		p.Lines, p.Header = append(p.Lines, d), append(p.Header, l.Name)
	}
	p.separateNames()
	for _, n := range c.Notes {
		p.Header = append(p.Header, n.Name)
		for i, text := range n.Texts {
			p.Rows[i] = append(p.Rows[i], text)
		}
	}
	return p
}

// separateNames moves the names of lines apart if the lines end at about the same height.
func (p *plot) separateNames() {
	for k := 1; k < len(p.Lines); k++ {
		for _, above := range p.Lines[:k] {
			if math.Abs(p.Lines[k].EndY-above.EndY) < baseLine {
				p.Lines[k].EndY = above.EndY + baseLine
			}
		}
	}
}

// xOfStep returns the horizontal position of step i.
func (c *Curve) xOfStep(i int) float64 {
	return round1(curveLeft + float64(i)*(curveRight-curveLeft)/math.Max(1, float64(len(c.Steps)-1)))
}

// yOfValue returns the vertical position of a value.
func (c *Curve) yOfValue(v float64) float64 {
	return round1(curveBottom - c.Scale.position(v)*(curveBottom-curveTop))
}

// Table returns the curve's values as a table.
func (p *plot) Table() grid { return gridOf(p.Header, p.Rows, nil) }
