package simulate

import (
	"strings"
	"testing"

	"log/slog"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/dataset/bundled"
	"github.com/mercer-fl/mercer/internal/job"
	owners "github.com/mercer-fl/mercer/internal/local/all"
	"github.com/mercer-fl/mercer/internal/local/baseline"
	"github.com/mercer-fl/mercer/internal/local/partition"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/all"
	"github.com/mercer-fl/mercer/internal/method/jobtest"
	"github.com/mercer-fl/mercer/internal/method/okra"
	"github.com/mercer-fl/mercer/internal/node/coordinator"
	"github.com/mercer-fl/mercer/protocol"
)

// changing simulates ten parties with a tenth of a table each, one of which comes late or
// withdraws.
func changing(t *testing.T, table, scale, change string) (*method.Result, *okra.Figures) {
	t.Helper()
	j := jobtest.Parse(t, strings.NewReplacer("bundled:digits", "bundled:"+table, "parties: [north, south, east], skew: 0.3}", "parties: [a, b, c, d, e, f, g, h, i, j]}\n    scale: "+scale,
		"{name: okra}", "{name: okra, "+change+"}").Replace(digits))
	shares, err := partition.Shares(j, func(job.Source, job.Data) (*dataset.Set, error) { return bundled.Load(table) })
	if err != nil {
		t.Fatal(err)
	}
	result, outcome, err := Run(t.Context(), Config{
		Reader: all.Reader(), Job: j, Shares: shares, Dir: t.TempDir(), Seed: coordinator.RandomSeed,
		Usage: func() (float64, uint64) { return 0, 0 }, Progress: func(protocol.Progress) {}, Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := baseline.Compare(t.Context(), owners.Local(), j, shares, outcome, result); err != nil {
		t.Fatal(err)
	}
	d, err := method.DetailsOf[okra.Details](result)
	if err != nil || d == nil {
		t.Fatalf("no figures of the change: %v", err)
	}
	return result, d.Changes
}

// A late tenth of the rows costs at most a quarter of all bytes, including the messages
// that order the columns, and of all products; the model is the fresh run's, bit for bit. Of the digits
// it costs 13.1 % of the bytes and 18.9 % of the products.
func TestLatePartyCostsAQuarterAtMost(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	for table, scale := range map[string]string{"digits": "none", "wdbc": "standard"} {
		most := map[string][2]float64{"digits": {.1315, .1895}, "wdbc": {.25, .25}}[table]
		_, f := changing(t, table, scale, "late: [j]")
		t.Logf("%s: %.3f of the bytes, %.3f of the products", table, f.BytesShare, f.ProductsShare)
		if !f.Equal || f.BytesShare > most[0] || f.ProductsShare > most[1] || f.Changed.Rows["j"] == 0 || f.Changed.Rows["a"] != 0 {
			t.Errorf("%s: %+v", table, f)
		}
	}
}

// Parties that get half of their rows after the first session send only these. The cost is
// their share, about a tenth of the bytes and a fifth of the products, and the model is the fresh
// run's, bit for bit, and pooled's.
func TestAddedRowsCostTheirShare(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	for table, scale := range map[string]string{"digits": "none", "wdbc": "standard"} {
		r, f := changing(t, table, scale, "added: {b: 0.5, c: 0.5}")
		t.Logf("%s: %.3f of the bytes, %.3f of the products", table, f.BytesShare, f.ProductsShare)
		if !f.Equal || f.BytesShare > .11 || f.ProductsShare > .2 || f.Changed.Rows["b"] == 0 || f.Changed.Rows["b"]*3 > f.Fresh.Rows["b"]*2 || f.Changed.Rows["a"] != 0 {
			t.Errorf("%s: %+v", table, f)
		}
		if scale == "none" && (!*r.Exact || *r.Difference > 1e-5) {
			t.Errorf("exact %v, largest difference %g", *r.Exact, *r.Difference)
		}
	}
}

// After a withdrawal nothing is sent, and the model is a fresh run's without that party,
// bit for bit. The comparison with pooled rows has the rows of the remaining parties.
func TestWithdrawalEqualsAFreshRun(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	r, f := changing(t, "digits", "none", "withdrawn: [a]")
	if !f.Equal || f.Changed.Products != 0 || f.Changed.Rows["b"] != 0 || f.Changed.Sent*100 > f.Fresh.Sent {
		t.Errorf("%+v", f)
	}
	if !*r.Exact || *r.Difference > 1e-5 || len(r.Alone) != 9 {
		t.Errorf("exact %v, largest difference %g, %d alone", *r.Exact, *r.Difference, len(r.Alone))
	}
}
