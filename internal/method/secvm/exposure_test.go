package secvm

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/secvm"
)

// counted is a window with the given gradient of n devices.
type counted struct {
	sum []float64
	n   float64
}

func (counted) Enough() bool                                            { return true }
func (w counted) Gradient(float64, float64) ([]float64, float64, error) { return w.sum, w.n, nil }
func (counted) Outcomes() [2]secvm.Outcome                              { return [2]secvm.Outcome{} }

// The attack: a device computes from two successive weights, up to a factor, the sums of the window
// between them. A bin that one person has shows that person's label. The earlier weights decay by a
// number that follows from the job's settings, and the projection onto the ball multiplies all by
// another. A bin that nobody had in the window shows the product of both.
func TestAttackWeightsTellCounts(t *testing.T) {
	j := read(t, windowJob)
	tr, err := NewTraining(j, [2]string{"minus", "plus"})
	if err != nil {
		t.Fatal(err)
	}
	const unused, rare = 1, 3
	for window := range 3 {
		sum := make([]float64, tr.Params().Features())
		for i := range sum {
			sum[i] = float64((i+window)%5) - 2
		}
		if window > 0 {
			sum[unused] = 0
		}
		sum[rare] = -1 // one person with label -1
		_, before := tr.Published()
		before = slices.Clone(before)
		if _, err := tr.Close(counted{sum, 40}); err != nil {
			t.Fatal(err)
		}
		_, after := tr.Published()
		decay := 0.0
		if window > 0 {
			decay = after[unused] / before[unused]
		}
		factor := (after[rare] - decay*before[rare]) / sum[rare] // the device knows that one person has the bin
		for i, want := range sum {
			if got := (after[i] - decay*before[i]) / factor; !(math.Abs(got-want) <= 1e-9) {
				t.Errorf("window %d: the sum of bin %d is read as %v, it is %v", window, i, got, want)
			}
		}
		if !(factor > 0) {
			t.Errorf("window %d: the rare bin shows the other label: factor %v", window, factor)
		}
	}
}

// TestExposures: what a device computes from weights counts. All devices but one, with the server,
// read the remaining one, and so does a semi-honest job's server that does not follow the protocol.
func TestExposures(t *testing.T) {
	active := read(t, windowJob)
	semi := read(t, strings.Replace(windowJob, "aggregation: secagg", "aggregation: secagg, adversary: semi-honest", 1))
	for _, tt := range []struct {
		name string
		list map[string]protocol.Exposure
		says map[string][]string
		want protocol.Reach
	}{
		{"packages", Exposures(Facts{}), Leakage(Facts{Params: parametersOf(t)}), protocol.ReachPart},
		{"own issuer", Exposures(Facts{OwnIssuer: true}), Leakage(Facts{OwnIssuer: true, Params: parametersOf(t)}), protocol.ReachAll},
		{"sums", Summed{Job: active}.Exposures(40), Summed{Job: active, Params: parametersOf(t)}.Leakage(SumFacts{}, 40), protocol.ReachPart},
		{"sums, semi-honest", Summed{Job: semi}.Exposures(40), Summed{Job: semi, Params: parametersOf(t)}.Leakage(SumFacts{}, 40), protocol.ReachAll},
	} {
		for role, want := range map[string]protocol.Reach{"server": tt.want, "party": protocol.ReachPart, "coalition": protocol.ReachAll} {
			if e := tt.list[role]; e.Reach != want || !strings.Contains(strings.Join(tt.says[role], "\n"), e.Why) {
				t.Errorf("%s, %s: %+v, want %s by a sentence of the statement", tt.name, role, e, want)
			}
		}
	}
}

func parametersOf(t *testing.T) secvm.Params {
	t.Helper()
	p, err := secvm.NewParams(SpecOf(read(t, windowJob)))
	if err != nil {
		t.Fatal(err)
	}
	return p
}
