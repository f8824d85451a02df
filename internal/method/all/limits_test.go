package all_test

import (
	"testing"

	"github.com/mercer-fl/mercer/internal/method/fedcfk"
	"github.com/mercer-fl/mercer/internal/method/okra"
	"github.com/mercer-fl/mercer/internal/method/secvm"
	"github.com/mercer-fl/mercer/internal/method/sums"

	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
)

func TestLimitsOfJobs(t *testing.T) {
	hardened := fedcfk.Keys{Moded: job.Moded{Mode: job.Hardened}, Keys: sums.Keys{Adversary: sums.Active, Corrupted: 0.05, Dropped: 0.2}, Margin: fedcfk.MarginCorrupted, Threshold: 10}
	changed := func(change func(*fedcfk.Keys)) job.Named {
		p := hardened
		change(&p)
		return job.Named{Kind: fedcfk.Protocol(), Values: &p}
	}
	cohort := func(n int) job.Named { return job.Named{Kind: secvm.Protocol(), Values: &secvm.Keys{Cohort: n}} }
	for _, tt := range []struct {
		name     string
		protocol job.Named
		want     string // "" is enough
	}{
		{"as the limits say", changed(func(*fedcfk.Keys) {}), ""},
		{"threshold", changed(func(p *fedcfk.Keys) { p.Threshold = 9 }), "threshold is 9; this party requires at least 10"},
		{"margin", changed(func(p *fedcfk.Keys) { p.Margin = fedcfk.MarginNone }), "margin is none; this party requires corrupted"},
		{"adversary", changed(func(p *fedcfk.Keys) { p.Adversary = sums.SemiHonest }), "adversary is semi-honest; this party requires active"},
		{"corrupted", changed(func(p *fedcfk.Keys) { p.Corrupted = 0.04 }), "corrupted is 0.04; this party requires at least 0.05"},
		{"dropped", changed(func(p *fedcfk.Keys) { p.Dropped = 0.21 }), "dropped is 0.21; this party allows at most 0.2"},
		{"cohort", cohort(99), "cohort is 99; a device requires at least 100"},
		{"a large cohort", cohort(100), ""},
		{"a protocol without devices", job.Named{Kind: okra.Protocol(), Values: new(okra.Keys)}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			j := &job.Job{Protocol: tt.protocol}
			if got := text(method.DefaultLimits().CheckJob(j)); got != tt.want {
				t.Errorf("%q, want %q", got, tt.want)
			}
			if err := (method.Limits{}).CheckJob(j); err != nil {
				t.Errorf("without limits: %v", err)
			}
		})
	}
}

func TestFloorOfRows(t *testing.T) {
	for _, name := range []string{"okra", "gram", "fdskl"} {
		if err := method.DefaultLimits().CheckRows(name, 100); err != nil {
			t.Errorf("%s, 100 rows: %v", name, err)
		}
		want := "protocol " + name + " needs at least 100 rows from each party, and this table has 99 (\"rows\" in the limits of its policy)"
		if got := text(method.DefaultLimits().CheckRows(name, 99)); got != want {
			t.Errorf("%q, want %q", got, want)
		}
		if err := (method.Limits{}).CheckRows(name, 1); err != nil {
			t.Errorf("%s without limits: %v", name, err)
		}
	}
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
