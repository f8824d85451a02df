package report

import (
	"fmt"
	"math"
	"slices"
)

// chart is a group of horizontal bars that start at zero and share one scale. Lengths are in units
// of the chart's view box.
type chart struct {
	Title  string // description for readers who cannot see the chart
	Height int
	Bars   []bar
}

type bar struct {
	Label   string // the label, shortened to fit
	Full    string
	Text    string // the value as text
	Class   string
	Y       int // upper edge of the bar's band
	Base    int // vertical position of the texts
	Width   float64
	TextEnd float64 // horizontal position of the value's text
}

// Percent returns the width of the bar as a percentage of the longest possible bar.
func (b bar) Percent() float64 { return round1(100 * b.Width / barRoom) }

// Geometry of a chart, in units of the view box.
const (
	chartWidth = 640
	labelWidth = 150
	valueWidth = 140
	barRoom    = chartWidth - labelWidth - valueWidth
	bandHeight = 26
	baseLine   = 16
	gap        = 6
	maxLabel   = 20 // largest length of a label, in runes
)

// item is one value of a bar chart.
type item struct {
	label, text, class string
	value              float64
}

// newChart draws one bar for each item. full is the value of the longest possible bar.
func newChart(title string, full float64, items []item) chart {
	c := chart{Title: title, Height: len(items) * bandHeight}
	for i, it := range items {
		width := barRoom * fraction(it.value, full)
		c.Bars = append(c.Bars, bar{
			Label: shorten(it.label), Full: it.label, Text: it.text, Class: it.class,
			Y: i * bandHeight, Base: i*bandHeight + baseLine,
			Width: round1(width), TextEnd: round1(labelWidth + width + gap),
		})
	}
	return c
}

// fraction returns value/full, limited to the range from 0 to 1. For an unknown value (NaN) it
// returns 0.
func fraction(value, full float64) float64 {
	if s := value / full; s > 0 {
		return min(s, 1)
	}
	return 0
}

func round1(x float64) float64 { return math.Round(10*x) / 10 }

func shorten(s string) string {
	if r := []rune(s); len(r) > maxLabel {
		return string(r[:maxLabel-1]) + "…"
	}
	return s
}

// value returns a metric and reports whether the metric is known. An unknown metric is 0.
func (s Score) value(metric string) (float64, bool) {
	v, ok := s.Values[metric]
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return 0, false
	}
	return v, ok
}

// formatMetric returns a metric with four decimals, as in the papers' tables, or with five digits from 10 on. It
// returns "not known" for an unknown metric.
func formatMetric(v float64, known bool) string {
	switch {
	case !known:
		return "not known"
	case math.Abs(v) < 10:
		return fmt.Sprintf("%.4f", v)
	}
	return fmt.Sprintf("%.5g", v)
}

func seconds(s float64) string {
	if s < 0.1 {
		return fmt.Sprintf("%.1f ms", 1000*s)
	}
	return fmt.Sprintf("%.2f s", s)
}

// Boxes are box plots on one common scale. The page draws them one below the other and lists their
// values in a table.
type Boxes struct {
	Title string
	Boxes []Box
}

// Box holds the results of one kind of training, in any order.
type Box struct {
	Name   string
	Kind   Kind
	Values []float64
}

// validate returns an error if the boxes cannot be drawn.
func (b *Boxes) validate() error {
	if len(b.Boxes) == 0 {
		return fmt.Errorf("report: box plot %q has no boxes", b.Title)
	}
	for _, x := range b.Boxes {
		if len(x.Values) == 0 {
			return fmt.Errorf("report: box %q has no values; give at least one", x.Name)
		}
		if !x.Kind.known() {
			return fmt.Errorf("report: box %q is of kind %q; use %s", x.Name, x.Kind, kindNames)
		}
		for _, v := range x.Values {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return fmt.Errorf("report: box %q has the value %v; values must be finite", x.Name, v)
			}
		}
	}
	return nil
}

// boxChart holds box plots in the units of their view box.
type boxChart struct {
	Title     string
	Height    int
	Axis      int // vertical position of the scale's labels
	Low, High string
	Boxes     []drawnBox
	Table     grid
}

// drawnBox is a box from the lower to the upper quartile, with a line at the median and whiskers
// to the smallest and the largest value.
type drawnBox struct {
	Label, Full, Class         string
	Y, Middle, Bottom, Base    int
	Least, Lower, Median, Most float64
	Width                      float64 // width of the box
}

// Geometry of a box plot, in units of the view box.
const (
	boxLeft  = 170
	boxRight = 620
	boxInset = 4 // space between a box and the edge of its band
)

// chart draws the box plots. Their axis runs from the smallest to the largest value of all boxes.
func (b *Boxes) chart() boxChart {
	low, high := math.Inf(1), math.Inf(-1)
	for _, x := range b.Boxes {
		low, high = math.Min(low, slices.Min(x.Values)), math.Max(high, slices.Max(x.Values))
	}
	across := func(v float64) float64 { return round1(boxLeft + (boxRight-boxLeft)*fraction(v-low, high-low)) }
	var rows [][]string
	c := boxChart{Title: b.Title, Height: (len(b.Boxes) + 1) * bandHeight, Axis: len(b.Boxes)*bandHeight + baseLine, Low: formatMetric(low, true), High: formatMetric(high, true)}
	for i, x := range b.Boxes {
		sorted := slices.Sorted(slices.Values(x.Values))
		least, most := sorted[0], sorted[len(sorted)-1]
		lower, median, upper := quantile(sorted, 0.25), quantile(sorted, 0.5), quantile(sorted, 0.75)
		d := drawnBox{
			Label: shorten(x.Name), Class: string(x.Kind), Y: i*bandHeight + boxInset, Bottom: (i+1)*bandHeight - boxInset, Middle: i*bandHeight + bandHeight/2, Base: i*bandHeight + baseLine,
			Least: across(least), Lower: across(lower), Median: across(median), Most: across(most), Width: round1(across(upper) - across(lower)),
		}
		d.Full = fmt.Sprintf("%s: median %s, from %s to %s", x.Name, formatMetric(median, true), formatMetric(least, true), formatMetric(most, true))
		row := []string{x.Name, fmt.Sprint(len(sorted))}
		for _, v := range []float64{least, lower, median, upper, most} {
			row = append(row, formatMetric(v, true))
		}
		c.Boxes, rows = append(c.Boxes, d), append(rows, row)
	}
	c.Table = gridOf([]string{"who learns", "runs", "least", "lower quartile", "median", "upper quartile", "most"}, rows, nil)
	return c
}

// quantile interpolates between the two values next to position q*(n-1) of a sorted list. This is
// type 7 of Hyndman and Fan, the default of numpy and R.
func quantile(sorted []float64, q float64) float64 {
	at := q * float64(len(sorted)-1)
	i := int(at)
	if i+1 == len(sorted) {
		return sorted[i]
	}
	return sorted[i] + (at-float64(i))*(sorted[i+1]-sorted[i])
}
