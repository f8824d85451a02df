package audit

import (
	"path/filepath"
	"slices"
	"testing"
)

// A ledger must have the noise that was released and the notes of losses, since the last statement about unknown jobs.
// What was only accepted may never have been sent.
func TestNoise(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit")
	if ids, err := Noise(path, "noise"); err != nil || ids != nil {
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
		if ids, err := Noise(path, "noise"); err != nil || !slices.Equal(ids, c.want) {
			t.Errorf("line %d: %q, %v; want %q", i+1, ids, err, c.want)
		}
	}
}
