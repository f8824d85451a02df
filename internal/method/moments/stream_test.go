package moments

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/dataset/bundled"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/rows"
	"github.com/mercer-fl/mercer/learn/moments"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/protocol"
)

// setBlocks reads a set in blocks of some rows.
type setBlocks struct {
	set      *dataset.Set
	rows, at int
	closed   *int
}

func (b *setBlocks) Next() (*dataset.Set, error) {
	if b.at == b.set.X.Rows() {
		return nil, io.EOF
	}
	lo, hi := b.at, min(b.at+b.rows, b.set.X.Rows())
	b.at = hi
	return b.set.Subset(every(lo, hi)), nil
}

func (b *setBlocks) Close() error { *b.closed--; return nil }

// streamed returns a table that is read in blocks, and the number of readings that were not closed.
func streamed(t method.Table, rows int) (method.Table, *int) {
	set, open := t.Set, new(int)
	t.Set, t.Stream = nil, func() (method.StreamReader, error) { *open++; return &setBlocks{set, rows, 0, open}, nil }
	return t, open
}

const streamFile = `apiVersion: mercer/v1
kind: Job
metadata: {name: stream}
spec:
  seed: 1
  data:
    source: bundled:wdbc
    label: %s
    partition: {parties: [north, south, east]}
    test: {fraction: 0.4}
    scale: %s
  protocol: {name: moments, %s}
  kernel: {name: rbf, gamma: %s}
  learner: {name: %s}
  compare: []
`

// A party that reads its table in blocks sends and ends with the same as one that has it in memory:
// sums, solution, figures and retained state, whatever the blocks.
func TestStreamedPartyEqualsOneInMemory(t *testing.T) {
	for name, text := range map[string]string{
		"classes":    fmt.Sprintf(streamFile, "diagnosis", "standard", "directions: 32, classes: ['0', '1']", "0.01", "ridge-classifier, alpha: [0.01, 1]"),
		"histogram":  fmt.Sprintf(streamFile, "diagnosis", "minmax", "directions: 32, classes: ['0', '1'], histogram: true", "0.1", "ridge-classifier"),
		"privacy":    fmt.Sprintf(streamFile, "diagnosis\n    features: 30", "none", "directions: 32, classes: ['0', '1'], privacy: {epsilon: 4, delta: 1.0e-6}", "0.00001", "ridge-classifier"),
		"components": fmt.Sprintf(streamFile, "none", "none", "directions: 32", "0.00001", "kpca, n_components: 3"),
		"deviations": fmt.Sprintf(streamFile, "diagnosis", "standard", "directions: 16, targets: [0, 1], deviations: true", "0.01", "gp, noise: [0.1, 1]"),
	} {
		j := read(t, text)
		inMemory := runSteps(t, j, streamTables(t, j))
		for _, size := range []int{1, 50, 1000} {
			tables := streamTables(t, j)
			var open *int
			tables["south"], open = streamed(tables["south"], size)
			f := runSteps(t, j, tables)
			if *open != 0 {
				t.Errorf("%s: %d readings were not closed", name, *open)
			}
			if !bytes.Equal(f.Server.body, inMemory.Server.body) || !slices.Equal(f.Server.figures, inMemory.Server.figures) || !slices.Equal(f.Server.histogram, inMemory.Server.histogram) || f.Server.membership != inMemory.Server.membership {
				t.Errorf("%s in blocks of %d rows: another solution or other figures than in memory", name, size)
			}
			if d := cmp.Diff(inMemory.Result(t).Metrics, f.Result(t).Metrics); d != "" {
				t.Errorf("%s: %s", name, d)
			}
			a, b := inMemory.Parties["south"], f.Parties["south"]
			if d := cmp.Diff(a.Scaling, b.Scaling); d != "" {
				t.Errorf("%s: %s", name, d)
			}
			if d := cmp.Diff(a.Notices(), b.Notices()); d != "" {
				t.Errorf("%s: %s", name, d)
			}
			kept, err := a.retainedState(method.Closing{})
			if err != nil {
				t.Fatal(err)
			}
			if again, err := b.retainedState(method.Closing{}); err != nil || !bytes.Equal(kept.Body, again.Body) {
				t.Errorf("%s: another retained state, %v", name, err)
			}
		}
	}
}

// streamTables deals wdbc. South has its columns in another order, and one that is nearly constant.
func streamTables(t *testing.T, j *job.Job) map[string]method.Table {
	t.Helper()
	set, err := bundled.Load("wdbc")
	if err != nil {
		t.Fatal(err)
	}
	x := dataset.DenseOf(set.X).Matrix()
	m := linalg.New[float64](x.Rows, x.Cols)
	for i := range x.Rows {
		copy(m.Row(i), x.Row(i))
		if m.Row(i)[3] = 7; i%100 == 0 {
			m.Row(i)[3] = 8
		}
	}
	set.X = dataset.NewDense(m)
	tables := make(map[string]method.Table)
	for i, party := range j.Parties() {
		own := set.Subset(every(i*180, (i+1)*180))
		if party == "south" {
			order := every(0, own.X.Cols())
			slices.Reverse(order)
			own = own.SelectColumns(order)
		}
		tables[party] = method.Table{Set: own, Key: dataset.SplitKey{byte(i + 1)}}
	}
	return tables
}

// A party refuses the same tables, whether it reads them in blocks or not.
func TestStreamedPartyRefusesTheSame(t *testing.T) {
	j := read(t, fmt.Sprintf(streamFile, "diagnosis", "none", "directions: 8, classes: ['0', '1']", "0.01", "ridge-classifier"))
	regression := read(t, fmt.Sprintf(streamFile, "diagnosis", "none", "directions: 8, targets: [0, 1]", "0.01", "ridge"))
	base := streamTables(t, j)["north"]
	few := base
	few.Set = base.Set.Subset(every(0, 60))
	class := base
	class.Set = base.Set.Subset(every(0, 180))
	class.Set.Labels = slices.Repeat([]string{"0"}, 180)
	class.Set.Labels[5], class.Set.Labels[6], class.Set.Labels[7] = "1", "1", "1"
	unlisted := class
	unlisted.Set = class.Set.Subset(every(0, 180))
	unlisted.Set.Labels[170] = "unknown"
	far := base
	x := linalg.New[float64](180, 30)
	for i := range x.Rows {
		base.Set.X.Row(i, x.Row(i))
		x.Row(i)[2] = 1e9 + float64(i%3)
	}
	set := *base.Set
	set.X = dataset.NewDense(x)
	far.Set = &set
	for name, c := range map[string]struct {
		j     *job.Job
		table method.Table
		same  bool
		want  string
	}{
		"few rows": {j, few, true, "needs at least 100 training rows"},
		"class":    {j, class, true, `training rows of each class that a party has`},
		"unlisted": {j, unlisted, true, `class "unknown" is not a class`},
		"targets":  {regression, unlisted, true, "regression needs numbers"},
		"far":      {j, far, false, "has the mean 1e+09"}, // in memory the daemon checks this before the protocol
	} {
		inMemory := withLimits(c.j, "north", c.table)
		table, open := streamed(c.table, 64)
		inBlocks := withLimits(c.j, "north", table)
		if inBlocks == nil || !strings.Contains(inBlocks.Error(), c.want) || *open != 0 {
			t.Errorf("%s: %v, %d readings open", name, inBlocks, *open)
		}
		if c.same && c.want != "regression needs numbers" && c.want != `class "unknown" is not a class` && fmt.Sprint(inMemory) != fmt.Sprint(inBlocks) {
			t.Errorf("%s: in memory %v, in blocks %v", name, inMemory, inBlocks)
		}
	}
}

// A table that changes while a job uses it is refused.
func TestStreamedTableThatChanges(t *testing.T) {
	j := read(t, fmt.Sprintf(streamFile, "diagnosis", "none", "directions: 8, classes: ['0', '1']", "0.01", "ridge-classifier"))
	table := streamTables(t, j)["north"]
	set, open := table.Set, new(int)
	table.Set, table.Stream = nil, func() (method.StreamReader, error) { *open++; return &setBlocks{set, 64, 0, open}, nil }
	p := partyOf(t, j, "north", table)
	set = set.Subset(every(0, 179))
	if err := p.Each(false, func(linalg.Rows, []string) error { return nil }); err == nil || !strings.Contains(err.Error(), "had 180 rows when the job read it first, and has 179 now") {
		t.Error(err)
	}
	if err := p.Each(false, func(linalg.Rows, []string) error { return errors.ErrUnsupported }); !errors.Is(err, errors.ErrUnsupported) {
		t.Error(err)
	}
}

// Shards give the sums and the figures of the whole table, whatever their lengths.
func TestShardsMergeToTheTable(t *testing.T) {
	j := read(t, fmt.Sprintf(streamFile, "diagnosis", "none", "directions: 16, classes: ['0', '1'], histogram: true", "0.0001", "ridge-classifier"))
	table := streamTables(t, j)["south"]
	set := table.Set
	table, _ = streamed(table, 64)
	p := partyOf(t, j, "south", table)
	whole, ok := p.Shard()
	if !ok {
		t.Fatal("the table is not in blocks")
	}
	m, err := Directions(j, protocol.SessionID{1}, 16, 30)
	if err != nil {
		t.Fatal(err)
	}
	want, err := SumShard(j, m, whole)
	if err != nil {
		t.Fatal(err)
	}
	solution, err := Learn(t.Context(), j, want.Sums())
	if err != nil {
		t.Fatal(err)
	}
	wantErrors, err := MeasureShard(j, m, solution, whole)
	if err != nil {
		t.Fatal(err)
	}
	sum, errs := moments.NewPartial(16, 2), &HeldOut{Figures: make([]int64, 1), Histogram: &[2][]int{make([]int, moments.Bins), make([]int, moments.Bins)}}
	for _, cut := range [][2]int{{0, 1}, {1, 70}, {70, 180}} {
		part := rows.Shard{Name: "part", Count: cut[1] - cut[0], Form: whole.Form}
		own, _ := streamed(method.Table{Set: set.Subset(every(cut[0], cut[1]))}, 33)
		part.Table = own.Stream
		for i := cut[0]; i < cut[1]; i++ {
			if whole.Held.Has(i) {
				part.Held.Set(i - cut[0])
			}
		}
		some, err := SumShard(j, m, part)
		if err != nil {
			t.Fatal(err)
		}
		if err := sum.Merge(some); err != nil {
			t.Fatal(err)
		}
		measured, err := MeasureShard(j, m, solution, part)
		if err != nil {
			t.Fatal(err)
		}
		if err := errs.Merge(measured); err != nil {
			t.Fatal(err)
		}
	}
	if d := cmp.Diff(want, sum); d != "" || want.Rows < 100 {
		t.Error(d)
	}
	if d := cmp.Diff(wantErrors, errs); d != "" || errs.Rows < 20 || errs.Figures[0] == 0 {
		t.Error(d)
	}
	if _, err := MeasureShard(j, m, solution[:len(solution)-1], whole); err == nil {
		t.Error("a cut solution is read")
	}
}

// With a histogram the broker sees the room of the sums, and the result says so.
func TestBrokerLearnsTheRoom(t *testing.T) {
	j := read(t, fmt.Sprintf(streamFile, "diagnosis", "none", "directions: 8, classes: ['0', '1'], histogram: true", "0.01", "ridge-classifier"))
	f := runSteps(t, j, streamTables(t, j))
	const said = "the largest party declares more than 8388608 training rows, and at most 16777216"
	if got := fmt.Sprint(f.Server.leakage()["broker"]); strings.Contains(got, "declares more than") {
		t.Error(got)
	}
	f.Server.counted.list[0] = 10_000_000
	if got := fmt.Sprint(f.Server.leakage()["broker"]); !strings.Contains(got, said) {
		t.Error(got)
	}
}

// The sums have room for the largest declared count, and no more than they need.
func TestRoomOfSums(t *testing.T) {
	for most, want := range map[int64]int64{0: 1 << 20, 1: 1 << 20, 1 << 20: 1 << 20, 1<<20 + 1: 1 << 21, 10_000_000: 1 << 24, moments.MaxRows: moments.MaxRows} {
		if got := roomFor(most); got != want {
			t.Errorf("room for %d rows is %d, want %d", most, got, want)
		}
	}
	j := momentsJob(t, "none")
	count := func(parties int, n uint64) error {
		names, statements := make([]string, parties), make([][]byte, parties)
		for i := range names {
			names[i], statements[i] = fmt.Sprint("p", i), binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint64(nil, n), 64)
		}
		c, err := readCounts(j, names, statements)
		if err == nil && (c.total() != int64(parties)*int64(n) || c.public().room < int64(n)) {
			t.Errorf("%d parties of %d rows: %+v", parties, n, c.public())
		}
		return err
	}
	for _, c := range []struct {
		parties int
		rows    uint64
		good    bool
	}{{3, moments.MaxRows, true}, {3, moments.MaxRows + 1, false}, {31, moments.MaxRows, true}, {32, moments.MaxRows, false}, {40, 1 << 20, true}, {2000, 1 << 20, true}, {2000, 1<<20 + 1, false}} {
		if err := count(c.parties, c.rows); (err == nil) != c.good {
			t.Errorf("%d parties of %d rows: %v", c.parties, c.rows, err)
		}
	}
}
