package cli

import (
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/dataset/prepare"
)

// A model whose preparation and scaling are constants says so. One whose fills, categories or scale training rows have
// decided says that.
func TestWhatRowsDecidedOfAModel(t *testing.T) {
	age := prepare.Column{Name: "age", Range: [2]float64{0, 120}, Outside: prepare.OutsideClip, Missing: prepare.FillValue, Value: "50"}
	sex := prepare.Column{Name: "sex", Type: prepare.Category, Categories: []string{"F", "M"}, Unknown: prepare.UnknownOther, Missing: prepare.FillCategory}
	made := func(scaling prepare.Scaling, change func(*prepare.Preparation)) *prepare.Preparation {
		plan, err := prepare.NewPlan(prepare.Schema{age, sex}, scaling)
		if err != nil {
			t.Fatal(err)
		}
		p, err := plan.Fit(nil)
		if err != nil {
			t.Fatal(err)
		}
		change(p)
		return p
	}
	const scaledByRows, scaledByRange, filledByRows, constant = "of the training rows", "from its range in the dictionary", "fitted on the training rows", "constants of the dictionary"
	for name, c := range map[string]struct {
		made   *prepare.Preparation
		scaled bool
		want   []string
	}{
		"nothing":       {nil, false, nil},
		"only a scale":  {nil, true, []string{scaledByRows}},
		"constants":     {made(prepare.Ranged, func(*prepare.Preparation) {}), true, []string{scaledByRange, constant}},
		"no scale":      {made(prepare.Unscaled, func(*prepare.Preparation) {}), false, []string{constant}},
		"another scale": {made(prepare.Ranged, func(p *prepare.Preparation) { p.Offset[0] = 47 }), true, []string{scaledByRows, constant}},
		"a mean":        {made(prepare.Ranged, func(p *prepare.Preparation) { p.Schema()[0].Missing = prepare.FillMean }), true, []string{scaledByRange, filledByRows}},
		"agreed":        {made(prepare.Ranged, func(p *prepare.Preparation) { p.Schema()[1].Agree = true }), true, []string{scaledByRange, filledByRows}},
	} {
		got := fittedOnRows(c.made, c.scaled)
		if len(got) != len(c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
			continue
		}
		for i, want := range c.want {
			if !strings.Contains(got[i], want) {
				t.Errorf("%s: %q, want %q", name, got[i], want)
			}
		}
	}
}
