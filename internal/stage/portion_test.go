package stage

import (
	"bytes"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/wire"
	"github.com/mercer-fl/mercer/learn/linear"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/model"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/fdskl"
	"github.com/mercer-fl/mercer/protocol/scale"
)

const portioned = `apiVersion: mercer/v1
kind: Job
metadata: {name: portions}
spec:
  data: {source: people, label: label, partition: {by: columns, parties: [guest, host]}}
  protocol: {name: %}
  prediction: open
`

func portionJob(t testing.TB, protocol, rest string) *job.Job {
	t.Helper()
	return read(t, strings.Replace(portioned, "%", protocol, 1)+rest)
}

// portions are what guest and host keep of a model by phases, and of one by
// products.
func portions(t testing.TB) map[string]*Portion {
	t.Helper()
	phases := portionJob(t, "fdskl, directions: 2", "  kernel: {name: rbf, gamma: 0.5, gamma_unit: median}\n  learner: {name: logistic}\n")
	products := portionJob(t, "gram", "  kernel: {name: linear}\n  learner: {name: svc}\n")
	ratio := phases.Kernel
	ratio.Gamma, ratio.GammaUnit = 0.25, ""
	return map[string]*Portion{
		"label holder": {
			Job: phases, Basis: Basis{Parent: protocol.SessionID{1}}, Width: 2, Columns: []string{"a", "b"},
			Scaling:    scale.Scaling{Offset: []float64{1, 2}, Factor: []float64{3, 4}},
			Reading:    model.Reading{Kind: model.Logistic, Classes: []string{"no", "yes"}},
			directions: directionsOf{kernel: ratio, key: [32]byte{2}, common: [32]byte{3}}, coefficients: matrixOf([]float64{1, -2, 3, 4}),
		},
		"worker": {
			Job: phases, Basis: Basis{Parent: protocol.SessionID{1}}, Width: 1, Reading: model.Reading{Kind: model.Logistic},
			directions: directionsOf{kernel: ratio, key: [32]byte{4}, common: [32]byte{3}, before: 2}, mean: 0.5,
		},
		"holder": {
			Job: products, Basis: Basis{Parent: protocol.SessionID{5}, Rows: 2, Outputs: 1}, Width: 1,
			Reading:    model.Reading{Kind: model.SVC, Classes: []string{"no", "yes"}},
			directions: directionsOf{kernel: products.Kernel}, rows: matrixOf([]float64{7}, []float64{8}),
		},
	}
}

func matrixOf(rows ...[]float64) linalg.Matrix[float64] {
	m := linalg.New[float64](len(rows), len(rows[0]))
	for i, row := range rows {
		copy(m.Row(i), row)
	}
	return m
}

func TestPortionsRoundTrip(t *testing.T) {
	for name, o := range portions(t) {
		b := o.Encode()
		again, err := DecodePortion(reader(), b)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if d := cmp.Diff(o, again, cmp.Exporter(func(reflect.Type) bool { return true }), cmpopts.EquateEmpty()); d != "" {
			t.Errorf("%s (-want +got):\n%s", name, d)
		}
		if !IsPortion(b) {
			t.Errorf("%s is not known for what it is", name)
		}
		for n := range b {
			if _, err := DecodePortion(reader(), b[:n]); err == nil {
				t.Fatalf("%s is read from %d of %d bytes", name, n, len(b))
			}
		}
		again.Erase()
		if again.directions.key != ([32]byte{}) || len(again.rows.Data) > 0 && again.rows.Data[0] != 0 {
			t.Errorf("%s: a secret is left", name)
		}
	}
	if IsPortion([]byte("an encoder of another protocol")) || IsPortion(nil) {
		t.Error("another keepsake is taken for a portion")
	}
}

func TestPortionsThatDoNotFit(t *testing.T) {
	for name, change := range map[string]func(o *Portion){
		"names of":        func(o *Portion) { o.Columns = []string{"a"} },
		"coefficients":    func(o *Portion) { o.coefficients = matrixOf([]float64{1, 2}) },
		"cannot come":     func(o *Portion) { o.Reading.Classes = []string{"a", "b", "c"} },
		"values of":       func(o *Portion) { o.Basis.Rows = 1 },
		"not finite":      func(o *Portion) { o.coefficients.Data[0] = math.Inf(1) },
		"canonical":       func(o *Portion) { o.Job.Name = "PORTIONS" },
		"rows and 1 outp": func(o *Portion) { o.Basis.Rows, o.Basis.Outputs = 1<<20, 1 },
	} {
		o := portions(t)["label holder"]
		change(o)
		if _, err := DecodePortion(reader(), o.Encode()); err == nil || !strings.Contains(err.Error(), name) && name != "canonical" {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

// A later program that writes another job file for the same job, with one more default
// say, reads the portions of an earlier one: here with a comment for the difference.
func TestPortionsOfEarlierPrograms(t *testing.T) {
	for name, o := range portions(t) {
		now := o.Job.Encode()
		then := append([]byte("# as it was written then\n"), now...)
		var w, v wire.Writer
		w.Bytes32(now)
		v.Bytes32(then)
		b := bytes.Replace(o.Encode(), w.Bytes(), v.Bytes(), 1)
		again, err := DecodePortion(reader(), b)
		if err != nil || !bytes.Equal(again.Encode(), o.Encode()) || len(b) == len(o.Encode()) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func FuzzDecodePortion(f *testing.F) {
	for _, o := range portions(f) {
		f.Add(o.Encode())
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		o, err := DecodePortion(reader(), b)
		if err != nil {
			return
		}
		if again, err := DecodePortion(reader(), o.Encode()); err != nil || !bytes.Equal(again.Encode(), o.Encode()) {
			t.Errorf("a portion that was read is not written so that it can be read again: %v", err)
		}
	})
}

// New rows in another order, some at a time, have the decisions that they had when
// they were held out.
func TestDeciderDecidesAsTheTraining(t *testing.T) {
	for _, training := range []string{"cached", "block"} {
		j := portionJob(t, "fdskl, directions: 64, training: "+training, "  kernel: {name: rbf, gamma: 0.5}\n  learner: {name: logistic, lambda: 1.0e-3}\n")
		set := numbered(t, "wdbc")
		const train = 200
		tr, err := newTraining(j, set.Labels, train, [32]byte{1})
		if err != nil {
			t.Fatal(err)
		}
		rows := dataset.RowsOf(set.X)
		scaling, err := scale.Pooled(linalg.Pick(rows, rowsFrom(0, train)), scale.Method(j.Data.Scale))
		if err != nil {
			t.Fatal(err)
		}
		d, err := rehearsed(j, rows)
		if err != nil {
			t.Fatal(err)
		}
		source, err := d.phases(scaling.Rows(rows), job.As[*fdsklKeys](j.Protocol).Bits)
		if err != nil {
			t.Fatal(err)
		}
		if err := answerAll(t.Context(), tr, source, 2); err != nil {
			t.Fatal(err)
		}
		got, err := tr.learn(nil)
		if err != nil {
			t.Fatal(err)
		}
		n := len(set.Labels) - train
		back := rowsFrom(train, len(set.Labels))
		for i := range n / 2 {
			back[i], back[n-1-i] = back[n-1-i], back[i]
		}
		if source, err = d.phases(scaling.Rows(linalg.Pick(rows, back)), job.As[*fdsklKeys](j.Protocol).Bits); err != nil {
			t.Fatal(err)
		}
		ask := newDecider(&Portion{Job: j, coefficients: got.coefficients}, fdskl.Spec{Rows: n, Directions: 64, Bits: 16})
		ask.most = 24
		if ask.table = linear.NewPhases[float64](100, 64, 16); training != "cached" {
			ask.table = ask.table.Unscaled()
		}
		if err := answerAll(t.Context(), ask, source, 2); err != nil {
			t.Fatal(err)
		}
		for i := range n {
			if a, b := ask.decisions.Row(i)[0], got.decisions.Row(0)[n-1-i]; math.Abs(a-b) > 1e-4*(1+math.Abs(b)) {
				t.Fatalf("%s: row %d has the decision %v, and had %v", training, i, a, b)
			}
		}
	}
}
