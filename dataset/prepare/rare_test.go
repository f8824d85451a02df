package prepare

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mercer-fl/mercer/linalg"
)

// common fits on all rows but the last ones, and returns what of these enters sums.
func common(t *testing.T, schema Schema, words []string, last int) ([]string, *Preparation, *Frame) {
	t.Helper()
	f := frameOf(t, "a,b\n"+strings.Join(words, ",1\n")+",1\n", append(Schema{}, append(schema, Column{Name: "b"})...))
	training := linalg.Range(0, f.Rows()-last)
	made, err := FitAlone(f, training, Unscaled)
	if err != nil {
		t.Fatal(err)
	}
	table, err := made.Common(f, training)
	if err != nil {
		t.Fatal(err)
	}
	names := made.Names()
	var got []string
	for i := f.Rows() - last; i < f.Rows(); i++ {
		var cells []string
		for j, v := range table.Row(i, nil)[:len(names)-1] {
			if v != 0 {
				cells = append(cells, fmt.Sprintf("%s=%v", names[j], v))
			}
		}
		got = append(got, strings.Join(cells, " "))
	}
	return got, made, f
}

// What enters sums has no value that fewer than ten of the training rows have. The rows that are
// asked about are held out: a value that is rare in training, or not there, is replaced in them too.
func TestCommon(t *testing.T) {
	category := func(c Column) Schema {
		c.Name, c.Type = "a", Category
		return Schema{c}
	}
	abc := []string{"a", "b", "c", "d"}
	for name, tt := range map[string]struct {
		schema   Schema
		training []string
		held     []string
		want     []string
		few      int
	}{
		"a word is the commonest": {category(Column{Categories: abc}), slices.Concat(repeated("a", 12), repeated("b", 20), repeated("c", 9)),
			[]string{"a", "b", "c", "d"}, []string{"a_a=1", "a_b=1", "a_b=1", "a_b=1"}, 9},
		"ten have it": {category(Column{Categories: abc}), slices.Concat(repeated("a", 12), repeated("b", 20), repeated("c", 10)),
			[]string{"a", "b", "c", "d"}, []string{"a_a=1", "a_b=1", "a_c=1", "a_b=1"}, 0},
		"few are other": {category(Column{Categories: abc, Unknown: UnknownOther}), slices.Concat(repeated("a", 12), repeated("b", 20), repeated("c", 9), []string{"x"}),
			[]string{"a", "c", "d", "x"}, []string{"a_a=1", "a_other=1", "a_other=1", "a_other=1"}, 9},
		"nine are not enough for other": {category(Column{Categories: abc, Unknown: UnknownOther}), slices.Concat(repeated("a", 12), repeated("b", 20), repeated("c", 8), []string{"x"}),
			[]string{"a", "c", "d", "x"}, []string{"a_a=1", "a_b=1", "a_b=1", "a_b=1"}, 9},
		"zeros in all columns are a value": {category(Column{Categories: abc, Unknown: UnknownIgnore}), slices.Concat(repeated("a", 12), repeated("b", 20), repeated("x", 9)),
			[]string{"a", "x"}, []string{"a_a=1", "a_b=1"}, 9},
		"zeros that ten have": {category(Column{Categories: abc, Unknown: UnknownIgnore}), slices.Concat(repeated("a", 12), repeated("b", 20), repeated("x", 10), []string{"c"}),
			[]string{"c", "x"}, []string{"a_b=1", ""}, 1},
		"agreed words": {category(Column{Agree: true, Unknown: UnknownOther}), slices.Concat(repeated("a", 12), repeated("b", 20), repeated("c", 5), repeated("d", 5)),
			[]string{"a", "c", "d", "never seen"}, []string{"a_a=1", "a_other=1", "a_other=1", "a_other=1"}, 10},
		"an ordered word": {category(Column{Categories: abc, Ordered: true}), slices.Concat(repeated("a", 12), repeated("b", 20), repeated("d", 9)),
			[]string{"a", "b", "c", "d"}, []string{"", "a=1", "a=1", "a=1"}, 9},
		"a gap that is a category": {category(Column{Categories: abc, Missing: FillCategory}), slices.Concat(repeated("a", 12), repeated("b", 20), repeated("", 9)),
			[]string{"a", ""}, []string{"a_a=1", "a_b=1"}, 9},
		"ten such gaps": {category(Column{Categories: abc, Missing: FillCategory}), slices.Concat(repeated("a", 12), repeated("b", 20), repeated("", 10)),
			[]string{"a", ""}, []string{"a_a=1", "a_missing=1"}, 0},
		"few words between gaps": {category(Column{Categories: abc, Missing: FillCategory}), slices.Concat(repeated("a", 9), repeated("", 20)),
			[]string{"a", "", "b"}, []string{"a_missing=1", "a_missing=1", "a_missing=1"}, 9},
		"a fill that nobody else has": {category(Column{Categories: abc, Missing: FillValue, Value: "c"}), slices.Concat(repeated("a", 12), repeated("b", 20), []string{""}),
			[]string{"a", "", "c"}, []string{"a_a=1", "a_b=1", "a_b=1"}, 1},
		"a truth value": {Schema{{Name: "a", Type: Boolean}}, slices.Concat(repeated("no", 12), repeated("yes", 1)),
			[]string{"yes", "no"}, []string{"", ""}, 1},
		"truth that nearly all have": {Schema{{Name: "a", Type: Boolean}}, slices.Concat(repeated("no", 9), repeated("yes", 12)),
			[]string{"yes", "no"}, []string{"a=1", "a=1"}, 9},
		"a number in a column otherwise constant": {Schema{{Name: "a"}}, slices.Concat(repeated("5", 30), []string{"6", "7", "7"}),
			[]string{"5", "6", "9"}, []string{"a=5", "a=5", "a=5"}, 3},
		"a constant column": {Schema{{Name: "a"}}, repeated("5", 30), []string{"5", "6"}, []string{"a=5", "a=5"}, 0},
		"a column that varies": {Schema{{Name: "a"}}, slices.Concat(repeated("5", 30), repeated("6", 9), []string{"7"}),
			[]string{"5", "6", "9"}, []string{"a=5", "a=6", "a=9"}, 0},
		"an indicator of few gaps": {Schema{{Name: "a", Missing: FillValue, Value: "3", Indicator: true}}, slices.Concat(repeated("1", 15), repeated("2", 15), repeated("", 9)),
			[]string{"1", ""}, []string{"a=1", "a=3"}, 9},
		"an indicator of ten gaps": {Schema{{Name: "a", Missing: FillValue, Value: "3", Indicator: true}}, slices.Concat(repeated("1", 15), repeated("2", 15), repeated("", 10)),
			[]string{"1", ""}, []string{"a=1", "a=3 a_missing=1"}, 0},
		"few gaps that nothing shows": {Schema{{Name: "a", Missing: FillValue, Value: "3"}}, slices.Concat(repeated("1", 15), repeated("2", 15), repeated("", 9)),
			[]string{"1", ""}, []string{"a=1", "a=3"}, 0},
		"few numbers between gaps": {Schema{{Name: "a", Missing: FillValue, Value: "3", Indicator: true}}, slices.Concat([]string{"1", "2"}, repeated("", 30)),
			[]string{"1", ""}, []string{"a=3 a_missing=1", "a=3 a_missing=1"}, 2},
		"two truth values, both of few": {Schema{{Name: "a", Type: Boolean}}, slices.Concat(repeated("no", 5), repeated("yes", 4)),
			[]string{"yes", "no"}, []string{"", ""}, 4},
	} {
		got, made, f := common(t, tt.schema, slices.Concat(tt.training, tt.held), len(tt.held))
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		few := 0
		for _, r := range made.Rare(f, linalg.Range(0, len(tt.training))) {
			if r.Column == "a" {
				few = r.Rows
			}
		}
		if few != tt.few {
			t.Errorf("%s: the operator is told of %d rows, want %d", name, few, tt.few)
		}
	}
}

// A row with several rare values keeps none of them.
func TestCommonOfTwoRareValues(t *testing.T) {
	schema := Schema{{Name: "hiv", Type: Boolean}, {Name: "site", Type: Category, Categories: []string{"a", "b"}}, {Name: "stay"}, {Name: "age"}}
	var b strings.Builder
	b.WriteString("hiv,site,stay,age\n")
	for i := range 40 {
		fmt.Fprintf(&b, "no,a,0,%d\n", i)
	}
	f := frameOf(t, b.String()+"yes,b,7,97\n", schema)
	made, err := FitAlone(f, all(f), Unscaled)
	if err != nil {
		t.Fatal(err)
	}
	table, err := made.Common(f, all(f))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := table.Row(40, nil), []float64{0, 1, 0, 0, 97}; !slices.Equal(got, want) {
		t.Errorf("the row is %v, want %v", got, want)
	}
	if got, want := made.Rare(f, all(f)), []Rare{{"hiv", 1}, {"site", 1}, {"stay", 1}}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// No cell of the training rows is in a state that fewer than ten of them are in, whatever the table;
// and what is told of a column is a count of its changed cells.
func TestCommonIsCommon(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for round := range 40 {
		words := make([]string, 15+random.IntN(200))
		skew := 1 + random.IntN(40)
		for i := range words {
			words[i] = []string{"a", "b", "c", "x", ""}[min(4, random.IntN(skew+4))]
		}
		c := Column{Name: "a", Type: Category, Categories: []string{"a", "b", "c"}, Unknown: []Unknown{UnknownOther, UnknownIgnore}[round%2],
			Missing: []Fill{FillCategory, FillMostFrequent}[round/2%2]}
		c.Indicator = c.Missing == FillMostFrequent && round%3 == 0
		f := frameOf(t, "a,b\n"+strings.Join(words, ",1\n")+",1\n", Schema{c, {Name: "b"}})
		made, err := FitAlone(f, all(f), Unscaled)
		if err != nil {
			continue // a column without a category in any row
		}
		table, err := made.Common(f, all(f))
		if err != nil {
			t.Fatal(err)
		}
		count, gaps := make(map[string]int), 0
		for i := range table.Rows() {
			row := table.Row(i, nil)
			if c.Indicator { // a column of its own
				gaps += int(row[len(row)-2])
				row = row[:len(row)-2]
			}
			count[fmt.Sprint(row)]++
		}
		for state, n := range count {
			if n < Least {
				t.Errorf("round %d: %d of %d rows are %s", round, n, f.Rows(), state)
			}
		}
		if gaps > 0 && gaps < Least || gaps < f.Rows() && gaps > f.Rows()-Least {
			t.Errorf("round %d: the indicator shows %d of %d rows", round, gaps, f.Rows())
		}
	}
}

// Values that few training rows have add nothing under their own name to the sums of a fit: not
// words that others have proposed, listed words, truth values, numbers, or gaps that an indicator
// shows.
func TestRareValuesAreNotCounted(t *testing.T) {
	schema := Schema{
		{Name: "w", Type: Category, Agree: true, Missing: FillMostFrequent}, {Name: "b", Type: Boolean, Missing: FillMostFrequent},
		{Name: "n", Range: [2]float64{0, 8}, Missing: FillMedian}, {Name: "i", Range: [2]float64{0, 8}, Missing: FillMean, Indicator: true},
	}
	table := func(person string) string {
		return "w,b,n,i\n" + strings.Repeat("often,no,4,2\n", 60) + strings.Repeat("never,no,4,6\n", 60) + person
	}
	vector := func(person string) []int64 {
		f := frameOf(t, table(person), schema)
		plan, err := NewPlan(f.Schema(), Standard)
		if err == nil {
			plan, err = plan.With([][]string{{"HIV", "never", "often", "smith jane"}})
		}
		if err != nil {
			t.Fatal(err)
		}
		v, err := plan.Vector(f, all(f))
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	// Whatever the person has, the sums are those with a person who has the commonest values.
	want := vector("never,no,4,\n")
	for _, person := range []string{"HIV,yes,7,\n", "smith jane,yes,0.5,\n", "zz,yes,8,\n"} {
		got := vector(person)
		if person[:2] != "zz" {
			if w := got[1 : 1+MaxUnited]; w[0] != 0 || w[3] != 0 {
				t.Errorf("%q: the sums count %v", person, w[:4])
			}
		}
		if diff := cmp.Diff(want[1+MaxUnited:], got[1+MaxUnited:]); diff != "" {
			t.Errorf("%q: %s", person, diff)
		}
	}
	if want[len(want)-1] != 0 {
		t.Errorf("the sums count %d gaps of the column with an indicator", want[len(want)-1])
	}
}

// The parts at both ends of a median's range tell of ten rows or more, and rows on both sides of the median leave it in
// its part.
func TestEndsOfAMedianAreFolded(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	for range 200 {
		bins := make([]int64, Bins)
		n := 10 + random.IntN(300)
		for range n {
			bins[min(max(int(random.NormFloat64()*100)+500, 0), Bins-1)]++
		}
		folded := slices.Clone(bins)
		foldEnds(folded)
		first := slices.IndexFunc(folded, func(n int64) bool { return n > 0 })
		last := len(folded) - 1
		for folded[last] == 0 {
			last--
		}
		total, middle := int64(0), middleOf(bins, n)
		for _, own := range folded {
			total += own
		}
		if total != int64(n) || folded[first] < Least || folded[last] < Least {
			t.Fatalf("%d of %d rows, %d in the first part and %d in the last", total, n, folded[first], folded[last])
		}
		if n >= 2*Least && middleOf(folded, n) != middle {
			t.Fatalf("the middle of %d rows is in part %d, and was in %d", n, middleOf(folded, n), middle)
		}
	}
}

// middleOf is the part that holds the middle of n rows.
func middleOf(bins []int64, n int) int {
	seen := int64(0)
	for i, own := range bins {
		if seen += own; 2*seen >= int64(n) {
			return i
		}
	}
	return -1
}
