package gram

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/columns"
	"github.com/mercer-fl/mercer/internal/method/columns/columnstest"
	"github.com/mercer-fl/mercer/internal/method/methodtest"
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

// read reads a job file that has no mistake.
func read(t testing.TB, text string) *job.Job {
	t.Helper()
	return methodtest.Read(t, Protocol(), text)
}

type federated struct {
	*methodtest.Typed[*server, *party]
}

// federate makes everybody ready for a job.
func federate(t *testing.T, j *job.Job, tables map[string]method.Table) *federated {
	t.Helper()
	return &federated{methodtest.Join[*server, *party](t, Protocol(), j, tables)}
}

// runSteps runs all steps of a job between parties with these tables.
func runSteps(t *testing.T, j *job.Job, tables map[string]method.Table) *federated {
	t.Helper()
	f := federate(t, j, tables)
	f.Finish(t)
	return f
}

// fixedPoint is the Gram matrix of the whole set in the job's fixed point and
// order, by nothing but integers; scaled as one table.
func fixedPoint(t *testing.T, j *job.Job, f *federated, set *dataset.Set) [][]float64 {
	t.Helper()
	ids := f.Parties[j.Parties()[0]].Aligned()
	rows := make([]int, len(ids))
	for i, id := range ids {
		rows[i] = slices.Index(set.IDs, id)
	}
	training := f.Server.Layout.Training()
	x := dataset.RowsOf(set.X.Subset(rows))
	if j.Data.Scale != job.None {
		scaling, err := scale.Pooled(dataset.RowsOf(set.X.Subset(rows[:training])), scale.Method(j.Data.Scale))
		if err != nil {
			t.Fatal(err)
		}
		x = scaling.Rows(x)
	}
	unit := math.Ldexp(1, f.Server.Layout.Scale())
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
				continue // held-out rows with each other are not summed
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

// The server ends with the Gram matrix of all columns, bit for bit, however the columns are
// distributed; the messages sent to it are noise without the sum.
func TestGramIsThePooledOne(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	names := []string{"guest", "host", "third", "fourth", "fifth"}
	for _, c := range []struct {
		set, scale string
		parties    int
	}{{"wdbc", "minmax", 2}, {"wdbc", "standard", 3}, {"wdbc", "none", 5}, {"digits", "none", 3}} {
		t.Run(fmt.Sprintf("%s/%s/%d", c.set, c.scale, c.parties), func(t *testing.T) {
			j := gramJob(t, names[:c.parties], c.scale, "svc")
			set := columnstest.Numbered(t, c.set, 200)
			f := runSteps(t, j, columnstest.Share(t, j, set))
			want := fixedPoint(t, j, f, set)
			task := f.Server.Problem
			for i := range task.Gram.Rows {
				for k, got := range task.Gram.Row(i) {
					if got != want[i][k] {
						t.Fatalf("entry %d, %d is %v, want %v", i, k, got, want[i][k])
					}
				}
			}
			if scale := f.Server.Layout.Scale(); (scale == 0) != (c.set == "digits") {
				t.Errorf("scale %d", scale)
			}
			ids := f.Parties["guest"].Aligned()
			for i, label := range task.Labels {
				if label != set.Labels[slices.Index(set.IDs, ids[i])] {
					t.Fatalf("row %d has label %s", i, label)
				}
			}
			if a := f.Server.Metrics["accuracy"]; c.scale != "none" && a < 0.9 {
				t.Errorf("accuracy %v", a)
			}
			common := 0
			for _, id := range set.IDs {
				everywhere := true
				for _, p := range f.Parties {
					everywhere = everywhere && slices.Contains(p.Table.IDs, id)
				}
				if everywhere {
					common++
				}
			}
			if len(ids) != common || common == 200 {
				t.Errorf("%d rows are aligned, %d are common to all", len(ids), common)
			}
			for name, p := range f.Parties {
				if !slices.Equal(p.Aligned(), ids) {
					t.Errorf("%s has its rows in another order", name)
				}
			}
			f.LooksLikeNoise(t, "protocol")
		})
	}
}

// Learners that need no labels receive none.
func TestGramWithoutLabels(t *testing.T) {
	j := gramJob(t, []string{"guest", "host"}, "minmax", "kpca, n_components: 3")
	j.Data.Label = job.NoLabel
	f := runSteps(t, j, columnstest.Share(t, j, columnstest.Numbered(t, "wdbc", 100)))
	if f.Server.Problem.Labels != nil || f.Sent["labels"] != nil {
		t.Error("labels are sent")
	}
	if v := f.Server.Metrics["explained_variance"]; v < 0.5 {
		t.Errorf("explained variance %v", v)
	}
	if lines := f.Result(t).Leakage; strings.Contains(strings.Join(lines["server"], " "), "label") {
		t.Errorf("the leakage speaks of labels: %v", lines)
	}
	var one, two bytes.Buffer
	if err := errors.Join(f.Server.writeModel(&one), f.Server.writeModel(&two)); err != nil || !bytes.Equal(one.Bytes(), two.Bytes()) || one.Len() < 100 {
		t.Errorf("models of %d and %d bytes, %v", one.Len(), two.Len(), err)
	}
}

// A value that no sum can hold is quoted in its owner's log and nowhere else.
func TestTooLargeValues(t *testing.T) {
	j := gramJob(t, []string{"guest", "host"}, "none", "svc")
	set := columnstest.Numbered(t, "wdbc", 40)
	big := linalg.New[float64](40, 30)
	linalg.Gather(big, dataset.RowsOf(set.X), 0)
	big.Row(3)[2] = 123456789
	set.X = dataset.NewDense(big)
	f := federate(t, j, columnstest.Share(t, j, set))
	err := f.Try(t.Context(), 0, func() {})
	if fault.CodeOf(err) != fault.CodeBadInput || !strings.Contains(err.Error(), "1.23456789e+08") || fault.NoticeOf(err).Trouble != fault.Magnitude {
		t.Errorf("error %v, others hear %q", err, fault.NoticeOf(err).Sentence())
	}
}

// A party whose table changes during the alignment has another order than it agreed to, and all
// other members blame it, including the coordinator.
func TestChangedTableIsNamed(t *testing.T) {
	j := gramJob(t, []string{"guest", "host", "third"}, "none", "svc")
	f := federate(t, j, columnstest.Share(t, j, columnstest.Numbered(t, "wdbc", 60)))
	swap := func() {
		host := f.Parties["host"]
		order := dataset.Complement(host.Table.X.Rows(), nil)
		order[3], order[4] = order[4], order[3]
		host.Table = host.Table.Subset(order)
	}
	if err := f.Try(t.Context(), 0, swap); err != nil {
		t.Fatal(err)
	}
	err := f.Try(t.Context(), 1, func() {})
	if n := strings.Count(fmt.Sprint(err), "host (inconsistent): columns: the party's rows, or their order, differ from the rows of 2 of 3 parties"); n != 4 {
		t.Errorf("%d of 4 members name the host: %v", n, err)
	}
}

// declared returns the declarations of two parties with one column each.
func declared(rows int, order byte) columns.Declared {
	one := columns.Declaration{Rows: rows, Columns: gram.Holder{Columns: 1}}
	return columns.Declared{List: []columns.Declaration{one, one}, Digest: [32]byte{order}}
}

// If the declarations make a question's sessions impossible, the question ends with the
// reason and with advice.
func TestReasonsWhyAQuestionIsNotSettled(t *testing.T) {
	_, undeclared := columns.Declared{}.Rows()
	j := gramJob(t, []string{"guest", "host"}, "none", "svc")
	asked := &inquirer{Inquirer: columns.Inquirer{Basis: columns.Basis{Rows: 16384, Outputs: 1}}}
	plan, err := method.Opened(answering(asked)).(method.Inquirer).Plan(method.Question{Instance: methodtest.Instance(j), Asker: "guest"})
	if err != nil {
		t.Fatal(err)
	}
	var coded *fault.Error
	if _, err := plan[2].Session.After(declared(1<<20, 1), nil); !errors.As(err, &coded) || coded.Code != fault.CodeBadInput || !strings.Contains(err.Error(), "predict fewer rows") {
		t.Errorf("too many new rows: %v", err)
	}
	for _, st := range plan[2:] {
		if _, err := st.Session.After(columns.Declared{}, nil); !errors.Is(err, undeclared) {
			t.Errorf("%s settles before anybody has declared anything: %v", st.Name, err)
		}
	}
}

// Announcements determine the sessions that follow: with another order, or another word of one
// party, there is no common session.
func TestDeclarationsSettleTheSum(t *testing.T) {
	_, undeclared := columns.Declared{}.Rows()
	j := gramJob(t, []string{"guest", "host"}, "none", "svc")
	plan, err := Protocol().Plan(methodtest.Instance(j))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, st := range plan {
		names = append(names, st.Name)
	}
	if d := cmp.Diff([]string{"align", "all-gather", "protocol", "labels", "learn", "evaluate"}, names); d != "" {
		t.Fatal(d)
	}
	settled := func(order byte, rows int) []byte {
		settled, err := plan[2].Session.After(declared(rows, order), nil)
		if err != nil {
			t.Fatal(err)
		}
		return settled.Params
	}
	if !bytes.Equal(settled(1, 40), settled(1, 40)) || bytes.Equal(settled(1, 40), settled(2, 40)) || bytes.Equal(settled(1, 40), settled(1, 41)) {
		t.Error("the parameters do not follow from what was declared")
	}
	for _, st := range plan[2:4] {
		if s, err := st.Session.After(columns.Declared{}, nil); !errors.Is(err, undeclared) {
			t.Errorf("%s settles before anybody has declared anything: %v, %v", st.Name, s, err)
		}
	}
}

// TestExposuresFollowTheColumns: what the lattice attack reads counts as rows. Pixels are on a grid.
// About 60 images for training are fewer than the 64 pixels, and enough, because they outnumber the
// pixels that vary. Over the columns of one of five parties far fewer are enough.
func TestExposuresFollowTheColumns(t *testing.T) {
	part, all := protocol.ReachPart, protocol.ReachAll
	for _, tt := range []struct {
		set                      string
		rows, parties            int
		server, party, coalition protocol.Reach
	}{
		{"digits", 240, 2, all, protocol.ReachNone, all},
		{"digits", 110, 2, all, protocol.ReachNone, all},
		{"digits", 100, 2, all, protocol.ReachNone, all},
		{"digits", 60, 5, part, protocol.ReachNone, all},
		{"digits", 14, 2, part, protocol.ReachNone, part},
		{"wdbc", 240, 2, part, protocol.ReachNone, part},
	} {
		j := gramJob(t, []string{"guest", "host", "third", "fourth", "fifth"}[:tt.parties], "minmax", "svc")
		f := runSteps(t, j, columnstest.Share(t, j, columnstest.Numbered(t, tt.set, tt.rows)))
		r := f.Result(t)
		for role, want := range map[string]protocol.Reach{"server": tt.server, "party": tt.party, "coalition": tt.coalition} {
			e := r.Exposures[role]
			if e.Reach != want || !strings.Contains(strings.Join(r.Leakage[role], "\n"), e.Why) {
				t.Errorf("%d rows of %s, %d parties, %s: %+v, want %s; training rows %d", tt.rows, tt.set, tt.parties, role, e, want, f.Server.Layout.Training())
			}
		}
	}
}
