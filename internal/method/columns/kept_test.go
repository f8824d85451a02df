package columns

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/linalg"
)

func anAlignment() keptAlignment {
	return keptAlignment{"people", "patients", "0a", "first+born", "a fraction of 0.25", []string{"bank", "shop"}, []string{"p3", "p1"}, [32]byte{7}}
}

func TestKeptAlignment(t *testing.T) {
	k := anAlignment()
	got, err := decodeAlignment(k.encode())
	if d := cmp.Diff(k, got, cmp.AllowUnexported(keptAlignment{})); err != nil || d != "" {
		t.Errorf("%v %s", err, d)
	}
	for n := range k.encode() {
		if _, err := decodeAlignment(k.encode()[:n]); err == nil {
			t.Fatalf("%d bytes are an alignment", n)
		}
	}
	// Whoever came since takes no part; who is gone is missed.
	if order, err := k.placesOf([]string{"p1", "p2", "p3"}); err != nil || !slices.Equal(order, []int{2, 0}) {
		t.Errorf("%v, %v", order, err)
	}
	if _, err := k.placesOf([]string{"p1", "p2"}); !errors.Is(err, errGone) {
		t.Error(err)
	}
	twice := k
	twice.ids = []string{"p1", "p1"}
	if _, err := twice.placesOf([]string{"p1", "p2", "p3"}); err == nil {
		t.Error("one person twice is an alignment")
	}
	// Each job has a key of its own, under which numbers are drawn.
	if k.keyOf([16]byte{1}) == k.keyOf([16]byte{2}) || k.keyOf([16]byte{1}) == k.key {
		t.Error("two jobs have one key")
	}
}

// aligned is a party of a job that goes by anAlignment.
func aligned(change func(*Party)) *Party {
	j := &job.Job{Name: "people"}
	j.Data.Scale = job.None
	j.Data.Source, j.Data.Test.Fraction, j.Data.Partition.Alignment = "patients", 0.25, "people"
	p := &Party{Instance: method.Instance{Job: j, ID: job.ID{5}, Parties: []string{"shop", "bank"}}, Self: "bank", edition: "0a", rule: "first+born",
		Table: &dataset.Set{X: dataset.NewDense(linalg.New[float64](3, 1)), IDs: []string{"p1", "p2", "p3"}}}
	change(p)
	return p
}

// An alignment that differs from the job's in anything but a newcomer is refused.
func TestAlignmentsThatDiffer(t *testing.T) {
	for want, change := range map[string]func(*Party){
		"":                                    func(*Party) {},
		"one with another name":               func(p *Party) { p.Job.Data.Partition.Alignment = "others" },
		"of another table":                    func(p *Party) { p.Job.Data.Source = "others" },
		"one among other parties":             func(p *Party) { p.Parties = []string{"shop", "bank", "school"} },
		"of another edition of the table of ": func(p *Party) { p.edition = "0b" },
		"of another edition of the table of bank": func(p *Party) { p.edition = "" },
		"one of ids by another rule":              func(p *Party) { p.rule = "" },
		"one with a fraction of 0.25 held out":    func(p *Party) { p.Job.Data.Test.Fraction = 0.3 },
	} {
		p := aligned(change)
		if got := anAlignment().mismatch(p); !strings.HasPrefix(got, want) || got != "" && want == "" {
			t.Errorf("%q, want %q", got, want)
		}
		err := p.takeKept(anAlignment().encode())
		switch {
		case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%v, want %q", err, want)
		case want == "" && (err != nil || p.key != anAlignment().keyOf(p.ID) || !slices.Equal(p.order, []string{"p3", "p1"})):
			t.Errorf("%v; rows %v; its own key: %t", err, p.order, p.key == anAlignment().keyOf(p.ID))
		}
	}
	if err := aligned(func(*Party) {}).takeKept(nil); err == nil || !strings.Contains(err.Error(), "bank no longer has alignment people") {
		t.Error(err)
	}
}

func FuzzDecodeAlignment(f *testing.F) {
	f.Add(anAlignment().encode())
	f.Fuzz(func(t *testing.T, b []byte) {
		if k, err := decodeAlignment(b); err == nil && !bytes.Equal(k.encode(), b) {
			t.Error("read back otherwise")
		}
	})
}
