package picture

import (
	"bytes"
	"fmt"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/report"
)

// saved saves a picture, and returns its SVG.
func saved(t *testing.T, save func(path string) error) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "chart")
	if err := save(path); err != nil {
		t.Fatal(err)
	}
	raster, err := os.ReadFile(path + ".png")
	if err != nil {
		t.Fatal(err)
	}
	c, err := png.DecodeConfig(bytes.NewReader(raster))
	if err != nil || c.Width < 900 || c.Height < 500 {
		t.Errorf("a PNG of %d by %d pixels, error %v", c.Width, c.Height, err)
	}
	vector, err := os.ReadFile(path + ".svg")
	if err != nil {
		t.Fatal(err)
	}
	return string(vector)
}

func TestACurveHasItsLinesItsStepsAndItsTitle(t *testing.T) {
	lines := []report.Line{{Name: "ours", Values: []float64{1, 10, 100}}, {Name: "theirs", Values: []float64{2, 30, math.NaN()}}}
	c := report.Curve{Title: "seconds", X: "rows", Steps: []string{"1000", "", "4000"}, Scale: report.LogScale(lines), Lines: lines}
	svg := saved(t, func(path string) error {
		p, err := OfCurve(&c)
		if err != nil {
			t.Fatal(err)
		}
		return Save(path, p)
	})
	for _, text := range []string{"seconds", "rows", "ours", "theirs", ">1000<", ">4000<", ">10<", ">100<"} {
		if !strings.Contains(svg, text) {
			t.Errorf("the picture does not say %q", text)
		}
	}
}

// Each of eight lines has a colour of its own, as a legend needs.
func TestEightLinesHaveEightColours(t *testing.T) {
	seen := make(map[string]bool)
	for _, c := range colours {
		r, g, b, _ := c.RGBA()
		seen[fmt.Sprint(r, g, b)] = true
	}
	if len(seen) != 8 {
		t.Errorf("%d colours", len(seen))
	}
}

func TestBoxesHaveTheirNames(t *testing.T) {
	b := report.Boxes{Title: "error", Boxes: []report.Box{
		{Name: "ours", Kind: report.Together, Values: []float64{.1, .2, .3}}, {Name: "theirs", Kind: report.Sums, Values: []float64{.2, .3, .9}},
	}}
	svg := saved(t, func(path string) error {
		p, err := OfBoxes(&b)
		if err != nil {
			t.Fatal(err)
		}
		return Save(path, p)
	})
	if ours, theirs := strings.Index(svg, ">ours<"), strings.Index(svg, ">theirs<"); ours < 0 || theirs < 0 || !strings.Contains(svg, ">error<") {
		t.Errorf("the picture lacks a name or its title")
	}
}

func TestValuesThatCannotBeDrawnAreRefused(t *testing.T) {
	c := report.Curve{Title: "seconds", X: "rows", Steps: []string{"1"}, Lines: []report.Line{{Name: "ours", Values: []float64{math.Inf(1)}}}}
	if _, err := OfCurve(&c); err == nil || !strings.Contains(err.Error(), `line "ours" of "seconds"`) {
		t.Errorf("error %v", err)
	}
	if _, err := OfBoxes(&report.Boxes{Title: "error", Boxes: []report.Box{{Name: "ours"}}}); err == nil || !strings.Contains(err.Error(), `box "ours" of "error"`) {
		t.Errorf("error %v", err)
	}
}

func TestAGraphHasItsLinesAndItsAxes(t *testing.T) {
	g := report.Graph{Title: "ROC", X: "false positives", Y: "true positives", Lines: []report.Trace{
		{Name: "ours", X: []float64{0, 0.2, 1}, Y: []float64{0, 0.9, 1}}, {Name: "chance", X: []float64{0, 1}, Y: []float64{0, 1}, Dashed: true},
	}}
	svg := saved(t, func(path string) error {
		p, err := OfGraph(&g)
		if err != nil {
			t.Fatal(err)
		}
		return Save(path, p)
	})
	for _, text := range []string{"ROC", "false positives", "true positives", "ours", "chance"} {
		if !strings.Contains(svg, text) {
			t.Errorf("the picture does not say %q", text)
		}
	}
	g.Lines[0].X[1] = math.NaN()
	if _, err := OfGraph(&g); err == nil {
		t.Error("a line through no number is drawn")
	}
}
