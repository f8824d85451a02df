package columns_test

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method/all"
	"github.com/mercer-fl/mercer/internal/method/columns"
	"github.com/mercer-fl/mercer/internal/method/jobtest"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/model"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/scale"
)

const keepsParts = `apiVersion: mercer/v1
kind: Job
metadata: {name: portions}
spec:
  data: {source: people, label: label, partition: {by: columns, parties: [guest, host]}}
  protocol: {name: %}
  prediction: open
`

func modelPartJob(t testing.TB, protocol, rest string) *job.Job {
	t.Helper()
	return jobtest.Parse(t, strings.Replace(keepsParts, "%", protocol, 1)+rest)
}

// model parts returns the parts that guest and host keep of a model by phases, and of one by
// products.
func modelParts(t testing.TB) map[string]*columns.ModelPart {
	t.Helper()
	phases := modelPartJob(t, "fdskl, directions: 2", "  kernel: {name: rbf, gamma: 0.5, gamma_unit: median}\n  learner: {name: logistic}\n")
	products := modelPartJob(t, "gram", "  kernel: {name: linear}\n  learner: {name: svc}\n")
	return map[string]*columns.ModelPart{
		"label holder": {
			Job: phases, Basis: columns.Basis{Parent: protocol.SessionID{1}}, Width: 2, Columns: []string{"a", "b"},
			Scaling:    scale.Scaling{Offset: []float64{1, 2}, Factor: []float64{3, 4}},
			Output:     model.Output{Kind: model.Logistic, Classes: []string{"no", "yes"}},
			Directions: columns.Directions{Gamma: 0.25, Key: [32]byte{2}, Common: [32]byte{3}}, Coefficients: matrixOf([]float64{1, -2, 3, 4}),
		},
		"worker": {
			Job: phases, Basis: columns.Basis{Parent: protocol.SessionID{1}}, Width: 1, Output: model.Output{Kind: model.Logistic},
			Directions: columns.Directions{Gamma: 0.25, Key: [32]byte{4}, Common: [32]byte{3}, Before: 2}, Mean: 0.5,
		},
		"holder": {
			Job: products, Basis: columns.Basis{Parent: protocol.SessionID{5}, Rows: 2, Outputs: 1}, Width: 1,
			Output: model.Output{Kind: model.SVC, Classes: []string{"no", "yes"}},
			Rows:   matrixOf([]float64{7}, []float64{8}),
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

func TestModelPartsRoundTrip(t *testing.T) {
	for name, o := range modelParts(t) {
		b := o.Encode()
		again, err := columns.DecodeModelPart(all.Reader(), b)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if d := cmp.Diff(o, again, cmpopts.IgnoreFields(columns.ModelPart{}, "Job"), cmpopts.EquateEmpty()); d != "" {
			t.Errorf("%s (-want +got):\n%s", name, d)
		}
		if !bytes.Equal(again.Job.Encode(), o.Job.Encode()) {
			t.Errorf("%s comes with another job", name)
		}
		if rows, ok := columns.RetainedRows(b); !ok || rows != o.Basis.Rows {
			t.Errorf("%s is not known for what it is: %d rows, %v", name, rows, ok)
		}
		for n := range b {
			if _, err := columns.DecodeModelPart(all.Reader(), b[:n]); err == nil {
				t.Fatalf("%s is read from %d of %d bytes", name, n, len(b))
			}
		}
		again.Erase()
		if again.Directions.Key != ([32]byte{}) || len(again.Rows.Data) > 0 && again.Rows.Data[0] != 0 {
			t.Errorf("%s: a secret is left", name)
		}
	}
	for _, b := range [][]byte{[]byte("an encoder of another protocol"), nil} {
		if _, ok := columns.RetainedRows(b); ok {
			t.Errorf("%q is taken for a model part", b)
		}
	}
}

func TestModelPartsThatDoNotFit(t *testing.T) {
	for name, change := range map[string]func(o *columns.ModelPart){
		"column names for":         func(o *columns.ModelPart) { o.Columns = []string{"a"} },
		"coefficients":             func(o *columns.ModelPart) { o.Coefficients = matrixOf([]float64{1, 2}) },
		"cannot have 1 outputs":    func(o *columns.ModelPart) { o.Output.Classes = []string{"a", "b", "c"} },
		"but 1 rows and 2 columns": func(o *columns.ModelPart) { o.Basis.Rows = 1 },
		"not finite":               func(o *columns.ModelPart) { o.Coefficients.Data[0] = math.Inf(1) },
		"canonical":                func(o *columns.ModelPart) { o.Job.Name = "PORTIONS" },
		"rows and 1 outp":          func(o *columns.ModelPart) { o.Basis.Rows, o.Basis.Outputs = 1<<20, 1 },
	} {
		o := modelParts(t)["label holder"]
		change(o)
		if _, err := columns.DecodeModelPart(all.Reader(), o.Encode()); err == nil || !strings.Contains(err.Error(), name) && name != "canonical" {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

// A later program that writes another job file for the same job, with one more default
// say, reads the model parts of an earlier one: here with a comment for the difference.
func TestModelPartsOfEarlierPrograms(t *testing.T) {
	for name, o := range modelParts(t) {
		now := o.Job.Encode()
		then := append([]byte("# as it was written then\n"), now...)
		var w, v wire.Writer
		w.Bytes32(now)
		v.Bytes32(then)
		b := bytes.Replace(o.Encode(), w.Bytes(), v.Bytes(), 1)
		again, err := columns.DecodeModelPart(all.Reader(), b)
		if err != nil || !bytes.Equal(again.Encode(), o.Encode()) || len(b) == len(o.Encode()) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func FuzzDecodeModelPart(f *testing.F) {
	for _, o := range modelParts(f) {
		f.Add(o.Encode())
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		o, err := columns.DecodeModelPart(all.Reader(), b)
		if err != nil {
			return
		}
		if again, err := columns.DecodeModelPart(all.Reader(), o.Encode()); err != nil || !bytes.Equal(again.Encode(), o.Encode()) {
			t.Errorf("a model part that was read is not written so that it can be read again: %v", err)
		}
	})
}
