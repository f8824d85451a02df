package job_test

import (
	"slices"
	"testing"

	. "github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/job/section"
)

// priced has numbers of which a job may list several, and others.
type priced struct {
	C, Tol, Epsilon float64
	Mode            string
}

func (*priced) Name() string        { return "priced" }
func (*priced) New() section.Values { return new(priced) }

func (p *priced) Section() *section.Section {
	return &section.Section{Fields: []section.Field{
		{Key: "C", Value: section.Number{Dst: &p.C}, List: true},
		{Key: "tol", Value: section.Number{Dst: &p.Tol}},
		{Key: "mode", Value: section.Text{Dst: &p.Mode}},
		{Key: "epsilon", Value: section.Number{Dst: &p.Epsilon}, List: true},
	}}
}

func TestVarying(t *testing.T) {
	p := &priced{C: 10, Tol: 1e-3, Epsilon: 0.25, Mode: "m"}
	keys, numbers := Named{Kind: p, Values: p}.Varying()
	if !slices.Equal(keys, []string{"C", "epsilon"}) || !slices.Equal(numbers, []string{"10", "0.25"}) {
		t.Errorf("%v are %v", keys, numbers)
	}
}

func TestNamed(t *testing.T) {
	p := &priced{C: 10, Mode: "m"}
	n := Named{Kind: p, Values: p}
	if got := n.Text(); got != "priced, C = 10, mode = m" || n.Name() != "priced" || As[*priced](n) != p || n.Mode() != "" {
		t.Errorf("%q, %q, %v", got, n.Name(), n.Mode())
	}
	if zero := (Named{}); zero.Name() != "" || zero.Text() != "" || zero.Mode() != "" || zero.Limit("max_ids") != 0 {
		t.Errorf("of no protocol: %q, %q", zero.Name(), zero.Text())
	}
}
