package report

import (
	"fmt"
	"math"
	"strings"
)

// Graph is a plot of lines through points of a plane, such as a ROC curve.
type Graph struct {
	Title string
	X, Y  string // labels of the axes
	Lines []Trace
}

// Trace is one line of a graph, through its points in order.
type Trace struct {
	Name   string
	X, Y   []float64
	Dashed bool // draws a dashed line, as for a line of comparison
	Dotted bool // draws a mark at every point
}

// validate returns an error if the graph cannot be drawn.
func (g *Graph) validate() error {
	if len(g.Lines) == 0 {
		return fmt.Errorf("report: graph %q has no lines", g.Title)
	}
	for _, l := range g.Lines {
		if len(l.X) != len(l.Y) || len(l.X) == 0 {
			return fmt.Errorf("report: line %q of graph %q has %d x and %d y coordinates; the numbers must be equal and above 0", l.Name, g.Title, len(l.X), len(l.Y))
		}
		for i := range l.X {
			if s := l.X[i] + l.Y[i]; math.IsNaN(s) || math.IsInf(s, 0) {
				return fmt.Errorf("report: line %q of graph %q goes through (%v, %v); coordinates must be finite", l.Name, g.Title, l.X[i], l.Y[i])
			}
		}
	}
	return nil
}

// Geometry of a graph, in units of the view box.
const (
	graphLeft   = 96
	graphRight  = 376
	graphTop    = 10
	graphBottom = 260
	graphNames  = 326 // vertical position of the first name below the axis
)

// drawing is a graph in the units of its view box.
type drawing struct {
	Title, X, Y string
	Height      int
	Across, Up  []mark
	Lines       []stroke
}

// stroke is a line with its name in the legend.
type stroke struct {
	Name, Class, Path string
	Dashed            bool
	Points            []point
	Base              int // vertical position of the name
}

// toDrawing converts the graph to the units of its view box.
func (g *Graph) toDrawing() *drawing {
	x, y := g.axes()
	d := &drawing{Title: g.Title, X: g.X, Y: g.Y, Height: graphNames + bandHeight*len(g.Lines)}
	across := func(v float64) float64 { return round1(graphLeft + (graphRight-graphLeft)*x.position(v)) }
	up := func(v float64) float64 { return round1(graphBottom - (graphBottom-graphTop)*y.position(v)) }
	for _, v := range x.gridValues() {
		d.Across = append(d.Across, mark{across(v), levelText(x, v)})
	}
	for _, v := range y.gridValues() {
		d.Up = append(d.Up, mark{up(v), levelText(y, v)})
	}
	for k, l := range g.Lines {
		s := stroke{Name: l.Name, Class: lineClass(k), Dashed: l.Dashed, Base: graphNames + k*bandHeight}
		path := make([]string, len(l.X))
		for i := range l.X {
			at := point{across(l.X[i]), up(l.Y[i]), fmt.Sprintf("%s: %s %.4g, %s %.4g", l.Name, g.X, l.X[i], g.Y, l.Y[i])}
			path[i] = fmt.Sprintf("%g,%g", at.X, at.Y)
			if l.Dotted {
				s.Points = append(s.Points, at)
			}
		}
		s.Path = strings.Join(path, " ")
		d.Lines = append(d.Lines, s)
	}
	return d
}

// axes returns the scales of both axes. The scale of an axis runs from 0 to 1 if all its values are
// between 0 and 1.
func (g *Graph) axes() (x, y Scale) {
	var across, up []Line
	for _, l := range g.Lines {
		across, up = append(across, Line{Values: l.X}), append(up, Line{Values: l.Y})
	}
	return axisOf(across), axisOf(up)
}

func axisOf(lines []Line) Scale {
	least, most := extent(lines)
	if least >= 0 && most <= 1 {
		return Scale{}
	}
	return evenScale(least, most)
}

// evenScale returns a scale of four equal steps that covers the range from bottom to top. Each step
// is 1, 2, 2.5 or 5 times a power of ten.
func evenScale(bottom, top float64) Scale {
	if !(top > bottom) { // all values are equal: choose a range around them
		bottom, top = bottom-0.5, bottom+0.5
	}
	for power := math.Floor(math.Log10((top - bottom) / 4)); ; power++ {
		for _, unit := range []float64{1, 2, 2.5, 5} {
			step := unit * math.Pow(10, power)
			if low := math.Floor(bottom/step) * step; low+4*step >= top {
				return Scale{Least: low, Most: low + 4*step}
			}
		}
	}
}

// levelText formats the value of a grid line of an even scale. It rounds first, to remove
// floating-point error.
func levelText(s Scale, v float64) string {
	if step := (s.Most - s.Least) / 4; step > 0 {
		v = math.Round(v/step*10) / 10 * step
	}
	return s.valueLabel(v)
}
