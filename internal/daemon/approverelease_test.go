package daemon

import (
	"errors"
	"slices"
	"testing"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/node/access"
	"github.com/mercer-fl/mercer/internal/node/audit"
	"github.com/mercer-fl/mercer/internal/node/disclosure"
	"github.com/mercer-fl/mercer/linalg"
)

// Who may have submitted a job that asks for a release cannot approve it, unless the home says so. The record has
// who approved what, whose job asks, and whether these may be one person.
func TestOwnReleases(t *testing.T) {
	h := At(t.TempDir())
	record, err := audit.Open(h.AuditPath())
	if err != nil {
		t.Fatal(err)
	}
	release := func(columns ...string) method.Release {
		m := linalg.New[float64](40, len(columns))
		set := &dataset.Set{Name: "own", X: dataset.NewDense(m), Columns: columns}
		return method.Release{Kind: method.ReleaseProducts, Job: "kidney", Peers: []string{"hub"}, Table: "patients", Set: set}
	}
	user := func(uid int) access.Person { return access.Person{Member: "north", UID: &uid} }
	l := h.Releases()
	first, err := l.Admit(release("age", "income"), 0)
	if err == nil {
		err = l.Release(method.ReleaseProducts, first)
	}
	if err != nil {
		t.Fatal(err)
	}
	holds := func(submitter access.Person, columns ...string) string {
		t.Helper()
		var held *disclosure.HeldError
		if _, err := l.AdmitFor(disclosure.Asker{Job: "0123", Submitter: submitter}, release(columns...), 0); !errors.As(err, &held) {
			t.Fatal(err)
		}
		return held.ID
	}
	for _, c := range []struct {
		name      string
		submitter access.Person
		alone     bool
		may, own  bool
	}{
		{"another person", user(7), false, true, false},
		{"the submitter", user(8), false, false, true},
		{"the submitter, alone", user(8), true, true, true},
		{"nobody knows", access.Person{}, false, false, true},
	} {
		id := holds(c.submitter, "age")
		err := h.approveRelease(record, id, user(8), c.alone)
		if (err == nil) != c.may || err != nil && fault.CodeOf(err) != fault.CodePolicy {
			t.Errorf("%s: %v", c.name, err)
		}
		var last audit.Event
		if _, err := audit.Verify(h.AuditPath(), func(e audit.Event, _ string) error { last = e; return nil }); err != nil {
			t.Fatal(err)
		}
		if c.may && (last.Kind != audit.ReleaseApproved || last.Job != "0123" || last.Name != "kidney" || last.Table != "patients" || last.Alone != c.own || last.By == nil || *last.By.UID != 8 ||
			last.Submitter == nil || *last.Submitter.UID != *c.submitter.UID || !slices.Equal(last.Releases, []audit.Release{{Kind: "products", ID: id}})) {
			t.Errorf("%s: %+v", c.name, last)
		}
		if awaiting, err := l.Awaiting(); err != nil || (len(awaiting) == 0) != c.may {
			t.Errorf("%s: %+v, %v", c.name, awaiting, err)
		}
		if err := l.Withdraw(id); err != nil {
			t.Fatal(err)
		}
	}
	if err := h.approveRelease(record, "0123456789abcdef", user(8), true); fault.CodeOf(err) != fault.CodeBadInput {
		t.Errorf("no release: %v", err)
	}
}
