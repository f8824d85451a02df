package sealed

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/methodtest"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/sealed"
)

// table is a table of two columns with rows of class well, some of class ill, and 60 held-out rows.
func table(well, ill int) method.Table {
	rows := func(n, few int) *dataset.Set {
		x := linalg.New[float64](n, 2)
		s := &dataset.Set{Name: "table", X: dataset.NewDense(x)}
		for i := range n {
			x.Row(i)[0], x.Row(i)[1] = float64(i), float64(i%7)
			s.Labels = append(s.Labels, "well")
			if i < few {
				s.Labels[i] = "ill"
			}
		}
		return s
	}
	return method.Table{Set: rows(well+ill, ill), HeldOut: rows(60, 20)}
}

const smallFile = `apiVersion: mercer/v1
kind: Job
metadata: {name: small}
spec:
  data: {source: small, label: label, partition: {parties: [%s]}, test: {source: other}, scale: none}
  protocol: {name: sealed, features: %d, classes: [ill, well]}
  kernel: {name: rbf, gamma: 0.1}
  learner: {name: ridge-classifier}
`

func smallJob(t *testing.T, parties string, features int) *job.Job {
	t.Helper()
	return read(t, fmt.Sprintf(smallFile, parties, features))
}

// A party shares nothing of too few rows, of a class with too few, or of a class with fewer cells than the model has
// features. Peers hear no number.
func TestFloors(t *testing.T) {
	for name, tt := range map[string]struct {
		well, ill, features int
		want                string // of the party's own error
	}{
		"enough":                {90, 10, 20, ""},
		"none of a class":       {100, 0, 20, ""},
		"training rows":         {89, 10, 20, "at least 100 training rows"},
		"nine of a class":       {91, 9, 8, `this table has 9 of class "ill"`},
		"cells of a class":      {90, 10, 22, `tells 22 numbers about each class, and this table has 10 training rows of class "ill", of 2 columns`},
		"cells of few features": {90, 12, 24, ""},
	} {
		c := methodtest.Instance(smallJob(t, "north, south, east", tt.features))
		c.Limits = method.DefaultLimits()
		own, err := newParty(c, "north", table(tt.well, tt.ill))
		if err == nil {
			own.declared.list = slices.Repeat([]declaration{{rows: tt.well + tt.ill, columns: 2}}, 3)
			err = own.checkDeclared()
		}
		if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%s: %v, want %q", name, err, tt.want)
		}
		if err != nil && strings.ContainsAny(fault.NoticeOf(err).Sentence(), "0123456789") {
			t.Errorf("%s: peers hear %q", name, fault.NoticeOf(err).Sentence())
		}
	}
}

// Without any limits of an operator a party still has a hundred rows.
func TestFloorOfTheProtocol(t *testing.T) {
	if _, err := newParty(methodtest.Instance(smallJob(t, "north, south, east", 8)), "north", table(99, 0)); fault.CodeOf(err) != fault.CodePolicy {
		t.Errorf("99 rows: %v", err)
	}
}

// No party takes part beside one with most of the rows, in a model with too many numbers, or in one with more features
// than its operator allows.
func TestDeclarationsThatAreRefused(t *testing.T) {
	for name, tt := range map[string]struct {
		parties  string
		rows     []int
		features int
		want     string
	}{
		"half":                      {"north, south, east", []int{200, 100, 100}, 20, ""},
		"more than half":            {"north, south, east", []int{201, 100, 100}, 20, "half"},
		"three quarters of two":     {"north, south", []int{300, 100}, 20, ""},
		"more than three quarters":  {"north, south", []int{304, 100}, 20, "three quarters"},
		"a quarter of the cells":    {"north, south", []int{100, 100}, 100, ""},
		"more than that":            {"north, south", []int{100, 100}, 102, "a model of 102 features and 1 targets has 102 numbers, but for 200 training rows of 2 columns it can have at most 100"},
		"fewer rows than the floor": {"north, south", []int{100, 99}, 20, "99"},
	} {
		c := methodtest.Instance(smallJob(t, tt.parties, tt.features))
		var statements [][]byte
		for _, n := range tt.rows {
			statements = append(statements, declaration{rows: n, columns: 2}.encode())
		}
		_, err := readDeclarations(c, protocol.SessionID{1}, statements)
		if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%s: %v, want %q", name, err, tt.want)
		}
	}
	c := methodtest.Instance(smallJob(t, "north, south", 20))
	c.Limits.Directions = 18
	refuses := func(rows []int, want string) {
		t.Helper()
		own, err := newParty(c, "north", table(100, 0))
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range rows {
			own.declared.list = append(own.declared.list, declaration{rows: n, columns: 2})
		}
		if err := own.checkDeclared(); fault.CodeOf(err) != fault.CodePolicy || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	refuses([]int{100, 100}, "allows at most 18")
	c.Limits = method.Limits{Share: .3} // of two parties .65
	refuses([]int{100, 190}, "this party accepts at most 65 %")
}

// Whoever shows other bytes than it has committed to is named, and nobody can commit to another's bytes.
func TestTokens(t *testing.T) {
	session, names := protocol.SessionID{7}, []string{"north", "south"}
	tokens := []token{{1}, {2}}
	d := declared{session: session}
	for i, v := range tokens {
		d.list = append(d.list, declaration{commitment: v.commitment(session, names[i])})
	}
	show := func(list ...token) ([32]byte, error) {
		var statements [][]byte
		for _, v := range list {
			statements = append(statements, v[:])
		}
		return d.open(names, statements)
	}
	one, err := show(tokens...)
	if err != nil {
		t.Fatal(err)
	}
	d.digest[0] = 1
	if other, err := show(tokens...); err != nil || other == one {
		t.Errorf("other declarations give the same directions; %v", err)
	}
	d.digest[0], d.list[1].commitment = 0, token{5}.commitment(session, "south")
	if other, err := show(tokens[0], token{5}); err != nil || other == one {
		t.Errorf("other tokens give the same directions; %v", err)
	}
	d.list[1].commitment = tokens[1].commitment(session, "south")
	if _, err := show(tokens[0], token{3}); !blames(err, "south") {
		t.Errorf("another token: %v", err)
	}
	d.list[1] = d.list[0]
	if _, err := show(tokens[0], tokens[0]); !blames(err, "south") {
		t.Errorf("a repeated commitment: %v", err)
	}
	if _, err := d.open(names, [][]byte{tokens[0][:], {}}); !blames(err, "south") {
		t.Errorf("nothing: %v", err)
	}
	if (token{1}).commitment(session, "north") == (token{1}).commitment(protocol.SessionID{8}, "north") {
		t.Error("a commitment serves two sessions")
	}
}

func blames(err error, name string) bool {
	return err != nil && strings.Contains(err.Error(), name)
}

// The default has 512 features, or as many as rows and cells allow.
func TestDefaultFeatures(t *testing.T) {
	j := digitsJob(t, "north, south, east", "")
	for _, tt := range []struct{ rows, columns, want int }{{3000, 64, 512}, {600, 64, 300}, {600, 10, 150}, {999, 3, 74}} {
		if got := (public{rows: []int{tt.rows}, columns: tt.columns}).features(j); got != tt.want {
			t.Errorf("%d rows of %d columns: %d features, want %d", tt.rows, tt.columns, got, tt.want)
		}
	}
}

// The release of a party names its training rows, and the share of numbers to cells never falls short before all have
// declared their rows.
func TestRelease(t *testing.T) {
	c := methodtest.Instance(digitsJob(t, "north, south, east", ""))
	own, err := newParty(c, "north", deal(t, c.Job, 300)["north"])
	if err != nil {
		t.Fatal(err)
	}
	release := func() method.Release {
		list, err := own.release()
		if err != nil || len(list) != 1 || list[0].Kind != method.ReleaseModels || len(list[0].Among) != 300 || list[0].Label != "label" || !list[0].Classes {
			t.Fatalf("%+v, %v", list, err)
		}
		return list[0]
	}
	before := release()
	own.declared.list = slices.Repeat([]declaration{{rows: 300, columns: 64}}, 3)
	after := release()
	if after.Numbers != 4500 || after.Cells != 900*64 || before.Numbers*after.Cells < after.Numbers*before.Cells {
		t.Errorf("%d of %d, and %d of %d", before.Numbers, before.Cells, after.Numbers, after.Cells)
	}
}

// The sums of a party are over its training rows, each once, as rows enter sums.
func TestSumsOfTrainingRows(t *testing.T) {
	c := methodtest.Instance(digitsJob(t, "north, south, east", ", features: 32"))
	own, err := newParty(c, "north", deal(t, c.Job, 300)["north"])
	if err != nil {
		t.Fatal(err)
	}
	own.declared.list = slices.Repeat([]declaration{{rows: 300, columns: 64}}, 3)
	problem, err := own.public().problem(c.Job)
	if err != nil {
		t.Fatal(err)
	}
	got, err := own.sums(problem)
	if err != nil {
		t.Fatal(err)
	}
	all, err := sealed.NewAccumulator(problem)
	if err != nil {
		t.Fatal(err)
	}
	common, err := own.Common()
	if err != nil {
		t.Fatal(err)
	}
	m, err := directions(c.Job, own.drawn, 32, 64)
	if err != nil {
		t.Fatal(err)
	}
	if err := addRows(all, c.Job, m, targetOf(c.Job), linalg.Pick(common, linalg.Range(0, 300)), own.Split.Set.Labels[:300]); err != nil {
		t.Fatal(err)
	}
	if outer, cross := all.Sums(); !slices.Equal(got.Outer, outer) || !slices.Equal(got.Cross, cross) {
		t.Error("the sums are over other rows")
	}
}

func FuzzDecodeDeclaration(f *testing.F) {
	f.Add(declaration{rows: 100, columns: 2}.encode())
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		d, err := decodeDeclaration(b)
		if err == nil && !slices.Equal(d.encode(), b) {
			t.Errorf("%x is read as what is written %x", b, d.encode())
		}
	})
}
