package bench

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"

	"github.com/mercer-fl/mercer/internal/base/disk"
	"github.com/mercer-fl/mercer/report"
)

// curvePages is a folder of pages, one for each lesson: plots and tables of its modes' errors
// against iterations and against time. Without a folder there are no pages.
type curvePages struct{ folder string }

// open makes the folder, before minutes of work rely on it.
func (p curvePages) open() error {
	if p.folder == "" {
		return nil
	}
	if err := os.MkdirAll(p.folder, 0o755); err != nil {
		return fmt.Errorf("bench: %w", err)
	}
	return nil
}

func (p curvePages) write(l learnt) error {
	if p.folder == "" {
		return nil
	}
	run := report.Run{Title: "FDSKL on " + l.name, Curves: []report.Curve{l.byIterations(), l.byTime()}}
	for _, c := range l.courses {
		run.Summary = append(run.Summary, report.Row{Label: c.mode, Value: c.String()})
	}
	var text bytes.Buffer
	if err := report.Write(&text, run); err != nil {
		return err
	}
	return disk.Replace(filepath.Join(p.folder, "fdskl-"+l.name+".html"), text.Bytes())
}

// byIterations is the curve at powers of 4.
func (l learnt) byIterations() report.Curve {
	c := report.Curve{Title: "Test error by iterations (cached: passes)", X: "iterations"}
	var moments []float64
	for n := 1.0; n <= l.largest(snapshot.count); n *= 4 {
		moments = append(moments, n)
		c.Steps = append(c.Steps, fmt.Sprint(n))
	}
	c.Lines = l.lines(moments, snapshot.count)
	return c
}

// byTime is the curve at powers of 2.
func (l learnt) byTime() report.Curve {
	const shown = 9
	c := report.Curve{Title: "Test error by processor time of all workers", X: "seconds"}
	var moments []float64
	for most := math.Ceil(math.Log2(l.largest(snapshot.seconds))); len(moments) < shown; {
		s := math.Exp2(most - float64(shown-1-len(moments)))
		moments = append(moments, s)
		c.Steps = append(c.Steps, fmt.Sprintf("%.2g", s))
	}
	c.Lines = l.lines(moments, snapshot.seconds)
	return c
}

func (s snapshot) count() float64   { return float64(s.iterations) }
func (s snapshot) seconds() float64 { return s.cpu }

// largest returns the end of the longest curve.
func (l learnt) largest(of func(snapshot) float64) float64 {
	most := 0.0
	for _, curve := range l.curves {
		for _, s := range curve {
			most = max(most, of(s))
		}
	}
	return most
}

// lines returns, for each mode and moment, the error of the last snapshot by then. Before the
// first snapshot it is the error of an empty model; after the last one it stays as it is.
func (l learnt) lines(moments []float64, of func(snapshot) float64) []report.Line {
	y := l.targets.Data[l.train:]
	var lines []report.Line
	for i, c := range l.courses {
		line := report.Line{Name: c.mode}
		for _, m := range moments {
			share := wrong(make([]float64, len(y)), y) // of a model of nothing
			for _, s := range l.curves[i] {
				if of(s) <= m {
					share = s.wrong
				}
			}
			line.Values = append(line.Values, share)
		}
		lines = append(lines, line)
	}
	return lines
}
