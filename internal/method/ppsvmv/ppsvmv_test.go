package ppsvmv

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/method/columns"
	"github.com/mercer-fl/mercer/internal/method/columns/columnstest"
	"github.com/mercer-fl/mercer/internal/method/methodtest"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/gram"
)

const file = `apiVersion: mercer/v1
kind: Job
metadata: {name: ring}
spec:
  data: {source: wdbc, label: label, partition: {by: columns, parties: [%s]}, test: {every: 4}, scale: %s}
  protocol: {name: pp-svmv, mode: paper}
  kernel: {name: rbf, gamma: 0.05}
  learner: {name: svc}
`

// The server ends with the Gram matrix of all columns in fixed point, bit for bit, however the
// columns are distributed.
func TestMatrixIsThePooledOne(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	for _, c := range []struct{ scale, parties string }{
		{"minmax", "guest, host"}, {"standard", "guest, host, third"}, {"none", "guest, host, third, fourth, fifth"},
	} {
		t.Run(c.scale, func(t *testing.T) {
			j := methodtest.Read(t, Protocol(), fmt.Sprintf(file, c.parties, c.scale))
			set := columnstest.Numbered(t, "wdbc", 200)
			f := methodtest.Join[*server, *party](t, Protocol(), j, columnstest.Share(t, j, set))
			f.Finish(t)
			var rows []linalg.Rows
			for _, name := range j.Parties() {
				rows = append(rows, f.Parties[name].Rows)
			}
			pooled, unit, training := columnstest.Beside(rows), math.Ldexp(1, f.Server.Layout.Scale()), f.Server.Layout.Training()
			for i := range pooled.Rows {
				for k := range pooled.Rows {
					if i != k && i >= training && k >= training {
						continue // held-out rows with each other are not summed
					}
					sum := int64(0)
					for at, v := range pooled.Row(i) {
						sum += int64(math.RoundToEven(v*unit)) * int64(math.RoundToEven(pooled.Row(k)[at]*unit))
					}
					if got, want := f.Server.Problem.Gram.Row(i)[k], float64(sum)/unit/unit; got != want {
						t.Fatalf("entry %d, %d is %v, want %v", i, k, got, want)
					}
				}
			}
			ids := f.Parties["guest"].Aligned()
			for i, label := range f.Server.Problem.Labels {
				if label != set.Labels[slices.Index(set.IDs, ids[i])] {
					t.Fatalf("row %d has label %s", i, label)
				}
			}
			if a := f.Server.Metrics["accuracy"]; c.scale != "none" && a < 0.9 {
				t.Errorf("accuracy %v", a)
			}
		})
	}
}

// The leakage names the neighbours who read a party, and no pair for the first one.
func TestLeakageNamesNeighbours(t *testing.T) {
	for parties, want := range map[string]string{
		"guest, host":                "guest alone reads the products over the columns of host",
		"guest, host, third":         "guest and third read host; host and guest read third",
		"guest, host, third, fourth": "guest and third read host; host and fourth read third; third and guest read fourth",
	} {
		j := methodtest.Read(t, Protocol(), fmt.Sprintf(file, parties, "minmax"))
		f := methodtest.Join[*server, *party](t, Protocol(), j, columnstest.Share(t, j, columnstest.Numbered(t, "wdbc", 60)))
		f.Finish(t)
		lines := strings.Join(f.Result(t).Leakage["coalition"], " ")
		if !strings.Contains(lines, want) {
			t.Errorf("%s: %s", parties, lines)
		}
		if parties == "guest, host, third, fourth" && !strings.Contains(lines, "The server together with host and fourth, the neighbours of guest, reads") {
			t.Errorf("%s: the coalition against the first party is not named: %s", parties, lines)
		}
		if parties != "guest, host" && !strings.Contains(lines, "unless it is guest") {
			t.Errorf("%s: the first party is not excepted: %s", parties, lines)
		}
	}
}

// More rows than fit are refused by one sentence that says how large their matrix is.
func TestMemoryWall(t *testing.T) {
	j := methodtest.Read(t, Protocol(), fmt.Sprintf(file, "guest, host", "minmax"))
	declared := func(rows int) columns.Declared {
		one := columns.Declaration{Rows: rows, Columns: gram.Holder{Columns: 1}}
		return columns.Declared{List: []columns.Declaration{one, one}}
	}
	judge := usable(limitedProducts(j))
	if err := judge(declared(16384)); err != nil {
		t.Error(err)
	}
	if err := judge(declared(16385)); fault.CodeOf(err) != fault.CodeBadInput {
		t.Errorf("16,385 rows: %v", err)
	}
	err := judge(declared(45000))
	if fault.CodeOf(err) != fault.CodeBadInput || !strings.Contains(err.Error(), "45000 rows have a matrix of 1012522500 words (7.5 GiB)") {
		t.Errorf("error %v", err)
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
		{"digits", 240, 2, all, all, all},
		{"digits", 240, 3, all, all, all},
		{"digits", 110, 3, all, all, all},
		{"digits", 60, 5, part, part, all},
		{"digits", 60, 2, part, all, all},
		{"wdbc", 240, 2, part, part, part},
	} {
		j := methodtest.Read(t, Protocol(), fmt.Sprintf(file, strings.Join([]string{"guest", "host", "third", "fourth", "fifth"}[:tt.parties], ", "), "minmax"))
		f := methodtest.Join[*server, *party](t, Protocol(), j, columnstest.Share(t, j, columnstest.Numbered(t, tt.set, tt.rows)))
		f.Finish(t)
		r := f.Result(t)
		for role, want := range map[string]protocol.Reach{"server": tt.server, "party": tt.party, "coalition": tt.coalition} {
			e := r.Exposures[role]
			if e.Reach != want || !strings.Contains(strings.Join(r.Leakage[role], "\n"), e.Why) {
				t.Errorf("%d rows of %s, %d parties, %s: %+v, want %s; training rows %d", tt.rows, tt.set, tt.parties, role, e, want, f.Server.Layout.Training())
			}
		}
	}
}
