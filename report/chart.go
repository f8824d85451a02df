package report

import (
	"fmt"
	"math"
)

// chart is a group of horizontal bars that start at zero and share one scale,
// in the units of its own view box.
type chart struct {
	Title  string // for readers who do not see it
	Height int
	Bars   []bar
}

type bar struct {
	Label   string // shortened to fit
	Full    string
	Text    string // the value
	Class   string
	Y       int // top of the bar's band
	Base    int // base line of the texts
	Width   float64
	TextEnd float64 // where the value is written
}

// Percent is the width of the bar, of the longest possible one.
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
	maxLabel   = 20 // runes
)

// item is a value to be drawn.
type item struct {
	label, text, class string
	value              float64
}

// newChart draws items against full, the value of the longest possible bar.
func newChart(title string, full float64, items []item) chart {
	c := chart{Title: title, Height: len(items) * bandHeight}
	for i, it := range items {
		width := barRoom * share(it.value, full)
		c.Bars = append(c.Bars, bar{
			Label: shorten(it.label), Full: it.label, Text: it.text, Class: it.class,
			Y: i * bandHeight, Base: i*bandHeight + baseLine,
			Width: round1(width), TextEnd: round1(labelWidth + width + gap),
		})
	}
	return c
}

// share is value/full within 0 to 1; what is not known has no length.
func share(value, full float64) float64 {
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

// value returns a metric, and whether it is known; it is 0 if not.
func (s Score) value(metric string) (float64, bool) {
	v, ok := s.Values[metric]
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return 0, false
	}
	return v, ok
}

// number shows a metric to four decimals, as the tables of the papers do.
func number(v float64, known bool) string {
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
