// Package disclosuretest lets the parties of a federation in one process use their ledgers in the
// same way as daemons. Only tests import it.
package disclosuretest

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/methodtest"
	"github.com/mercer-fl/mercer/internal/node/disclosure"
)

// Ledgers maps each party's name to its ledger, which several jobs can share. A party without a
// ledger is skipped.
type Ledgers map[string]disclosure.Ledger

// NewLedgers returns an empty ledger for each party.
func NewLedgers(t testing.TB, parties ...string) Ledgers {
	l := make(Ledgers)
	for _, name := range parties {
		l[name] = disclosure.Ledger(t.TempDir())
	}
	return l
}

// Begin asks the ledgers to admit a job's releases before the job's first session. It skips
// releases that the parties cannot describe by then. Daemons do the same.
func (l Ledgers) Begin(f *methodtest.Federation) error {
	for i, step := range f.Plan {
		if step.Session == nil {
			continue
		}
		if _, err := l.ask(f, i); err != nil {
			return err
		}
	}
	return nil
}

// admission identifies an admitted release in a party's ledger.
type admission struct {
	ledger disclosure.Ledger
	kind   method.ReleaseKind
	id     string
}

// ask asks the ledgers to admit the releases of a step. The error names the step and the party.
func (l Ledgers) ask(f *methodtest.Federation, step int) (all []admission, err error) {
	for _, name := range f.Instance.Parties {
		ledger, asked := l[name]
		if !asked {
			continue
		}
		releases, err := f.Parties[name].Releases(step)
		if err != nil {
			return nil, err
		}
		for _, r := range releases {
			if r.Kind.Beside() {
				continue
			}
			if r.Kind.Summed() || r.Kind == method.ReleasePhases { // for these kinds, the ledger counts how many jobs used a row
				r.Model = f.ID.String()
			}
			id, err := ledger.Admit(disclosure.Asker{}, r, 0)
			if err != nil {
				return nil, fmt.Errorf("%s: %s: %w", f.Plan[step].Name, name, err)
			}
			all = append(all, admission{ledger, r.Kind, id})
		}
	}
	return all, nil
}

// Play runs a job's steps up to lastStep, inclusive. Like daemons, it makes the ledgers admit and
// record the releases. It returns the first refusal.
func (l Ledgers) Play(t testing.TB, f *methodtest.Federation, lastStep string) error {
	t.Helper()
	if err := l.Begin(f); err != nil {
		return err
	}
	end := f.Index(t, lastStep)
	for i, step := range f.Plan[:end+1] {
		if step.Session != nil {
			if err := l.disclose(f, i); err != nil {
				return err
			}
		}
		f.Step(t, i)
	}
	return nil
}

// disclose makes the ledgers admit a step's releases and record them as disclosed.
func (l Ledgers) disclose(f *methodtest.Federation, step int) error {
	all, err := l.ask(f, step)
	for _, a := range all {
		err = errors.Join(err, a.ledger.Release(a.kind, a.id))
	}
	return err
}

// Abort removes the admitted and undisclosed releases from a party's ledger, as the end of a job
// does.
func (l Ledgers) Abort(t testing.TB, party string) {
	t.Helper()
	if err := l[party].Restart(func(string) bool { return false }); err != nil {
		t.Fatal(err)
	}
}

// MustPlay runs a job's steps up to lastStep, inclusive, and fails the test if a ledger refuses a
// release.
func (l Ledgers) MustPlay(t testing.TB, f *methodtest.Federation, lastStep string) {
	t.Helper()
	if err := l.Play(t, f, lastStep); err != nil {
		t.Fatal(err)
	}
}

// Holds checks that a party's ledger demands approval before a job's first session. The reason must
// contain the given text.
func (l Ledgers) Holds(t testing.TB, party string, f *methodtest.Federation, text string) {
	t.Helper()
	held(t, Ledgers{party: l[party]}.Begin(f), ": "+party+": ", text)
}

// HoldsAt checks that a party's ledger demands approval for a job at one step, and not before. The
// reason must contain the given text.
func (l Ledgers) HoldsAt(t testing.TB, step, party string, f *methodtest.Federation, text string) {
	t.Helper()
	own := Ledgers{party: l[party]}
	if err := own.Begin(f); err != nil {
		t.Fatalf("held before the first session: %v", err)
	}
	held(t, own.Play(t, f, step), step+": "+party+": ", text)
}

func held(t testing.TB, err error, where, want string) {
	t.Helper()
	var why *disclosure.HeldError
	switch {
	case !errors.As(err, &why):
		t.Errorf("error %v; want a HeldError with the reason %q", err, want)
	case !strings.Contains(err.Error(), where):
		t.Errorf("error %v; want one that names %q", err, where)
	case !strings.Contains(strings.Join(why.Reveals, "; "), want):
		t.Errorf("held because %q; want %q", why.Reveals, want)
	}
}

// Approve approves all releases that await approval in a party's ledger. It fails the test unless
// the number of these releases equals count.
func (l Ledgers) Approve(t testing.TB, party string, count int) {
	t.Helper()
	list, err := l[party].List()
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range list {
		if e.State != disclosure.Held {
			continue
		}
		if count--; count < 0 {
			t.Fatalf("%s holds too many releases: %+v", party, list)
		}
		if err := l[party].Approve(e.ID, Agree); err != nil {
			t.Fatal(err)
		}
	}
	if count != 0 {
		t.Fatalf("%s holds %d releases too few: %+v", party, count, list)
	}
}

// Agree is the decision of an operator who approves or withdraws any release.
func Agree(disclosure.Listed) error { return nil }
