package audit

import (
	"bytes"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/mercer-fl/mercer/internal/base/disk/disktest"
)

// A tip counts consents and closed jobs, and nothing else that happens at a home. A history begins with the record, and
// anew with the acceptance of a loss. Another process reads the same tip, also after the first lines were removed.
func TestTip(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit")
	l := mustOpen(t, path)
	if tip := l.Tip(); tip != (Tip{}) {
		t.Errorf("an empty record has the tip %+v", tip)
	}
	var heads []string
	for i, c := range []struct {
		kind  Kind
		steps int
		begin int // line with which the history begins
	}{
		{Started, 0, 1}, {Accepted, 1, 1}, {Released, 1, 1}, {Ended, 1, 1}, {Withdrawn, 1, 1}, {ReleaseApproved, 1, 1}, {ReleaseWithdrawn, 1, 1}, {Erased, 1, 1}, {Refused, 1, 1}, {Closed, 2, 1},
		{Restored, 2, 1}, {LossAccepted, 2, 12}, {Started, 2, 12}, {Accepted, 3, 12}, {Closed, 4, 12},
	} {
		if err := l.Append(Event{Kind: c.kind}); err != nil {
			t.Fatal(err)
		}
		head := l.state.head
		heads = append(heads, head)
		want := Tip{head, c.steps, heads[c.begin-1]}
		for who, log := range map[string]*Log{"the writer": l, "another process": mustOpen(t, path)} {
			if tip := log.Tip(); tip != want {
				t.Errorf("line %d, %s: %+v, want %+v", i+1, who, tip, want)
			}
		}
	}
	if n, err := l.Cut(time.Now().Add(time.Hour)); n != len(heads)-1 || err != nil {
		t.Fatalf("%d, %v", n, err)
	}
	head := l.state.head
	want := Tip{head, 4, heads[11]}
	if a, b := l.Tip(), mustOpen(t, path).Tip(); a != want || b != want {
		t.Errorf("after a cut: %+v and %+v, want %+v", a, b, want)
	}
	if err := l.Append(Event{Kind: Accepted}); err != nil || l.Tip().Steps != 5 || l.Tip().Origin != heads[11] {
		t.Errorf("after a cut and a consent: %+v, %v", l.Tip(), err)
	}
}

// The first line of a record that an earlier version has cut has no tip. The record still has one tip for all its readers.
func TestTipOfAnEarlierCut(t *testing.T) {
	path, _ := written(t, 3)
	if _, err := mustOpen(t, path).Cut(time.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	b := disktest.Read(t, path)
	earlier := regexp.MustCompile(`,"steps":\d+,"origin":"\w+"`).ReplaceAll(b, nil)
	if bytes.Equal(b, earlier) {
		t.Fatalf("the line about the cut has no tip: %s", b)
	}
	disktest.Write(t, path, earlier)
	l := mustOpen(t, path)
	if err := l.Append(Event{Kind: Accepted}); err != nil {
		t.Fatal(err)
	}
	head := l.state.head
	if a, b := l.Tip(), mustOpen(t, path).Tip(); a != b || a != (Tip{head, 2, ""}) {
		t.Errorf("%+v and %+v", a, b)
	}
}
