package party

import (
	"fmt"
	"io"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/base/identity"
	"github.com/mercer-fl/mercer/internal/base/strictyaml"
	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/jobtest"
	"github.com/mercer-fl/mercer/internal/method/methodtest"
	"github.com/mercer-fl/mercer/internal/node/audit"
	"github.com/mercer-fl/mercer/internal/node/control"
	"github.com/mercer-fl/mercer/internal/node/retention"
	"github.com/mercer-fl/mercer/internal/node/vault"
)

// fittedBy is a job of a dictionary that is approved, and leaves something to be fitted.
func (s *fixture) fittedBy() *job.Job {
	s.t.Helper()
	text := strings.Replace(fmt.Sprintf(jobFile, "standard", "{name: okra}", "closed"), "scale:", "schema: {age: {range: [0, 120], missing: mean}, krea: {range: [1, 400]}}\n    scale:", 1)
	return s.dictionaries.Approve(jobtest.Parse(s.t, text))
}

// A coordinator that says a job of kind Fit is done, before anything is fitted, leaves the party running and
// with no fit.
func TestAttackAFitIsClosedEarly(t *testing.T) {
	s := newFixture(t, usual())
	fit := s.party.Reader.FitOf(s.fittedBy())
	s.patients(fit, methodtest.Patients("north", 200))
	s.begin(fit, job.ID{7})
	s.tell("hub", control.Topic(job.ID{7}), control.KindClosing, (&control.Closing{Job: job.ID{7}, Done: true}).Encode())
	s.hear(control.KindClosed)
	if b, err := s.party.Retained.Get(job.ID{7}); err == nil {
		t.Errorf("%d bytes of a fit that was never made are kept", len(b))
	}
	s.idle()
}

// A job of a dictionary without a fit, with a fit that the party does not have, or with one that it
// would receive though it has its own, is refused with a sentence that is made of the job.
func TestAttackJobsThatNameAnotherFit(t *testing.T) {
	s := newFixture(t, usual())
	j := s.fittedBy()
	s.patients(j, methodtest.Patients("north", 200))
	named := func(told ...string) *job.Job {
		n := *j
		n.Data.Fit = job.Kept{Job: job.ID{9}, Told: told}
		return &n
	}
	s.propose(s.proposal(j, job.ID{1}, 0))
	s.refuses(fault.CodePolicy, "the job must name a fit of dictionary columns, which prepares the job's rows")
	s.propose(s.proposal(named(), job.ID{2}, 0))
	s.refuses(fault.CodeBadInput, "north no longer has the fit of job 09000000000000000000000000000000, which the first party must send; list first a party that has it")
	second := named()
	second.Data.Partition.Parties = []string{"south", "north", "east"}
	s.propose(s.proposal(second, job.ID{2, 2}, 0))
	s.refuses(fault.CodeBadInput, `north no longer has the fit of job 09000000000000000000000000000000; submit the job with "fit: {job: 09000000000000000000000000000000, told: [north]}" in data`)
	var w wire.Writer
	w.String(method.FitMagic)
	if err := s.party.Retained.Put(job.ID{9}, w.Bytes()); err != nil {
		t.Fatal(err)
	}
	n := named("north")
	n.Data.Partition.Parties = []string{"south", "north", "east"}
	s.propose(s.proposal(n, job.ID{3}, 0))
	s.refuses(fault.CodeBadInput, "\"told\" must not name north, which keeps the fit of job 09000000000000000000000000000000 itself")
	for i, kept := range [][]byte{{}, []byte("x"), w.Bytes()} {
		if err := s.party.Retained.Put(job.ID{9}, kept); err != nil {
			t.Fatal(err)
		}
		s.propose(s.proposal(named(), job.ID{4, byte(i)}, 0))
		if f, err := control.DecodeRefusal(s.hear(control.KindRefusal).Body); err != nil || f.Code == fault.CodeDone {
			t.Errorf("%q for a fit: %+v, %v", kept, f, err)
		}
	}
}

// Retention erases what jobs left, and no fit, by which later jobs prepare their rows.
func TestRetentionKeepsFits(t *testing.T) {
	id, err := identity.FromSeed([32]byte{1})
	if err != nil {
		t.Fatal(err)
	}
	artifacts, err := vault.OpenArtifacts(t.TempDir(), id.KEMKey())
	if err != nil {
		t.Fatal(err)
	}
	record := &recorder{}
	p := &Party{Config: Config{Audit: record, Retained: artifacts.States(), Limits: Limits{Retention: retention.Times{Models: strictyaml.Days{Duration: time.Nanosecond}}}, Logger: slog.New(slog.NewTextHandler(io.Discard, nil))}}
	var w wire.Writer
	w.String(method.FitMagic)
	if err := p.Retained.Put(job.ID{7}, w.Bytes()); err != nil {
		t.Fatal(err)
	}
	if err := p.Retained.Put(job.ID{8}, []byte("a model")); err != nil {
		t.Fatal(err)
	}
	time.Sleep(10 * time.Millisecond)
	p.eraseExpired()
	if k := record.kinds(); len(k) != 1 || k[0] != audit.Erased {
		t.Errorf("record %v", k)
	}
	if _, err := p.Retained.Get(job.ID{7}); err != nil {
		t.Errorf("the fit is gone by age: %v", err)
	}
	if _, err := p.Retained.Get(job.ID{8}); err == nil {
		t.Error("a model stays")
	}
}

// Predictions go before models. While the clock cannot be trusted, nothing goes.
func TestRetentionByKind(t *testing.T) {
	id, err := identity.FromSeed([32]byte{1})
	if err != nil {
		t.Fatal(err)
	}
	artifacts, err := vault.OpenArtifacts(t.TempDir(), id.KEMKey())
	if err != nil {
		t.Fatal(err)
	}
	days, trusted := 0, false
	record, day := &recorder{}, 24*time.Hour
	p := &Party{Config: Config{
		Audit: record, Retained: artifacts.States(), Logger: slog.New(slog.NewTextHandler(io.Discard, nil)),
		Limits: Limits{Retention: retention.Times{Predictions: strictyaml.Days{Duration: 30 * day}, Models: strictyaml.Days{Duration: 60 * day}}},
		Today:  func() (time.Time, bool) { return time.Now().Add(time.Duration(days)*day + time.Hour), trusted },
	}}
	for _, item := range []vault.Item{vault.Predictor, vault.Aligned, vault.Figures, vault.Alignment, vault.Recommendations, vault.Notices} {
		if err := artifacts.Put(job.ID{8}, item, []byte("x")); err != nil {
			t.Fatal(err)
		}
	}
	for _, step := range []struct {
		days    int
		trusted bool
		left    int
		lines   int
	}{{1000, false, 6, 0}, {29, true, 6, 0}, {30, true, 2, 1}, {59, true, 2, 1}, {60, true, 0, 2}} {
		days, trusted = step.days, step.trusted
		p.eraseExpired()
		if left, err := artifacts.List(job.ID{8}); err != nil || len(left) != step.left || len(record.kinds()) != step.lines {
			t.Errorf("%+v: %v, %v, %v", step, left, record.kinds(), err)
		}
	}
}
