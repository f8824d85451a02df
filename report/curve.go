package report

import (
	"fmt"
	"math"
	"strings"
)

// Curve is shares against steps, drawn as lines and written as a table.
type Curve struct {
	Title string
	X     string   // what the steps count
	Steps []string // from left to right
	Lines []Line
	Notes []Note // more columns of the table
}

// Line is one value from 0 to 1 for each step.
type Line struct {
	Name   string
	Values []float64
}

// Note is one text for each step.
type Note struct {
	Name  string
	Texts []string
}

// validate refuses a curve that cannot be drawn.
func (c *Curve) validate() error {
	if len(c.Steps) == 0 {
		return fmt.Errorf("report: curve %q has no steps", c.Title)
	}
	for _, l := range c.Lines {
		if len(l.Values) != len(c.Steps) {
			return fmt.Errorf("report: line %q has %d values for %d steps", l.Name, len(l.Values), len(c.Steps))
		}
		for _, v := range l.Values {
			if !(v >= 0) || v > 1 {
				return fmt.Errorf("report: line %q goes through %v; shares are from 0 to 1", l.Name, v)
			}
		}
	}
	for _, n := range c.Notes {
		if len(n.Texts) != len(c.Steps) {
			return fmt.Errorf("report: column %q has %d texts for %d steps", n.Name, len(n.Texts), len(c.Steps))
		}
	}
	return nil
}

// Geometry of a curve, in units of the view box.
const (
	curveHeight = 260
	curveLeft   = 46
	curveRight  = 500 // where the lines end, and their names begin
	curveTop    = 12
	curveBottom = 220
)

// plot is a curve in the units of its view box.
type plot struct {
	Title  string
	X      string
	Grid   []mark // levels of the shares
	Steps  []mark
	Lines  []drawn
	Header []string
	Rows   [][]string
}

// mark is a text at a place on an axis.
type mark struct {
	At   float64
	Text string
}

// drawn is a line with its points.
type drawn struct {
	Name   string
	Class  string
	Path   string // of a polyline
	Points []point
	EndY   float64 // where its name is written
}

type point struct {
	X, Y float64
	Text string
}

// classes of lines, in order.
func lineClass(i int) string { return []string{"together", "alarm", "plain", "pooled"}[i%4] }

func (c *Curve) plot() *plot {
	p := &plot{Title: c.Title, X: c.X, Header: []string{c.X}}
	for level := 0.0; level <= 1; level += 0.25 {
		p.Grid = append(p.Grid, mark{height(level), fmt.Sprintf("%.2f", level)})
	}
	for i, s := range c.Steps {
		p.Steps = append(p.Steps, mark{c.across(i), s})
		p.Rows = append(p.Rows, []string{s})
	}
	for k, l := range c.Lines {
		d := drawn{Name: l.Name, Class: lineClass(k)}
		var path []string
		for i, v := range l.Values {
			at := point{c.across(i), height(v), fmt.Sprintf("%s, %s %s: %.4f", l.Name, c.X, c.Steps[i], v)}
			d.Points = append(d.Points, at)
			path = append(path, fmt.Sprintf("%g,%g", at.X, at.Y))
			p.Rows[i] = append(p.Rows[i], fmt.Sprintf("%.4f", v))
		}
		d.Path, d.EndY = strings.Join(path, " "), d.Points[len(d.Points)-1].Y+4
		p.Lines, p.Header = append(p.Lines, d), append(p.Header, l.Name)
	}
	p.spread()
	for _, n := range c.Notes {
		p.Header = append(p.Header, n.Name)
		for i, text := range n.Texts {
			p.Rows[i] = append(p.Rows[i], text)
		}
	}
	return p
}

// spread keeps names of lines that end at the same height apart.
func (p *plot) spread() {
	for k := 1; k < len(p.Lines); k++ {
		for _, above := range p.Lines[:k] {
			if math.Abs(p.Lines[k].EndY-above.EndY) < baseLine {
				p.Lines[k].EndY = above.EndY + baseLine
			}
		}
	}
}

// across returns the horizontal position of step i.
func (c *Curve) across(i int) float64 {
	return round1(curveLeft + float64(i)*(curveRight-curveLeft)/math.Max(1, float64(len(c.Steps)-1)))
}

// height returns the vertical position of a share.
func height(v float64) float64 { return round1(curveBottom - v*(curveBottom-curveTop)) }
