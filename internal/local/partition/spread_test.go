package partition

import (
	"slices"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/dataset/bundled"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method/jobtest"
)

// spreadOf divides wdbc, with labels spread as the job says.
func spreadOf(t *testing.T, seed string, labels string) []Share {
	t.Helper()
	j := jobtest.Parse(t, strings.NewReplacer("coverage: 0.9", "coverage: 1"+labels, "{name: gram}", "{name: fdskl, active: 2, training: faithful, labels: spread}",
		"linear", "rbf, gamma: 1", "svc", "logistic", "  data:", "  seed: "+seed+"\n  data:").Replace(columnsFile))
	shares, err := Shares(j, func(job.Source, job.Data) (*dataset.Set, error) { return bundled.Load("wdbc") })
	if err != nil {
		t.Fatal(err)
	}
	return shares
}

// Each row's label is with one of the active parties, which have their shares of the
// labels; the seed determines which.
func TestSpreadLabels(t *testing.T) {
	set, err := bundled.Load("wdbc")
	if err != nil {
		t.Fatal(err)
	}
	for labels, guests := range map[string]int{"": 285, ", labels: {host: 0.25, guest: 0.75}": 427, ", labels: {guest: 0.1, host: 0.9}": 57} {
		shares := spreadOf(t, "1", labels)
		owned := make(map[string]string)
		for _, s := range shares {
			own := s.Table.Set
			for _, row := range own.Labelled() {
				if other, twice := owned[own.IDs[row]]; twice || own.Labels[row] != set.Labels[indexOf(own.IDs[row])] {
					t.Errorf("%s has label %s of row %s, which is %s; another party has it: %v, %s", s.Party, own.Labels[row], own.IDs[row], set.Labels[indexOf(own.IDs[row])], twice, other)
				}
				owned[own.IDs[row]] = own.Labels[row]
			}
		}
		guest := shares[0].Table.Set
		if len(owned) != set.X.Rows() || len(guest.Labelled()) != guests || shares[2].Table.Set.Labels != nil {
			t.Errorf("%s: %d of %d rows have labels, %d at guest, want %d", labels, len(owned), set.X.Rows(), len(guest.Labelled()), guests)
		}
		if other := spreadOf(t, "2", labels); slices.Equal(other[0].Table.Set.Labelled(), guest.Labelled()) {
			t.Error("another seed spreads labels the same")
		}
	}
}
