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

// Releases of one study are not held for each other by what the study allows: its protocols, labels and
// splits. They are held for every release outside it, of no study or of another one.
func TestReleasesOfAStudy(t *testing.T) {
	set := table(40, "age", "income")
	rows, sums := of(method.ReleaseRows, set), of(method.ReleaseSums, set)
	rows.Label, sums.Split = "ill", "all rows of east"
	other := rows
	other.Label = "dead"
	for _, study := range [][2]string{{"", ""}, {"kidney", ""}, {"", "kidney"}, {"kidney", "heart"}} {
		l := Ledger(t.TempDir())
		letOut(t, l, studied(rows, study[0]))
		mustHold(t, l, studied(sums, study[1]), bothKinds)
		mustHold(t, l, studied(other, study[1]), "formerly")
	}
	mustHold(t, Ledger(t.TempDir()), sums, "all rows of east")
	l := Ledger(t.TempDir())
	for _, r := range []method.Release{rows, sums, other} {
		letOut(t, l, studied(r, "kidney"))
	}
}

// The adversary is the coordinator. Inside a study, too, it gets no second release with another column,
// scaling, value or person without a question to the operator.
func TestAttackDifferencesInsideAStudy(t *testing.T) {
	set := table(40, "age", "income")
	rows := of(method.ReleaseRows, set)
	scaled := rows
	scaled.Scale = "minmax and more"
	changed := table(40, "age", "income")
	sums := of(method.ReleaseSums, set)
	for name, pair := range map[string][2]method.Release{
		"column of rows": {rows, of(method.ReleaseRows, set.SelectColumns([]int{0}))},
		"column of sums": {sums, of(method.ReleaseSums, set.SelectColumns([]int{0}))},
		"scaling":        {rows, scaled},
		"value":          {rows, of(method.ReleaseRows, edited(changed, 3, 0))},
		"person":         {sums, of(method.ReleaseSums, set.Subset(span(1, 40)))},
	} {
		l := Ledger(t.TempDir())
		letOut(t, l, studied(pair[0], "kidney"))
		if _, err := l.Admit(studied(pair[1], "kidney"), 0); err == nil {
			t.Errorf("%s: a release of the study passes", name)
		}
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
