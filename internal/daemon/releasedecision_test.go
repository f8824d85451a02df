package daemon

import (
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/all"
	"github.com/mercer-fl/mercer/internal/node/access"
	"github.com/mercer-fl/mercer/internal/node/audit"
	"github.com/mercer-fl/mercer/internal/node/disclosure"
	"github.com/mercer-fl/mercer/linalg"
)

// released makes a release of two columns, so that one of the first alone awaits approval.
func released(t *testing.T, l disclosure.Ledger) {
	t.Helper()
	id, err := l.Admit(disclosure.Asker{}, productsOf("age", "income"), 0)
	if err == nil {
		err = l.Release(method.ReleaseProducts, id)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// awaits has job 0123 of a person ask for the release that awaits approval, and returns its id.
func awaits(t *testing.T, l disclosure.Ledger, submitter access.Person) string {
	t.Helper()
	var held *disclosure.HeldError
	if _, err := l.Admit(disclosure.Asker{Job: "0123", Submitter: submitter}, productsOf("age"), 0); !errors.As(err, &held) {
		t.Fatal(err)
	}
	return held.ID
}

func productsOf(columns ...string) method.Release {
	m := linalg.New[float64](40, len(columns))
	set := &dataset.Set{Name: "own", X: dataset.NewDense(m), Columns: columns}
	return method.Release{Kind: method.ReleaseProducts, Job: "kidney", Peers: []string{"hub"}, Table: "patients", Set: set}
}

// stateOf returns the state of a release, "" if the ledger does not have it.
func stateOf(t *testing.T, l disclosure.Ledger, id string) disclosure.State {
	t.Helper()
	list, err := l.List()
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range list {
		if e.ID == id {
			return e.State
		}
	}
	return ""
}

// lastEvent returns the last line of the audit record, and the number of lines.
func lastEvent(t *testing.T, h Home) (last audit.Event, lines int) {
	t.Helper()
	s, err := audit.Verify(h.AuditPath(), func(e audit.Event, _ string) error { last = e; return nil })
	if err != nil {
		t.Fatal(err)
	}
	return last, s.Lines
}

// userAtNorth returns a Unix user of the home.
func userAtNorth(uid int) access.Person { return access.Person{Member: "north", UID: &uid} }

func openRecord(t *testing.T, h Home) *audit.Log {
	t.Helper()
	record, err := audit.Open(h.AuditPath())
	if err != nil {
		t.Fatal(err)
	}
	return record
}

// decidedBy returns the event of a decision about the release that awaits approval.
func decidedBy(kind audit.Kind, id string, by, submitter access.Person) audit.Event {
	return audit.Event{
		Kind: kind, Job: "0123", Name: "kidney", Table: "patients", Parties: []string{"hub"}, Releases: []audit.Release{{Kind: "products", ID: id}},
		By: &by, Submitter: &submitter,
	}
}

// The user who can write to a home approves, refuses and withdraws its releases. The record names this user, the machine and the
// submitter, and says if the two may be one. A decision that cannot be recorded is none.
func TestTheOwnerDecidesAboutReleases(t *testing.T) {
	h := sites(t, "north")["north"].home
	l, me, other := h.Releases(), os.Getuid(), os.Getuid()+1
	here := access.Person{Member: "north", Machine: access.ThisMachine("clinics"), UID: &me}
	released(t, l)
	for name, submitter := range map[string]access.Person{
		"another user":              {Member: "boss", Machine: here.Machine, UID: &other},
		"this user":                 {Member: "boss", Machine: here.Machine, UID: &me},
		"a user of another machine": {Member: "boss", Machine: "aa/bb", UID: &me},
	} {
		id := awaits(t, l, submitter)
		for _, step := range []struct {
			do      func() error
			event   audit.Event
			outcome string
			state   disclosure.State
		}{
			{func() error { return h.WithdrawRelease(all.Reader(), id) }, decidedBy(audit.ReleaseWithdrawn, id, here, submitter), "awaiting approval before", ""},
			{func() error { awaits(t, l, submitter); return h.RefuseRelease(all.Reader(), id, "too few people") }, decidedBy(audit.ReleaseRefused, id, here, submitter), "too few people", ""},
			{func() error { awaits(t, l, submitter); return h.ApproveRelease(all.Reader(), id) }, decidedBy(audit.ReleaseApproved, id, here, submitter), "", disclosure.Approved},
			{func() error { return h.WithdrawRelease(all.Reader(), id) }, decidedBy(audit.ReleaseWithdrawn, id, here, submitter), "approved before", ""},
		} {
			_, before := lastEvent(t, h)
			if err := step.do(); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			want := step.event
			want.Outcome = step.outcome
			want.Alone = want.Kind == audit.ReleaseApproved && here.MayBe(submitter)
			got, lines := lastEvent(t, h)
			want.Number, want.Time, want.Previous = got.Number, got.Time, got.Previous
			if d := cmp.Diff(want, got); d != "" || lines != before+1 || stateOf(t, l, id) != step.state {
				t.Errorf("%s: %d lines more, the release is %q: %s", name, lines-before, stateOf(t, l, id), d)
			}
		}
	}
	_, before := lastEvent(t, h)
	for what, decide := range map[string]func() error{
		"approve":  func() error { return h.ApproveRelease(all.Reader(), "0123456789abcdef") },
		"refuse":   func() error { return h.RefuseRelease(all.Reader(), "0123456789abcdef", "") },
		"withdraw": func() error { return h.WithdrawRelease(all.Reader(), "0123456789abcdef") },
	} {
		if err := decide(); fault.CodeOf(err) != fault.CodeBadInput || !strings.Contains(err.Error(), "0123456789abcdef: no release with this ID") {
			t.Errorf("%s no release: %v", what, err)
		}
	}
	if _, lines := lastEvent(t, h); lines != before {
		t.Error("a decision about no release is recorded")
	}
}

// A decision that cannot be recorded leaves the release as it is.
func TestADecisionIsRecordedOrNone(t *testing.T) {
	h := sites(t, "north")["north"].home
	l, someone := h.Releases(), os.Getuid()+1
	released(t, l)
	id := awaits(t, l, access.Person{Member: "boss", UID: &someone})
	unrecorded := func(decide func() error, want disclosure.State) {
		t.Helper()
		h.put(t, "audit", "{}\n")
		if err := decide(); err == nil || !strings.Contains(err.Error(), "audit") {
			t.Errorf("no error about the record: %v", err)
		}
		if s := stateOf(t, l, id); s != want {
			t.Errorf("the release is %q, want %q", s, want)
		}
		if err := os.Remove(h.AuditPath()); err != nil {
			t.Fatal(err)
		}
	}
	approve := func() error { return h.ApproveRelease(all.Reader(), id) }
	refuse := func() error { return h.RefuseRelease(all.Reader(), id, "") }
	withdraw := func() error { return h.WithdrawRelease(all.Reader(), id) }
	// A daemon has opened the record before it was damaged.
	by := access.Person{Member: "north", UID: &someone}
	record := openRecord(t, h)
	unrecorded(approve, disclosure.Held)
	unrecorded(func() error { return h.approveRelease(record, id, by, true) }, disclosure.Held)
	unrecorded(refuse, disclosure.Held)
	unrecorded(func() error { return h.refuseRelease(record, id, by, "") }, disclosure.Held)
	unrecorded(withdraw, disclosure.Held)
	if err := approve(); err != nil {
		t.Fatal(err)
	}
	record = openRecord(t, h)
	unrecorded(withdraw, disclosure.Approved)
	unrecorded(func() error { return h.withdrawRelease(record, id, by) }, disclosure.Approved)
}

// Who may have submitted a job that asks for a release cannot approve it, unless the home says so. The record has
// who approved what, whose job asks, and whether these may be one person. To withdraw it is allowed.
func TestOwnReleases(t *testing.T) {
	h := At(t.TempDir())
	record, err := audit.Open(h.AuditPath())
	if err != nil {
		t.Fatal(err)
	}
	l := h.Releases()
	released(t, l)
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
		id := awaits(t, l, c.submitter)
		err := h.approveRelease(record, id, userAtNorth(8), c.alone)
		if (err == nil) != c.may || err != nil && fault.CodeOf(err) != fault.CodePolicy {
			t.Errorf("%s: %v", c.name, err)
		}
		last, _ := lastEvent(t, h)
		if c.may && (last.Kind != audit.ReleaseApproved || last.Job != "0123" || last.Name != "kidney" || last.Table != "patients" || last.Alone != c.own || last.By == nil || *last.By.UID != 8 ||
			last.Submitter == nil || *last.Submitter.UID != *c.submitter.UID || !slices.Equal(last.Releases, []audit.Release{{Kind: "products", ID: id}})) {
			t.Errorf("%s: %+v", c.name, last)
		}
		if awaiting, err := l.Awaiting(); err != nil || (len(awaiting) == 0) != c.may {
			t.Errorf("%s: %+v, %v", c.name, awaiting, err)
		}
		if err := h.withdrawRelease(record, id, userAtNorth(8)); err != nil || stateOf(t, l, id) != "" {
			t.Errorf("%s withdraws: %v", c.name, err)
		}
		if last, _ := lastEvent(t, h); last.Kind != audit.ReleaseWithdrawn || last.Alone || *last.By.UID != 8 {
			t.Errorf("%s withdraws: %+v", c.name, last)
		}
	}
	if err := h.approveRelease(record, "0123456789abcdef", userAtNorth(8), true); fault.CodeOf(err) != fault.CodeBadInput {
		t.Errorf("no release: %v", err)
	}
}

// Every approver may refuse a release, also the submitter of a job that asks for it. The record has who refused what, and
// the reason in one line of bounded length.
func TestRefusedReleases(t *testing.T) {
	h := At(t.TempDir())
	record := openRecord(t, h)
	released(t, h.Releases())
	for _, c := range []struct {
		submitter    access.Person
		reason, want string
	}{
		{userAtNorth(7), "too few people", "too few people"},
		{userAtNorth(8), "", ""},
		{access.Person{}, "a\nb" + strings.Repeat("x", 1<<20), "a b" + strings.Repeat("x", 1<<10-3)},
	} {
		id := awaits(t, h.Releases(), c.submitter)
		if err := h.refuseRelease(record, id, userAtNorth(8), c.reason); err != nil || stateOf(t, h.Releases(), id) != "" {
			t.Errorf("%v: %v", c.submitter, err)
		}
		want := decidedBy(audit.ReleaseRefused, id, userAtNorth(8), c.submitter)
		want.Outcome = c.want
		if c.submitter.Member == "" {
			want.Submitter = nil
		}
		got, _ := lastEvent(t, h)
		want.Number, want.Time, want.Previous = got.Number, got.Time, got.Previous
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%v: %s", c.submitter, d)
		}
	}
	_, before := lastEvent(t, h)
	if err := h.refuseRelease(record, "0123456789abcdef", userAtNorth(8), "x"); fault.CodeOf(err) != fault.CodeBadInput {
		t.Errorf("no release: %v", err)
	}
	if _, lines := lastEvent(t, h); lines != before {
		t.Error("a refusal without a release is in the record")
	}
}
