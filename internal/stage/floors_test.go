package stage

import (
	"testing"

	"github.com/mercer-fl/mercer/internal/job"
)

func TestFloors(t *testing.T) {
	hardened := job.Protocol{Name: job.FedCFK, Mode: job.Hardened, Adversary: job.Active, Margin: job.MarginCorrupted, Threshold: 10, Corrupted: 0.05, Dropped: 0.2}
	changed := func(change func(*job.Protocol)) job.Protocol {
		p := hardened
		change(&p)
		return p
	}
	for _, tt := range []struct {
		name     string
		protocol job.Protocol
		want     string // "" is enough
	}{
		{"as the floors say", hardened, ""},
		{"threshold", changed(func(p *job.Protocol) { p.Threshold = 9 }), "threshold is 9, this party asks for 10 or more"},
		{"margin", changed(func(p *job.Protocol) { p.Margin = job.MarginNone }), "margin is none, this party asks for corrupted"},
		{"adversary", changed(func(p *job.Protocol) { p.Adversary = job.SemiHonest }), "adversary is semi-honest, this party asks for active"},
		{"corrupted", changed(func(p *job.Protocol) { p.Corrupted = 0.04 }), "corrupted is 0.04, this party asks for 0.05 or more"},
		{"dropped", changed(func(p *job.Protocol) { p.Dropped = 0.21 }), "dropped is 0.21, this party allows 0.2 at most"},
		{"cohort", job.Protocol{Name: job.SecVM, Cohort: 99}, "cohort is 99, this party asks for 100 or more"},
		{"a large cohort", job.Protocol{Name: job.SecVM, Cohort: 100}, ""},
		{"a protocol without a crowd", job.Protocol{Name: job.OKRA}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			j := &job.Job{Protocol: tt.protocol}
			if got := text(DefaultFloors().CheckJob(j)); got != tt.want {
				t.Errorf("%q, want %q", got, tt.want)
			}
			if err := (Floors{}).CheckJob(j); err != nil {
				t.Errorf("without floors: %v", err)
			}
		})
	}
}

func TestFloorOfRows(t *testing.T) {
	for _, name := range []job.ProtocolName{job.OKRA, job.Gram, job.FDSKL} {
		if err := DefaultFloors().CheckRows(name, 100); err != nil {
			t.Errorf("%s, 100 rows: %v", name, err)
		}
		want := "protocol " + string(name) + " asks for 100 rows of each party, and this table has 99"
		if got := text(DefaultFloors().CheckRows(name, 99)); got != want {
			t.Errorf("%q, want %q", got, want)
		}
		if err := (Floors{}).CheckRows(name, 1); err != nil {
			t.Errorf("%s without floors: %v", name, err)
		}
	}
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
