// Package picture writes the curves, graphs and box plots of a report as SVG and PNG files, for
// papers and slides.
//
//	p, err := picture.OfCurve(&curve)
//	if err != nil {
//		return err
//	}
//	return picture.Save("figures/gu-figure5", p)
package picture

import (
	"bytes"
	"errors"
	"fmt"
	"image/color"
	"math"
	"os"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"

	"github.com/mercer-fl/mercer/report"
)

// Size of a picture.
const (
	width  = 16 * vg.Centimeter
	height = 9 * vg.Centimeter
	dpi    = 150 // resolution of a PNG
)

// colours are the colours of lines. The first four are those of the HTML page in its light setting.
var colours = []color.Color{
	color.RGBA{0x0b, 0x6e, 0x63, 0xff}, color.RGBA{0xb4, 0x45, 0x1f, 0xff}, color.RGBA{0x4c, 0x73, 0x96, 0xff}, color.RGBA{0xc9, 0x8a, 0x1b, 0xff},
	color.RGBA{0x7b, 0x3f, 0x98, 0xff}, color.RGBA{0x2b, 0x2b, 0x2b, 0xff}, color.RGBA{0xd1, 0x5a, 0x9a, 0xff}, color.RGBA{0x7a, 0x9a, 0x1f, 0xff},
}

// Save writes a plot as path.svg and path.png.
func Save(path string, p *plot.Plot) error {
	vector := vgsvg.New(width, height)
	raster := vgimg.NewWith(vgimg.UseWH(width, height), vgimg.UseDPI(dpi))
	p.Draw(draw.New(vector))
	p.Draw(draw.New(raster))
	var svg, png bytes.Buffer
	_, errSVG := vector.WriteTo(&svg)
	_, errPNG := vgimg.PngCanvas{Canvas: raster}.WriteTo(&png)
	if err := errors.Join(errSVG, errPNG); err != nil {
		return fmt.Errorf("picture: %s: %w", path, err)
	}
	return errors.Join(os.WriteFile(path+".svg", svg.Bytes(), 0o600), os.WriteFile(path+".png", png.Bytes(), 0o600))
}

// OfCurve plots the lines of a curve. Missing values are left out.
func OfCurve(c *report.Curve) (*plot.Plot, error) {
	p := plot.New()
	p.Title.Text, p.X.Label.Text = c.Title, c.X
	p.X.Tick.Marker = steps(c.Steps)
	p.Add(plotter.NewGrid())
	for i, l := range c.Lines {
		if err := add(p, l, i); err != nil {
			return nil, fmt.Errorf("picture: line %q of %q: %w", l.Name, c.Title, err)
		}
	}
	p.Legend.Top, p.Legend.Left = true, true
	p.Y.Min, p.Y.Max = c.Scale.Ends()
	if c.Scale.Log {
		p.Y.Scale, p.Y.Tick.Marker = plot.LogScale{}, plot.LogTicks{Prec: -1}
	}
	return p, nil
}

// add draws line i of a curve, with its points and its entry in the legend.
func add(p *plot.Plot, l report.Line, i int) error {
	var at plotter.XYs
	for x, y := range l.Values {
		if !math.IsNaN(y) {
			at = append(at, plotter.XY{X: float64(x), Y: y})
		}
	}
	if at == nil {
		return nil
	}
	line, points, err := plotter.NewLinePoints(at)
	if err != nil {
		return err
	}
	line.Color, points.Color = colours[i%len(colours)], colours[i%len(colours)]
	line.Width, points.Shape = vg.Points(1.5), draw.CircleGlyph{}
	p.Add(line, points)
	p.Legend.Add(l.Name, line, points)
	return nil
}

// steps holds the texts of a curve's steps. A step with an empty text gets no tick.
type steps []string

// Ticks implements plot.Ticker.
func (s steps) Ticks(_, _ float64) (list []plot.Tick) {
	for i, text := range s {
		if text != "" {
			list = append(list, plot.Tick{Value: float64(i), Label: text})
		}
	}
	return list
}

// OfBoxes draws box plots, with the first box at the top.
func OfBoxes(b *report.Boxes) (*plot.Plot, error) {
	p := plot.New()
	p.Title.Text = b.Title
	p.Add(plotter.NewGrid())
	names := make([]string, len(b.Boxes))
	for i, x := range b.Boxes {
		row := len(b.Boxes) - 1 - i
		names[row] = x.Name
		box, err := plotter.NewBoxPlot(vg.Points(18), float64(row), plotter.Values(x.Values))
		if err != nil {
			return nil, fmt.Errorf("picture: box %q of %q: %w", x.Name, b.Title, err)
		}
		box.Horizontal, box.FillColor = true, color.RGBA{0xa9, 0xc0, 0xd3, 0xff}
		p.Add(box)
	}
	p.NominalY(names...)
	margin := (p.X.Max - p.X.Min) / 25 // the outermost whiskers stay inside
	p.X.Min, p.X.Max = p.X.Min-margin, p.X.Max+margin
	return p, nil
}

// OfGraph plots lines through points of a plane, such as a ROC curve.
func OfGraph(g *report.Graph) (*plot.Plot, error) {
	p := plot.New()
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = g.Title, g.X, g.Y
	p.Add(plotter.NewGrid())
	for i, l := range g.Lines {
		at := make(plotter.XYs, len(l.X))
		for k := range at {
			at[k] = plotter.XY{X: l.X[k], Y: l.Y[k]}
		}
		line, err := plotter.NewLine(at)
		if err != nil {
			return nil, fmt.Errorf("picture: line %q of %q: %w", l.Name, g.Title, err)
		}
		line.Color, line.Width = colours[i%len(colours)], vg.Points(1.5)
		if l.Dashed {
			line.Dashes = []vg.Length{vg.Points(4), vg.Points(3)}
		}
		p.Add(line)
		p.Legend.Add(l.Name, line)
	}
	return p, nil
}
