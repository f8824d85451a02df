package stage

import (
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/internal/method/fedcfk"
	"github.com/mercer-fl/mercer/internal/method/moments"
	"github.com/mercer-fl/mercer/internal/method/okra"
	"github.com/mercer-fl/mercer/internal/method/secvm"
	"github.com/mercer-fl/mercer/internal/method/sums"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/fault"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/linalg"
)

func TestFloors(t *testing.T) {
	hardened := fedcfk.Keys{Moded: job.Moded{Mode: job.Hardened}, Keys: sums.Keys{Adversary: sums.Active, Corrupted: 0.05, Dropped: 0.2}, Margin: fedcfk.MarginCorrupted, Threshold: 10}
	changed := func(change func(*fedcfk.Keys)) job.Named {
		p := hardened
		change(&p)
		return job.Named{Kind: fedcfk.Method{}, Values: &p}
	}
	cohort := func(n int) job.Named { return job.Named{Kind: secvm.Method{}, Values: &secvm.Keys{Cohort: n}} }
	for _, tt := range []struct {
		name     string
		protocol job.Named
		want     string // "" is enough
	}{
		{"as the floors say", changed(func(*fedcfk.Keys) {}), ""},
		{"threshold", changed(func(p *fedcfk.Keys) { p.Threshold = 9 }), "threshold is 9, this party asks for 10 or more"},
		{"margin", changed(func(p *fedcfk.Keys) { p.Margin = fedcfk.MarginNone }), "margin is none, this party asks for corrupted"},
		{"adversary", changed(func(p *fedcfk.Keys) { p.Adversary = sums.SemiHonest }), "adversary is semi-honest, this party asks for active"},
		{"corrupted", changed(func(p *fedcfk.Keys) { p.Corrupted = 0.04 }), "corrupted is 0.04, this party asks for 0.05 or more"},
		{"dropped", changed(func(p *fedcfk.Keys) { p.Dropped = 0.21 }), "dropped is 0.21, this party allows 0.2 at most"},
		{"cohort", cohort(99), "cohort is 99, a device asks for 100 or more"},
		{"a large cohort", cohort(100), ""},
		{"a protocol without a crowd", job.Named{Kind: okra.Method{}, Values: new(okra.Keys)}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			j := &job.Job{Protocol: tt.protocol}
			if got := text(method.DefaultFloors().CheckJob(j)); got != tt.want {
				t.Errorf("%q, want %q", got, tt.want)
			}
			if err := (Floors{}).CheckJob(j); err != nil {
				t.Errorf("without floors: %v", err)
			}
		})
	}
}

func TestFloorOfRows(t *testing.T) {
	for _, name := range []string{"okra", "gram", "fdskl"} {
		if err := method.DefaultFloors().CheckRows(name, 100); err != nil {
			t.Errorf("%s, 100 rows: %v", name, err)
		}
		want := "protocol " + name + " asks for 100 rows of each party, and this table gives it 99"
		if got := text(method.DefaultFloors().CheckRows(name, 99)); got != want {
			t.Errorf("%q, want %q", got, want)
		}
		if err := (Floors{}).CheckRows(name, 1); err != nil {
			t.Errorf("%s without floors: %v", name, err)
		}
	}
}

// The strongest adversary is a server that may write many jobs: sums over few rows,
// or over few rows of a class, are those rows.
func TestFloorsOfSums(t *testing.T) {
	j := &job.Job{Protocol: job.Named{Kind: moments.Method{}, Values: new(moments.Keys)}, Learner: job.Learner{Name: job.RidgeClassifier}, Data: job.Data{Label: "y", Test: job.Test{Fraction: 0.5}}}
	split := func(training, held, rare int) Split {
		s := Split{Set: &dataset.Set{X: dataset.NewDense(linalg.New[float64](training+held, 1))}}
		for i := range training + held {
			label := "common"
			if i < rare {
				label = "rare"
			}
			s.Set.Labels, s.Test = append(s.Set.Labels, label), append(s.Test, i >= training)
		}
		return s
	}
	for name, tt := range map[string]struct {
		split Split
		want  string
	}{
		"enough":          {split(100, 50, 10), ""},
		"none of a class": {split(100, 50, 0), ""},
		"training rows":   {split(99, 50, 10), "protocol moments asks for 100 training rows of each party, and this table gives it 99"},
		"held-out rows":   {split(100, 49, 10), "protocol moments asks for 50 held-out rows of each party, and this table gives it 49"},
		"a rare class":    {split(100, 50, 9), `protocol moments asks for 10 training rows of each class that a party has, and this table gives it 9 of class "rare"; leave them out`},
		"one of a class":  {split(100, 50, 1), `protocol moments asks for 10 training rows of each class that a party has, and this table gives it 1 of class "rare"; leave them out`},
	} {
		p := &Party{Job: j, Floors: method.DefaultFloors(), split: tt.split}
		err := p.CheckFloors()
		if got := text(err); got != tt.want {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
		if err != nil && (fault.CodeOf(err) != fault.CodePolicy || strings.ContainsAny(fault.Reason(err), "0123456789") || strings.Contains(fault.Reason(err), "rare")) {
			t.Errorf("%s: peers hear %q with code %d", name, fault.Reason(err), fault.CodeOf(err))
		}
		p.Floors = Floors{}
		if err := p.CheckFloors(); err != nil {
			t.Errorf("%s, without floors: %v", name, err)
		}
	}
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
