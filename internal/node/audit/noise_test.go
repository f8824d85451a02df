package audit

import (
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
