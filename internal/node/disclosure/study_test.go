package disclosure

import (
	"bytes"
	"testing"

	"github.com/mercer-fl/mercer/internal/method"
)

// studied is a release of a job inside a study.
func studied(r method.Release, study string) method.Release {
	r.Study = study
	return r
}

// Releases of one study are not held for each other, and are held for every release outside it: of no
// study, or of another one.
func TestReleasesOfAStudy(t *testing.T) {
	set := table(40, "age", "income")
	rows, sums := of(method.ReleaseRows, set), of(method.ReleaseSums, set)
	fewer := of(method.ReleaseSums, set.SelectColumns([]int{0}))
	split := sums
	split.Split, split.Peers = "all rows of east", []string{"hub", "shop", "east"}
	for _, others := range [][]string{{"", ""}, {"kidney", ""}, {"", "kidney"}, {"kidney", "heart"}} {
		l := Ledger(t.TempDir())
		letOut(t, l, studied(sums, others[0]))
		mustHold(t, l, studied(rows, others[1]), bothKinds)
		mustHold(t, l, studied(fewer, others[1]), "")
	}
	mustHold(t, Ledger(t.TempDir()), split, "all rows of east")
	l := Ledger(t.TempDir())
	for _, r := range []method.Release{sums, rows, fewer, split} {
		letOut(t, l, studied(r, "kidney"))
	}
}

// Sums that the study's own jobs add up do not count towards the bounds of the ledger for one another, and
// count in full for a job outside.
func TestSumsOfAStudyCountOutside(t *testing.T) {
	l := Ledger(t.TempDir())
	set := table(40, "age", "income")
	for i := range maxSums + 2 {
		r := studied(of(method.ReleaseSums, set), "kidney")
		r.Model, r.Numbers, r.Cells = string(rune('a'+i)), 40, 80
		letOut(t, l, r)
	}
	r := of(method.ReleaseSums, set)
	r.Model, r.Numbers, r.Cells = "outside", 1, 80
	mustHold(t, l, r, "22 sums")
}

// A study is part of an entry's encoding. Equal rows that a job outside the study releases belong to no
// study from then on.
func TestStudyOfAnEntry(t *testing.T) {
	r := studied(of(method.ReleaseRows, table(4, "age")), "kidney")
	e := newEntry(testKey, r)
	for _, weight := range []string{"", "w"} {
		e.Weight = weight
		b := e.Encode()
		back, err := DecodeEntry(b)
		if err != nil || back.Study != "kidney" || !bytes.Equal(back.Encode(), b) {
			t.Errorf("weight %q: %+v, %v", weight, back, err)
		}
		for n := range b {
			if _, err := DecodeEntry(b[:n]); err == nil {
				t.Fatalf("%d of %d bytes are an entry", n, len(b))
			}
		}
	}
	merged := newEntry(testKey, of(method.ReleaseRows, table(4, "age")))
	merged.mergeFrom(newEntry(testKey, r))
	if merged.Study != "" {
		t.Errorf("study %q", merged.Study)
	}
}
