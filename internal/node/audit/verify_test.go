package audit

import (
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// A head is found in any line. A session is open until its end, the end of its job, or the acceptance of its loss is in
// the record.
func TestLook(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit")
	if f, err := Look(path, "0"); err != nil || f.Has || f.Accepted || len(f.Open) > 0 {
		t.Errorf("no record: %+v, %v", f, err)
	}
	l, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	var heads []string
	for i, c := range []struct {
		e    Event
		open []string
	}{
		{Event{Kind: Started}, nil},
		{Event{Kind: Accepted, Job: "a", Session: "1"}, []string{"a"}},
		{Event{Kind: Accepted, Job: "b", Session: "2"}, []string{"a", "b"}},
		{Event{Kind: Ended, Job: "b", Session: "2"}, []string{"a"}},
		{Event{Kind: Accepted, Job: "a", Session: "3"}, []string{"a"}},
		{Event{Kind: Ended, Job: "a", Session: "3"}, []string{"a"}},
		{Event{Kind: Closed, Job: "a"}, nil},
		{Event{Kind: Accepted, Job: "b", Session: "4"}, []string{"b"}},
		{Event{Kind: Restored}, []string{"b"}},
		{Event{Kind: LossAccepted}, nil},
		{Event{Kind: Accepted, Job: "c", Session: "5"}, []string{"c"}},
	} {
		if err := l.Append(c.e); err != nil {
			t.Fatal(err)
		}
		head := l.state.head
		heads = append(heads, head)
		f, err := Look(path, heads[0])
		if err != nil || !f.Has || f.Accepted != (i > 0) || !slices.Equal(f.Open, c.open) {
			t.Errorf("line %d: %+v, %v; want open %v", i+1, f, err, c.open)
		}
		if f, err := Look(path, head[1:]+"0"); err != nil || f.Has {
			t.Errorf("another hash: %+v, %v", f, err)
		}
		if f, err := Look(path, head); err != nil || !f.Has {
			t.Errorf("the last line: %+v, %v", f, err)
		}
	}
	if n, err := l.Cut(time.Now().Add(time.Hour)); n == 0 || err != nil {
		t.Fatalf("%d, %v", n, err)
	}
	if f, err := Look(path, ""); err != nil || !f.Accepted {
		t.Errorf("without the lines of the consents: %+v, %v", f, err)
	}
}
