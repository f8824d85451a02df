package okra

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/methodtest"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/protocol/okra"
)

// changing is a job between four parties with the given scale and keys of the protocol.
func changing(scale, keys string) string {
	text := strings.NewReplacer("[north, south]", "[north, south, east, west]", "{name: okra}", "{name: okra, wire: float64, encoder: haar"+keys+"}").Replace(jobFile)
	return fmt.Sprintf(text, scale, "{every: 4}")
}

// tables have 12 rows for each party, and each party has a range of its own.
func tables() map[string]method.Table {
	all := make(map[string]method.Table)
	for i, name := range []string{"north", "south", "east", "west"} {
		m := linalg.New[float64](12, 3)
		labels := make([]string, 12)
		for r := range 12 {
			labels[r] = string(rune('a' + r%2))
			for c := range 3 {
				m.Row(r)[c] = float64(i+1)*math.Sin(float64(7*r+3*c+i)) + float64(r%2)
			}
		}
		all[name] = method.Table{Set: &dataset.Set{Name: name, X: dataset.NewDense(m), Labels: labels, Columns: []string{"x", "y", "z"}}}
	}
	return all
}

// reordered turns a party's columns round.
func reordered(t method.Table) method.Table {
	t.Set = t.Set.SelectColumns([]int{2, 0, 1})
	return t
}

func play(t *testing.T, scale, keys string) *methodtest.Typed[*server, *party] {
	t.Helper()
	data := tables()
	data["south"] = reordered(data["south"])
	f := methodtest.Join[*server, *party](t, Protocol(), read(t, changing(scale, keys)), data)
	f.Finish(t)
	return f
}

func names(f *methodtest.Federation) (list []string) {
	for _, s := range f.Plan {
		list = append(list, s.Name)
	}
	return list
}

// A job whose parties change gives the model of a session with all rows of the parties that
// stay, bit for bit, and computes the products of new rows only.
func TestChangedPartiesGiveTheFreshModel(t *testing.T) {
	for name, tt := range map[string]struct {
		scale, keys string
		plan        string
		rows        []int // in the order of the parties that stay
		products    int64
	}{
		"late": {"none", ", late: [south]", "column-order protocol column-order-again continue learn evaluate fresh relearn", []int{12, 12, 12, 12}, 12*36 + 78},
		"late and scaled": {"standard", ", late: [south]", "column-order scale protocol column-order-again continue learn evaluate fresh relearn",
			[]int{12, 12, 12, 12}, 12*36 + 78},
		"the leader withdraws": {"none", ", withdrawn: [north]", "column-order protocol continue learn evaluate fresh relearn", []int{12, 12, 12}, 0},
		"two others withdraw":  {"none", ", withdrawn: [south, west]", "column-order protocol continue learn evaluate fresh relearn", []int{12, 12}, 0},
		"kept scaling":         {"minmax", ", withdrawn: [north], late: [west], preparation: keep", "column-order scale protocol column-order-again continue learn evaluate fresh relearn", []int{12, 12, 12}, 12*24 + 78},
		"nothing to fit anew":  {"none", ", withdrawn: [west], preparation: refit", "column-order protocol continue learn evaluate fresh relearn", []int{12, 12, 12}, 0},
		"rows are added":       {"none", ", added: {east: 0.25}", "column-order protocol continue learn evaluate fresh relearn", []int{12, 12, 12, 12}, 3*45 + 6},
		"rows are added and scaled": {"standard", ", added: {south: 0.5, north: 0.25}", "column-order scale protocol continue learn evaluate fresh relearn",
			[]int{12, 12, 12, 12}, 9*39 + 45},
		"rows are added, one comes and one goes": {"minmax", ", added: {south: 0.25}, late: [west], withdrawn: [north], preparation: keep",
			"column-order scale protocol column-order-again continue learn evaluate fresh relearn", []int{12, 12, 12}, 15*21 + 120},
		"two come together": {"none", ", late: [east, west]", "column-order protocol column-order-again continue learn evaluate fresh relearn", []int{12, 12, 12, 12}, 24*24 + 300},
	} {
		t.Run(name, func(t *testing.T) {
			f := play(t, tt.scale, tt.keys)
			if got := strings.Join(names(f.Federation), " "); got != tt.plan {
				t.Errorf("steps %s, want %s", got, tt.plan)
			}
			d, err := method.DetailsOf[Details](f.Result(t))
			if err != nil || d == nil || !d.Changes.Equal {
				t.Fatalf("%v: not the fresh model: %+v", err, d)
			}
			if d.Changes.Changed.Products != tt.products || d.Changes.Fresh.Products <= tt.products {
				t.Errorf("%d products of %d, want %d", d.Changes.Changed.Products, d.Changes.Fresh.Products, tt.products)
			}
			var rows []int
			for _, r := range f.Server.upload.Owner() {
				rows = append(rows, r.Hi-r.Lo)
			}
			if !slices.Equal(rows, tt.rows) {
				t.Errorf("rows %d, want %d", rows, tt.rows)
			}
		})
	}
}

// A party compares its table with the rows of an earlier job by digests. A digest changes with each
// value of its row, with the label and with the held-out flag.
func TestDigestOfARowTellsEveryChange(t *testing.T) {
	seen := make(map[rowDigest]string)
	for name, change := range map[string]func(row []float64, s *method.Split){
		"the row itself": func([]float64, *method.Split) {},
		"first value":    func(row []float64, _ *method.Split) { row[0] = math.Nextafter(1, 2) },
		"second value":   func(row []float64, _ *method.Split) { row[1] = 0 },
		"last value":     func(row []float64, _ *method.Split) { row[2] = -3 },
		"label":          func(_ []float64, s *method.Split) { s.Set.Labels = []string{"b"} },
		"held-out flag":  func(_ []float64, s *method.Split) { s.Test = []bool{true} },
	} {
		row := []float64{1, 2, 3}
		x := dataset.NewDense(linalg.Matrix[float64]{Rows: 1, Cols: 3, Stride: 3, Data: row})
		s := method.Split{Set: &dataset.Set{X: x, Labels: []string{"a"}}, Test: []bool{false}}
		change(row, &s)
		d := digestsOf(okra.Seed{1}, s)[0]
		if other, is := seen[d]; is {
			t.Errorf("%s and %s have one digest", name, other)
		}
		seen[d] = name
	}
	a, b, c := rowDigest{1}, rowDigest{2}, rowDigest{3}
	if added, gone := newSince([]rowDigest{a, a, b}, []rowDigest{a, b, a, a}); !slices.Equal(added, []int{3}) || gone != 0 {
		t.Errorf("a third row beside two equal ones: %v are new, %d are gone", added, gone)
	}
	if added, gone := newSince([]rowDigest{a, b}, []rowDigest{a, c}); !slices.Equal(added, []int{1}) || gone != 1 {
		t.Errorf("a changed row: %v are new, %d are gone", added, gone)
	}
}

// Each party sends its rows to the coordinator once, and to nobody else.
func TestRowsAreUploadedOnce(t *testing.T) {
	f := play(t, "none", "")
	uploads := make(map[string]int)
	for _, list := range f.Sent {
		for _, m := range list {
			if m.Kind == "Rows" {
				uploads[m.Sender]++
			}
		}
	}
	for name := range f.Parties {
		if uploads[name] != 1 {
			t.Errorf("%s sends %d messages with rows", name, uploads[name])
		}
		for step, list := range f.Received[name] {
			for _, m := range list {
				if m.Kind == "Rows" {
					t.Errorf("%s: %s receives rows from %s", step, name, m.Sender)
				}
			}
		}
	}
}

// A refit is a run without the party that withdrew: its scaling has no trace of it, and its
// decisions equal the decisions of a job that never had it.
func TestRefitIsARunWithoutTheLeaver(t *testing.T) {
	f := play(t, "standard", ", withdrawn: [north]")
	if got, want := strings.Join(names(f.Federation), " "), "column-order scale protocol column-order-again scale-again protocol-again learn evaluate"; got != want {
		t.Errorf("steps %s, want %s", got, want)
	}
	text := strings.Replace(changing("standard", ""), "[north, south, east, west]", "[south, east, west]", 1)
	never := methodtest.Join[*server, *party](t, Protocol(), read(t, text), tables())
	never.Finish(t)
	sameDecisions(t, f, never)
	for name, p := range never.Parties {
		if own := f.Parties[name].Scaling; !slices.Equal(own.Offset, p.Scaling.Offset) || !slices.Equal(own.Factor, p.Scaling.Factor) {
			t.Errorf("%s scales by %v, want %v", name, own, p.Scaling)
		}
	}
}

// sameDecisions compares the decisions of two runs, which have other seeds.
func sameDecisions(t *testing.T, f, other *methodtest.Typed[*server, *party]) {
	t.Helper()
	got, want := f.Server.outcome().Decisions.Data, other.Server.outcome().Decisions.Data
	if len(got) != len(want) || len(got) == 0 {
		t.Fatalf("%d decisions, want %d", len(got), len(want))
	}
	for i := range got {
		if math.Abs(got[i]-want[i]) > 1e-6 {
			t.Errorf("decision %d is %v, want %v", i, got[i], want[i])
		}
	}
}

// A refit after rows were added is a run that had them from the beginning: its scaling has seen
// them, and its decisions are the run's.
func TestRefitHasSeenAddedRows(t *testing.T) {
	f := play(t, "standard", ", added: {south: 0.25}, preparation: refit")
	if got, want := strings.Join(names(f.Federation), " "), "column-order scale protocol column-order-again scale-again protocol-again learn evaluate"; got != want {
		t.Errorf("steps %s, want %s", got, want)
	}
	whole := play(t, "standard", "")
	sameDecisions(t, f, whole)
	kept := play(t, "standard", ", added: {south: 0.25}").Parties["south"]
	if n, _ := kept.Rows.Shape(); n != 12 || slices.Equal(kept.Scaling.Offset, f.Parties["south"].Scaling.Offset) || !slices.Equal(f.Parties["south"].Scaling.Offset, whole.Parties["south"].Scaling.Offset) {
		t.Errorf("%d rows, scaled by %v, after a refit by %v", n, kept.Scaling, f.Parties["south"].Scaling)
	}
}

// At least one row is there at first, and at least one comes later.
func TestShareOfAddedRows(t *testing.T) {
	c := Changes{Added: []job.PartyShare{{Party: "north", Share: 0.1}}}
	for n, want := range map[int]int{1: 0, 2: 1, 9: 1, 16: 2, 30: 3} {
		if got := c.countLater("north", n); got != want || c.countLater("south", n) != 0 {
			t.Errorf("%d of %d rows come later, want %d", got, n, want)
		}
	}
}

// A newcomer scales by the scaling of the first session, which knows nothing of its rows.
func TestNewcomersScaleAsTheOthers(t *testing.T) {
	f := play(t, "standard", ", late: [south]")
	want := f.Parties["north"].Scaling
	if own := f.Parties["south"].Scaling; !slices.Equal(own.Offset, want.Offset) || !slices.Equal(own.Factor, want.Factor) || len(own.Offset) != 3 {
		t.Errorf("south scales by %v, the others by %v", own, want)
	}
	if p := f.Parties["south"]; p.Fit(append(p.Fitted(), 0)) == nil {
		t.Error("a scaling with a byte too many is taken")
	}
}

// Leakage states for every change who holds which seed, and where a trace stays.
func TestLeakageOfChanges(t *testing.T) {
	for _, tt := range []struct{ scale, keys, role, want string }{
		{"none", ", late: [south]", "coalition", "Late: south received the seed"},
		{"minmax", ", late: [south]", "party", "Late: south learns the scaling"},
		{"none", ", withdrawn: [south]", "server", "Nothing proves that it kept no copy."},
		{"none", ", withdrawn: [south]", "coalition", "Withdrawn: south still has the seed."},
		{"minmax", ", withdrawn: [south], preparation: keep", "party", "A trace of south stays in the scaling"},
		{"none", ", added: {south: 0.1}", "server", "Added: south sent a part of its rows after the first session."},
		{"minmax", ", withdrawn: [south]", "coalition", "with the first seed it can decode the second session"},
	} {
		lines := play(t, tt.scale, tt.keys).Result(t).Leakage[tt.role]
		if !strings.Contains(strings.Join(lines, "\n"), tt.want) {
			t.Errorf("%s%s: %s: %q is missing", tt.scale, tt.keys, tt.role, tt.want)
		}
	}
}

func TestPresentationOfChanges(t *testing.T) {
	r := play(t, "none", ", late: [south]").Result(t)
	p, err := Protocol().Present(nil, r)
	if err != nil || p == nil || len(p.Later) != 4 || p.Later[0].Line != "late: south; withdrawn: nobody; added: nothing; preparation: none" ||
		p.Later[3].Line != "the model equals the model from all rows sent again, bit for bit" {
		t.Errorf("%v: %+v", err, p)
	}
	r = play(t, "none", ", added: {south: 0.25}").Result(t)
	if p, err := Protocol().Present(nil, r); err != nil || p.Later[0].Line != "late: nobody; withdrawn: nobody; added: south 25 % of its rows; preparation: none" {
		t.Errorf("%v: %+v", err, p)
	}
	r = &method.Result{}
	if p, err := Protocol().Present(nil, r); p != nil || err != nil {
		t.Errorf("a job without changes: %v, %+v", err, p)
	}
	j := read(t, changing("none", ", late: [south]"))
	if err := j.Deployable(); err == nil {
		t.Error("real parties play a change in one job")
	}
}

// The parties detect a coordinator that names no session to continue.
func TestContinuedSessionNeedsItsParent(t *testing.T) {
	plan, err := Protocol().Plan(methodtest.Instance(read(t, changing("none", ", late: [south]"))))
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range plan {
		if s.Name == "continue" || s.Name == "fresh" {
			if _, err := s.Session.After(nil, []byte{1}); err == nil {
				t.Errorf("%s follows from one byte", s.Name)
			}
		}
	}
}
