package disclosure

import (
	"bytes"
	"strings"
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
		if _, err := l.Admit(Asker{}, studied(pair[1], "kidney"), 0); err == nil {
			t.Errorf("%s: a release of the study passes", name)
		}
	}
}

// The adversary is the coordinator. What jobs of a study have released is no reason to release the same
// without a question outside the study: with other kernels, in other modes, or held out by the job.
func TestAttackAnEqualReleaseOutsideAStudy(t *testing.T) {
	set := table(40, "age", "income")
	rows, sums := of(method.ReleaseRows, set), of(method.ReleaseSums, set)
	rows.Label, sums.Split = "ill", "all rows of east"
	other := rows
	other.Label = "dead"
	for _, study := range []string{"", "heart"} {
		l := Ledger(t.TempDir())
		for range 2 { // inside, an equal release reveals nothing new
			for _, r := range []method.Release{rows, sums, other} {
				letOut(t, l, studied(r, "kidney"))
			}
		}
		mustHold(t, l, studied(sums, study), bothKinds)
		id := mustHold(t, l, studied(rows, study), "formerly")
		if study == "" {
			mustHold(t, l, sums, "all rows of east")
		}
		fewer := rows
		fewer.Set = set.Subset(span(0, 30))
		mustHold(t, l, studied(fewer, study), "formerly")
		if err := l.Approve(id, agree); err != nil {
			t.Fatal(err)
		}
		letOut(t, l, studied(rows, study))
		letOut(t, l, studied(rows, study)) // approved, and disclosed since
		third := rows
		third.Label = "cured"
		mustHold(t, l, studied(third, "kidney"), "formerly") // the rows with the label ill belong to no study now
	}
}

// The same holds for the rows of the next edition, of whose label the operator was not asked inside the study.
func TestAttackTheNextEditionOutsideAStudy(t *testing.T) {
	now := func(number int, label, study string) method.Release {
		return studied(with(frozen(method.ReleaseRows, number, 1), labelledBy(label, true)), study)
	}
	for study, says := range map[string]string{"kidney": "", "": "formerly"} {
		l := Ledger(t.TempDir())
		letOut(t, l, now(1, "ill", "kidney"))
		letOut(t, l, now(1, "dead", "kidney"))
		_, err := l.Admit(Asker{}, now(2, "ill", study), 0)
		if said := strings.Join(whyHeld(t, err), "; "); (said == "") != (says == "") || !strings.Contains(said, says) {
			t.Errorf("study %q: held because %q, want %q", study, said, says)
		}
	}
}

// The adversary is the coordinator. Rows of a study and rows outside it make no entry together, which a job
// outside could repeat without a question.
func TestAttackRowsOfAStudyAndOthers(t *testing.T) {
	l := Ledger(t.TempDir())
	set := table(40, "age", "income")
	inside := set.Subset(span(0, 20))
	letOut(t, l, studied(of(method.ReleaseSums, inside), "kidney"))
	letOut(t, l, studied(of(method.ReleaseRows, inside), "kidney"))
	letOut(t, l, of(method.ReleaseRows, set.Subset(span(20, 40))))
	mustHold(t, l, of(method.ReleaseRows, set), bothKinds)
}

// Rows that a job outside a study releases belong to no study, also if jobs of the study have released the same.
func TestEqualRowsLeaveTheStudy(t *testing.T) {
	l := Ledger(t.TempDir())
	rows := of(method.ReleaseRows, table(40, "age", "income"))
	rows.Label = "ill"
	other := rows
	other.Label = "dead"
	letOut(t, l, studied(rows, "kidney"))
	letOut(t, l, rows)
	mustHold(t, l, studied(other, "kidney"), "formerly")
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
