package audit

import (
	"maps"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// What the record says of noise outlives its lines: else a ledger that is moved away after them would give a budget back.
func TestNoiseOfRemovedLines(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit")
	l := mustOpen(t, path)
	events := []Event{
		{Kind: Released, Releases: []Release{{Kind: "noise", ID: "settled"}}},
		{Kind: BudgetSettled, Releases: []Release{{Kind: "noise", ID: "stated"}}},
		{Kind: Released, Releases: []Release{{Kind: "sums", ID: "exact"}, {Kind: "noise", ID: "a"}}},
		{Kind: Released, Releases: []Release{{Kind: "noise", ID: "a"}}},
		{Kind: Started},
		{Kind: Released, Releases: []Release{{Kind: "noise", ID: "b"}}},
	}
	for _, e := range events {
		if err := l.Append(e); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{"stated", "a", "b"}
	for range 2 { // the second time the first line is one about removed lines
		if n, err := l.Cut(time.Now().Add(time.Hour)); n == 0 || err != nil {
			t.Fatalf("%d lines, %v", n, err)
		}
		if ids, err := Noise(path); err != nil || !slices.Equal(ids, want) {
			t.Errorf("%q, %v; want %q", ids, err, want)
		}
	}
	if err := l.Append(Event{Kind: BudgetSettled}); err != nil {
		t.Fatal(err)
	}
	if ids, err := Noise(path); err != nil || ids != nil {
		t.Errorf("after a statement: %q, %v", ids, err)
	}
}

// A ledger must have the noise that was released and the notes of losses, since the last statement about unknown jobs.
// What was only accepted may never have been sent.
func TestNoise(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit")
	if ids, err := Noise(path); err != nil || ids != nil {
		t.Errorf("no record: %q, %v", ids, err)
	}
	l := mustOpen(t, path)
	of := func(kind Kind, id string) Event {
		return Event{Kind: kind, Releases: []Release{{Kind: "sums", ID: "exact"}, {Kind: "noise", ID: id, Epsilon: 2, Delta: 1e-6}}}
	}
	for i, c := range []struct {
		e    Event
		want []string
	}{
		{of(Accepted, "a"), nil},
		{of(Released, "a"), []string{"a"}},
		{of(Ended, "b"), []string{"a"}},
		{of(LossAccepted, "lost"), []string{"a", "lost"}},
		{of(Released, "b"), []string{"a", "lost", "b"}},
		{of(BudgetSettled, "stated"), []string{"stated"}},
		{of(Released, "c"), []string{"stated", "c"}},
		{Event{Kind: BudgetSettled}, nil},
		{Event{Kind: LossAccepted}, nil},
	} {
		if err := l.Append(c.e); err != nil {
			t.Fatal(err)
		}
		if ids, err := Noise(path); err != nil || !slices.Equal(ids, c.want) {
			t.Errorf("line %d: %q, %v; want %q", i+1, ids, err, c.want)
		}
	}
}

// A release is of the job that sent it first. A release that was accepted and never sent has a job, too.
func TestPayers(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit")
	if list, err := Payers(path, "noise"); err != nil || len(list) != 0 {
		t.Errorf("no record: %v, %v", list, err)
	}
	l := mustOpen(t, path)
	of := func(kind Kind, job, id, outcome string) Event {
		return Event{Kind: kind, Job: job, Outcome: outcome, Releases: []Release{{Kind: "sums", ID: "exact"}, {Kind: "noise", ID: id}}}
	}
	for _, e := range []Event{
		of(Accepted, "1", "a", ""), of(Accepted, "2", "b", ""), of(Released, "1", "a", ""), of(Ended, "1", "a", "done"), of(Released, "1", "a", ""),
		{Kind: Closed, Job: "1", Outcome: "failed"}, of(Released, "3", "c", ""), {Kind: Closed, Job: "3", Outcome: "done"},
	} {
		if err := l.Append(e); err != nil {
			t.Fatal(err)
		}
	}
	for _, e := range []Event{{Kind: Refused, Job: "4", Outcome: "too many rows"}, {Kind: Refused, Job: "5", Outcome: "too many jobs"}, {Kind: Closed, Job: "5", Outcome: "done, and forgotten since"}} {
		if err := l.Append(e); err != nil {
			t.Fatal(err)
		}
	}
	for job, want := range map[string]string{"1": "failed", "2": "", "3": "", "4": "too many rows", "5": ""} {
		if why, err := Failure(path, job); why != want || err != nil {
			t.Errorf("job %s failed: %q, %v; want %q", job, why, err, want)
		}
	}
	if (Payer{Outcome: "done, and forgotten since"}).Failed() || (Payer{}).Failed() {
		t.Error("a job that is done or open has failed")
	}
	times := make(map[int]Payer)
	if _, err := Verify(path, func(e Event, _ string) error {
		times[e.Number] = Payer{Job: e.Job, Time: e.Time}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	want := map[string]Payer{"a": times[3], "b": times[2], "c": times[7]}
	for id, outcome := range map[string]string{"a": "failed", "c": "done"} {
		p := want[id]
		p.Outcome = outcome
		want[id] = p
	}
	if got, err := Payers(path, "noise"); err != nil || !maps.Equal(got, want) {
		t.Errorf("%v, %v; want %v", got, err, want)
	}
}
