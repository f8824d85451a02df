package daemon

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/node/access"
	"github.com/mercer-fl/mercer/internal/node/audit"
	"github.com/mercer-fl/mercer/internal/node/disclosure"
	"github.com/mercer-fl/mercer/linalg"
)

// releasing is a home that has released two columns, with its audit record.
type releasing struct {
	t *testing.T
	Home
	record *audit.Log
}

func newReleasing(t *testing.T) *releasing {
	t.Helper()
	h := &releasing{t: t, Home: At(t.TempDir())}
	var err error
	if h.record, err = audit.Open(h.AuditPath()); err != nil {
		t.Fatal(err)
	}
	first, err := h.Releases().Admit(productsOf("age", "income"), 0)
	if err == nil {
		err = h.Releases().Release(method.ReleaseProducts, first)
	}
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// productsOf returns a release of columns of one table.
func productsOf(columns ...string) method.Release {
	m := linalg.New[float64](40, len(columns))
	set := &dataset.Set{Name: "own", X: dataset.NewDense(m), Columns: columns}
	return method.Release{Kind: method.ReleaseProducts, Job: "kidney", Peers: []string{"hub"}, Table: "patients", Set: set}
}

// userAtNorth returns a Unix user of the home.
func userAtNorth(uid int) access.Person { return access.Person{Member: "north", UID: &uid} }

// holds lets a job of a submitter ask for a release that awaits approval, and returns its ID.
func (h *releasing) holds(submitter access.Person) string {
	h.t.Helper()
	var held *disclosure.HeldError
	if _, err := h.Releases().AdmitFor(disclosure.Asker{Job: "0123", Submitter: submitter}, productsOf("age"), 0); !errors.As(err, &held) {
		h.t.Fatal(err)
	}
	return held.ID
}

// last returns the last event of the record.
func (h *releasing) last() (last audit.Event) {
	h.t.Helper()
	if _, err := audit.Verify(h.AuditPath(), func(e audit.Event, _ string) error { last = e; return nil }); err != nil {
		h.t.Fatal(err)
	}
	return last
}

// waits reports whether a release awaits approval.
func (h *releasing) waits() bool {
	h.t.Helper()
	list, err := h.Releases().Awaiting()
	if err != nil {
		h.t.Fatal(err)
	}
	return len(list) > 0
}

// describes checks that an event of the record is about a release and its submitter's job.
func (h *releasing) describes(e audit.Event, kind audit.Kind, id string, submitter access.Person) {
	h.t.Helper()
	if e.Kind != kind || e.Job != "0123" || e.Name != "kidney" || e.Table != "patients" || e.By == nil || *e.By.UID != 8 || !slices.Equal(e.Releases, []audit.Release{{Kind: "products", ID: id}}) {
		h.t.Errorf("%+v", e)
	}
	if known := submitter.Member != ""; known != (e.Submitter != nil) || known && *e.Submitter.UID != *submitter.UID {
		h.t.Errorf("submitter %v: %+v", submitter, e)
	}
}

// Who may have submitted a job that asks for a release cannot approve it, unless the home says so. The record has
// who approved what, whose job asks, and whether these may be one person.
func TestOwnReleases(t *testing.T) {
	h := newReleasing(t)
	for _, c := range []struct {
		name      string
		submitter access.Person
		alone     bool
		may, own  bool
	}{
		{"another person", userAtNorth(7), false, true, false},
		{"the submitter", userAtNorth(8), false, false, true},
		{"the submitter, alone", userAtNorth(8), true, true, true},
		{"nobody knows", access.Person{}, false, false, true},
	} {
		id := h.holds(c.submitter)
		err := h.approveRelease(h.record, id, userAtNorth(8), c.alone)
		if (err == nil) != c.may || err != nil && fault.CodeOf(err) != fault.CodePolicy || h.waits() == c.may {
			t.Errorf("%s: %v", c.name, err)
		}
		if c.may {
			last := h.last()
			if h.describes(last, audit.ReleaseApproved, id, c.submitter); last.Alone != c.own {
				t.Errorf("%s: %+v", c.name, last)
			}
		}
		if err := h.Releases().Withdraw(id); err != nil {
			t.Fatal(err)
		}
	}
	if err := h.approveRelease(h.record, "0123456789abcdef", userAtNorth(8), true); fault.CodeOf(err) != fault.CodeBadInput {
		t.Errorf("no release: %v", err)
	}
}

// Every approver may refuse a release, also the submitter of a job that asks for it. The record has who refused what, and
// the reason in one line of bounded length.
func TestRefusedReleases(t *testing.T) {
	h := newReleasing(t)
	for _, c := range []struct {
		submitter    access.Person
		reason, want string
	}{
		{userAtNorth(7), "too few people", "too few people"},
		{userAtNorth(8), "", ""},
		{access.Person{}, "a\nb" + strings.Repeat("x", 1<<20), "a b" + strings.Repeat("x", 1<<10-3)},
	} {
		id := h.holds(c.submitter)
		if err := h.refuseRelease(h.record, id, userAtNorth(8), c.reason); err != nil || h.waits() {
			t.Errorf("%v: %v", c.submitter, err)
		}
		last := h.last()
		if h.describes(last, audit.ReleaseRefused, id, c.submitter); last.Outcome != c.want || last.Alone {
			t.Errorf("%v: %+v", c.submitter, last)
		}
	}
	lines, _ := h.record.Head()
	if err := h.refuseRelease(h.record, "0123456789abcdef", userAtNorth(8), "x"); fault.CodeOf(err) != fault.CodeBadInput {
		t.Errorf("no release: %v", err)
	}
	if now, _ := h.record.Head(); now != lines {
		t.Error("a refusal without a release is in the record")
	}
}
