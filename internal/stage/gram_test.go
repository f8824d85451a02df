package stage

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/dataset/bundled"
	"github.com/mercer-fl/mercer/internal/fault"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/gram"
	"github.com/mercer-fl/mercer/protocol/scale"
)

const gramFile = `apiVersion: mercer/v1
kind: Job
metadata: {name: columns}
spec:
  data: {source: wdbc, label: label, partition: {by: columns, parties: [%s]}, test: {every: 4}, scale: %s}
  protocol: {name: gram}
  kernel: {name: rbf, gamma: 0.05}
  learner: {name: %s}
`

func gramJob(t testing.TB, parties []string, scale, learner string) *job.Job {
	t.Helper()
	return read(t, fmt.Sprintf(gramFile, strings.Join(parties, ", "), scale, learner))
}

// numbered is a bundled set whose ids are the numbers of its rows.
func numbered(t testing.TB, name string) *dataset.Set {
	t.Helper()
	set, err := bundled.Load(name)
	if err != nil {
		t.Fatal(err)
	}
	own := *set
	own.IDs = nil
	for i := range set.X.Rows() {
		own.IDs = append(own.IDs, strconv.Itoa(i))
	}
	return &own
}

// shareColumns gives the job's parties a set's columns, of nine tenths of its rows
// in an order of their own; the active ones have the labels.
func shareColumns(t testing.TB, j *job.Job, set *dataset.Set) map[string]Table {
	t.Helper()
	shares, err := dataset.ByColumns(set.X.Cols(), len(j.Parties()))
	if err != nil {
		t.Fatal(err)
	}
	tables := make(map[string]Table)
	for i, name := range j.Parties() {
		own := set.SelectColumns(shares[i])
		if !j.Labels(name) {
			own.Labels = nil
		}
		rows, err := dataset.Cover(set.X.Rows(), 0.9, i, 7)
		if err != nil {
			t.Fatal(err)
		}
		tables[name] = Table{Set: own.Subset(rows)}
	}
	return tables
}

// fixedPoint is the Gram matrix of the whole set in the job's fixed point and
// order, by nothing but integers; scaled as one table.
func fixedPoint(t *testing.T, j *job.Job, f *federated, set *dataset.Set) [][]float64 {
	t.Helper()
	ids := f.parties[j.Parties()[0]].Aligned()
	rows := make([]int, len(ids))
	for i, id := range ids {
		rows[i] = slices.Index(set.IDs, id)
	}
	training := f.server.vertical.layout.Training()
	x := dataset.RowsOf(set.X.Subset(rows))
	if j.Data.Scale != job.None {
		scaling, err := scale.Pooled(dataset.RowsOf(set.X.Subset(rows[:training])), scale.Method(j.Data.Scale))
		if err != nil {
			t.Fatal(err)
		}
		x = scaling.Rows(x)
	}
	unit := math.Ldexp(1, f.server.vertical.layout.Scale())
	whole := make([][]int64, len(rows))
	row := make([]float64, set.X.Cols())
	for i := range whole {
		x.ReadRow(i, row)
		for _, v := range row {
			whole[i] = append(whole[i], int64(math.RoundToEven(v*unit)))
		}
	}
	matrix := make([][]float64, len(rows))
	for i := range matrix {
		matrix[i] = make([]float64, len(rows))
		for k := range matrix {
			if i != k && i >= training && k >= training {
				continue // held-out rows with each other: nobody needs it
			}
			sum := int64(0)
			for c, v := range whole[i] {
				sum += v * whole[k][c]
			}
			matrix[i][k] = float64(sum) / unit / unit
		}
	}
	return matrix
}

// The server ends with the Gram matrix of all columns, bit for bit, whoever holds
// which; what it is sent is noise without the sum.
func TestGramIsThePooledOne(t *testing.T) {
	names := []string{"guest", "host", "third", "fourth", "fifth"}
	for _, c := range []struct {
		set, scale string
		parties    int
	}{{"wdbc", "minmax", 2}, {"wdbc", "standard", 3}, {"wdbc", "none", 5}, {"digits", "none", 3}} {
		t.Run(fmt.Sprintf("%s/%s/%d", c.set, c.scale, c.parties), func(t *testing.T) {
			j := gramJob(t, names[:c.parties], c.scale, "svc")
			set := numbered(t, c.set).Subset(every(0, 200))
			f := runStages(t, j, shareColumns(t, j, set))
			want := fixedPoint(t, j, f, set)
			task := f.server.task()
			for i := range task.Gram.Rows {
				for k, got := range task.Gram.Row(i) {
					if got != want[i][k] {
						t.Fatalf("entry %d, %d is %v, want %v", i, k, got, want[i][k])
					}
				}
			}
			if scale := f.server.vertical.layout.Scale(); (scale == 0) != (c.set == "digits") {
				t.Errorf("scale %d", scale)
			}
			ids := f.parties["guest"].Aligned()
			for i, label := range task.Labels {
				if label != set.Labels[slices.Index(set.IDs, ids[i])] {
					t.Fatalf("row %d has label %s", i, label)
				}
			}
			if a := f.server.Metrics()["accuracy"]; c.scale != "none" && a < 0.9 {
				t.Errorf("accuracy %v", a)
			}
			common := 0
			for _, id := range set.IDs {
				everywhere := true
				for _, p := range f.parties {
					everywhere = everywhere && slices.Contains(p.vertical.table.IDs, id)
				}
				if everywhere {
					common++
				}
			}
			if len(ids) != common || common == 200 {
				t.Errorf("%d rows are aligned, %d are common to all", len(ids), common)
			}
			for name, p := range f.parties {
				if !slices.Equal(p.Aligned(), ids) {
					t.Errorf("%s has its rows in another order", name)
				}
			}
			f.looksLikeNoise(t, "protocol")
		})
	}
}

// Learners that need no labels are sent none.
func TestGramWithoutLabels(t *testing.T) {
	j := gramJob(t, []string{"guest", "host"}, "minmax", "kpca, n_components: 3")
	j.Data.Label = job.NoLabel
	f := runStages(t, j, shareColumns(t, j, numbered(t, "wdbc").Subset(every(0, 100))))
	if f.server.task().Labels != nil || f.sent["labels"] != nil {
		t.Error("labels are sent")
	}
	if v := f.server.Metrics()["explained_variance"]; v < 0.5 {
		t.Errorf("explained variance %v", v)
	}
	if lines := f.server.Result(method.Facts{}).Leakage; strings.Contains(strings.Join(lines["server"], " "), "label") {
		t.Errorf("the leakage speaks of labels: %v", lines)
	}
	var one, two bytes.Buffer
	if err := errors.Join(f.server.EncodeModel(&one), f.server.EncodeModel(&two)); err != nil || !bytes.Equal(one.Bytes(), two.Bytes()) || one.Len() < 100 {
		t.Errorf("models of %d and %d bytes, %v", one.Len(), two.Len(), err)
	}
}

func declarationOf(rows int, order byte) []byte {
	d := declaration{rows: rows, alignment: [32]byte{order}}
	d.columns.Columns = 1
	return d.encode()
}

// A party whose rows are not those of the others, or in another order, is found
// out and named before anything is computed from them.
func TestMisalignedPartyIsNamed(t *testing.T) {
	parties := []string{"guest", "host", "third"}
	for name, c := range map[string]struct {
		statements [][]byte
		blamed     string
	}{
		"all the same":      {[][]byte{declarationOf(9, 1), declarationOf(9, 1), declarationOf(9, 1)}, ""},
		"another order":     {[][]byte{declarationOf(9, 1), declarationOf(9, 2), declarationOf(9, 1)}, "host"},
		"the label holder":  {[][]byte{declarationOf(9, 2), declarationOf(9, 1), declarationOf(9, 1)}, "guest"},
		"fewer rows":        {[][]byte{declarationOf(9, 1), declarationOf(9, 1), declarationOf(8, 1)}, "third"},
		"all differ":        {[][]byte{declarationOf(9, 1), declarationOf(9, 2), declarationOf(9, 3)}, "nobody"},
		"one of two":        {[][]byte{declarationOf(9, 1), declarationOf(9, 2)}, "nobody"},
		"no statement":      {[][]byte{declarationOf(9, 1), {1, 2, 3}, declarationOf(9, 1)}, "host"},
		"rows of too many":  {[][]byte{declarationOf(1<<22+1, 1), declarationOf(1<<22+1, 1), declarationOf(1<<22+1, 1)}, "guest"},
		"columns of nobody": {[][]byte{declarationOf(9, 1), declarationOf(9, 1), (declaration{rows: 9}).encode()}, "third"},
	} {
		_, err := hear(parties, c.statements, nil)
		var blame *protocol.BlameError
		switch {
		case c.blamed == "" && err != nil, c.blamed != "" && err == nil:
			t.Errorf("%s: %v", name, err)
		case c.blamed == "nobody" && (errors.As(err, &blame) || !errors.Is(err, errOrder)):
			t.Errorf("%s: %v", name, err)
		case c.blamed != "" && c.blamed != "nobody" && (!errors.As(err, &blame) || blame.Party != c.blamed):
			t.Errorf("%s: %v, want %s named", name, err, c.blamed)
		}
	}
}

// A value that no sum can hold is quoted in its owner's log and nowhere else.
func TestTooLargeValues(t *testing.T) {
	j := gramJob(t, []string{"guest", "host"}, "none", "svc")
	set := numbered(t, "wdbc").Subset(every(0, 40))
	big := linalg.New[float64](40, 30)
	linalg.Gather(big, dataset.RowsOf(set.X), 0)
	big.Row(3)[2] = 123456789
	set.X = dataset.NewDense(big)
	f, plan := federate(t, j, shareColumns(t, j, set))
	err := f.try(plan[0], 0, func() {})
	if fault.CodeOf(err) != fault.CodeBadInput || !strings.Contains(err.Error(), "1.23456789e+08") || fault.Reason(err) != gram.ErrTooLarge.Error() {
		t.Errorf("error %v, others hear %q", err, fault.Reason(err))
	}
}

// A party whose table changes while it aligns has another order than it agreed to,
// and is named by everybody else, the coordinator included.
func TestChangedTableIsNamed(t *testing.T) {
	j := gramJob(t, []string{"guest", "host", "third"}, "none", "svc")
	f, plan := federate(t, j, shareColumns(t, j, numbered(t, "wdbc").Subset(every(0, 60))))
	swap := func() {
		host := &f.parties["host"].vertical
		order := dataset.Complement(host.table.X.Rows(), nil)
		order[3], order[4] = order[4], order[3]
		host.table = host.table.Subset(order)
	}
	if err := f.try(plan[0], 0, swap); err != nil {
		t.Fatal(err)
	}
	err := f.try(plan[1], 1, func() {})
	if n := strings.Count(fmt.Sprint(err), "host (inconsistent): stage: its rows, or their order, are not those of 2 of 3 parties"); n != 4 {
		t.Errorf("%d of 4 members name the host: %v", n, err)
	}
}

// A question whose sessions cannot be, because of what has been declared, ends with
// the reason and what to do.
func TestReasonsWhyAQuestionIsNotSettled(t *testing.T) {
	j := gramJob(t, []string{"guest", "host"}, "none", "svc")
	plan, err := PlanInquiry(j, Cast{job.ID{1}, "hub", j.Parties()}, "guest", Basis{Rows: 16384, Outputs: 1})
	if err != nil {
		t.Fatal(err)
	}
	d, err := hear(j.Parties(), [][]byte{declarationOf(1<<20, 1), declarationOf(1<<20, 1)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var coded *fault.Error
	if _, err := plan[2].Session.After(Known{Declared: d}, nil); !errors.As(err, &coded) || coded.Code != fault.CodeBadInput || !strings.Contains(err.Error(), "ask about fewer rows") {
		t.Errorf("too many new rows: %v", err)
	}
	for _, st := range plan[2:] {
		if _, err := st.Session.After(Known{}, nil); !errors.Is(err, errUndeclared) {
			t.Errorf("%s settles before anybody has declared anything: %v", st.Name, err)
		}
	}
}

// What is told settles the sessions that follow: another order, or another word
// of one party, and there is no common session.
func TestDeclarationsSettleTheSum(t *testing.T) {
	j := gramJob(t, []string{"guest", "host"}, "none", "svc")
	plan, err := Plan(j, Cast{job.ID{1}, "hub", j.Parties()})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, st := range plan {
		names = append(names, st.Name)
	}
	if d := cmp.Diff([]string{"align", "declare", "protocol", "labels", "learn", "evaluate"}, names); d != "" {
		t.Fatal(d)
	}
	settled := func(order byte, rows int) []byte {
		d, err := hear(j.Parties(), [][]byte{declarationOf(rows, order), declarationOf(rows, order)}, nil)
		if err != nil {
			t.Fatal(err)
		}
		return settle(t, plan[2].Session, Known{Declared: d}).Params
	}
	if !bytes.Equal(settled(1, 40), settled(1, 40)) || bytes.Equal(settled(1, 40), settled(2, 40)) || bytes.Equal(settled(1, 40), settled(1, 41)) {
		t.Error("the parameters do not follow from what was declared")
	}
	for _, st := range plan[2:4] {
		if s, err := st.Session.After(Known{}, nil); !errors.Is(err, errUndeclared) {
			t.Errorf("%s settles before anybody has declared anything: %v, %v", st.Name, s, err)
		}
	}
}

func TestVerticalTablesThatAreRefused(t *testing.T) {
	j := gramJob(t, []string{"guest", "host"}, "none", "svc")
	set := numbered(t, "wdbc").Subset(every(0, 30))
	unnumbered, twice, unlabelled := *set, *set, *set
	unnumbered.IDs, unlabelled.Labels = nil, nil
	twice.IDs = slices.Clone(set.IDs)
	twice.IDs[7] = twice.IDs[3]
	long := *set
	long.Labels = slices.Clone(set.Labels)
	long.Labels[2] = strings.Repeat("x", 1025)
	for want, c := range map[string]struct {
		self string
		set  *dataset.Set
	}{
		"has no ids by which its rows belong": {"host", &unnumbered},
		"rows 4 and 8 have the same id":       {"host", &twice},
		"the label of row 3 has 1025 bytes":   {"guest", &long},
		`no column "label"`:                   {"guest", &unlabelled},
	} {
		if _, err := NewParty(j, c.self, Table{Set: c.set}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
	if p, err := NewParty(j, "host", Table{Set: set}); err != nil || p.vertical.table.Labels != nil {
		t.Errorf("a host keeps its labels in the job: %v", err)
	}
}

func TestLabels(t *testing.T) {
	labels := []string{"ill", "well", "ill", "ill"}
	b := encodeLabels(labels)
	got, err := decodeLabels(b, 4)
	if err != nil || !slices.Equal(got, labels) {
		t.Errorf("%v, %v", got, err)
	}
	if other := encodeLabels([]string{"ill", "well", "well", "well"}); len(other) != len(b) {
		t.Error("the length tells how many rows each class has")
	}
	for name, b := range map[string][]byte{"cut": b[1:], "long": append(slices.Clone(b), 0), "class": append(slices.Clone(b[:len(b)-4]), 9, 0, 0, 0), "nothing": nil} {
		if _, err := decodeLabels(b, 4); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func FuzzDecodeLabels(f *testing.F) {
	f.Add(encodeLabels([]string{"a", "b", "a"}), 3)
	f.Add([]byte{}, 0)
	f.Fuzz(func(t *testing.T, b []byte, n int) {
		if n < 1 || n > 1000 {
			return
		}
		if labels, err := decodeLabels(b, n); err == nil && len(labels) != n {
			t.Errorf("%d labels of %d rows", len(labels), n)
		}
	})
}

func FuzzDecodeDeclaration(f *testing.F) {
	f.Add(declarationOf(3, 1))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		if d, err := decodeDeclaration(b); err == nil && !bytes.Equal(d.encode(), b) {
			t.Errorf("%x is read as what is written %x", b, d.encode())
		}
	})
}
