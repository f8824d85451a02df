package prepare

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/mercer-fl/mercer/linalg"
)

// column writes a table of one column called a.
func column(words ...string) string { return "a\n" + strings.Join(words, "\n") + "\n" }

func repeated(word string, n int) []string { return slices.Repeat([]string{word}, n) }

func wantError(t *testing.T, err error, want string) {
	t.Helper()
	if err == nil || err.Error() != want {
		t.Errorf("error %v\nwant  %s", err, want)
	}
}

func all(f *Frame) []int { return linalg.Range(0, f.Rows()) }

// fitAll fits on the sums of all rows.
func fitAll(t interface{ Fatal(args ...any) }, f *Frame, scaling Scaling) *Preparation {
	plan, err := NewPlan(f.Schema(), scaling)
	if err != nil {
		t.Fatal(err)
	}
	sum, err := plan.Vector(f, all(f))
	if err != nil {
		t.Fatal(err)
	}
	made, err := plan.Fit(sum)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func TestPlanRefuses(t *testing.T) {
	for _, tt := range []struct {
		column  Column
		scaling Scaling
		want    string
	}{
		{Column{Name: "a"}, Standard, `column "a" has no range, without which its numbers cannot be summed over parties; add "range: [least, greatest]"`},
		{Column{Name: "a", Missing: FillMean}, Unscaled, `column "a" has no range, without which its numbers cannot be summed over parties; add "range: [least, greatest]"`},
		{Column{Name: "a"}, Ranged, `column "a" has no range to scale by; add "range: [least, greatest]", or use another "scale"`},
	} {
		_, err := NewPlan(checked(t, Schema{tt.column}), tt.scaling)
		wantError(t, err, tt.want)
	}
	agree := checked(t, Schema{{Name: "a", Type: Category, Agree: true}, {Name: "a_b"}})
	plan, err := NewPlan(agree, Unscaled)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		agreed [][]string
		want   string
	}{
		{nil, `prepare: there are categories for 0 columns, but 1 columns have agreed categories`},
		{[][]string{nil}, `column "a" has no word that occurs in 10 training rows of a party; list its categories, or leave the column out`},
		{[][]string{{"b"}}, `columns "a" and "a_b" both make a column called "a_b"; rename one`},
		{[][]string{{"other", "x"}}, `column "a": category "other" is reserved for other values; rename it by "values" in the catalogue`},
		{[][]string{{"X", "x"}}, `column "a": the categories "X" and "x" differ only by case, blanks or Unicode form; keep one, and map the other by "values" in the catalogue`},
	} {
		_, err := plan.With(tt.agreed)
		wantError(t, err, tt.want)
	}
}

// A party with nine values tells no sum of them; all parties together need a hundred.
func TestFloors(t *testing.T) {
	schema := Schema{{Name: "a", Range: [2]float64{0, 10}, Missing: FillMean}}
	few := frameOf(t, column(append(repeated("1", 9), repeated("", 5)...)...)+"\n", Schema{{Name: "a", Range: [2]float64{0, 10}, Missing: FillDropRow}})
	plan, err := NewPlan(few.Schema(), Standard)
	if err != nil {
		t.Fatal(err)
	}
	_, err = plan.Vector(few, all(few))
	wantError(t, err, `column "a" has a value in only 9 of this party's training rows; at least 10 are needed before its sums are released`)

	for n, want := range map[int]string{99: `column "a" has a value in only 99 training rows of all parties together; at least 100 are needed to fit its values`, 100: ""} {
		f := frameOf(t, "a,b\n"+strings.Repeat("4,1\n", n)+",1\n", append(Schema{{Name: "b"}}, schema...))
		plan, err := NewPlan(f.Schema(), Unscaled)
		if err != nil {
			t.Fatal(err)
		}
		sum, err := plan.Vector(f, all(f))
		if err != nil {
			t.Fatal(err)
		}
		made, err := plan.Fit(sum)
		switch {
		case want != "":
			wantError(t, err, want)
		case err != nil:
			t.Fatal(err)
		case math.Abs(made.columns[1].fill-4) > 10.0/scale52:
			t.Errorf("a mean of %v", made.columns[1].fill)
		}
	}
}

func TestProposal(t *testing.T) {
	agree := Schema{{Name: "a", Type: Category, Agree: true, Missing: FillMostFrequent}}
	f := frameOf(t, "a,b\n"+strings.Repeat("common,1\n", 30)+strings.Repeat("ten,1\n", 10)+strings.Repeat("nine,1\n", 9)+",1\n", agree)
	got, err := f.Proposal(all(f), 0, Least)
	if diff := cmp.Diff([]string{"common", "ten"}, got); diff != "" || err != nil {
		t.Errorf("%v %s", err, diff)
	}
	if got, err = f.Proposal(linalg.Range(1, 40), 0, Least); len(got) != 2 || err != nil {
		t.Errorf("%v %v", got, err)
	}
	if got, err = f.Proposal(linalg.Range(0, 39), 0, Least); len(got) != 1 || err != nil {
		t.Errorf("%v %v: a row that is no training row counts", got, err)
	}
	var many []string
	for i := range 130 {
		many = append(many, repeated(fmt.Sprintf("w%03d", i), 10+i%2)...)
	}
	f = frameOf(t, column(many...), agree)
	if got, err = f.Proposal(all(f), 0, Least); len(got) != MaxAgreed || err != nil || !slices.IsSorted(got) {
		t.Fatalf("%d words, error %v", len(got), err)
	}
	if slices.Contains(got, "w128") || !slices.Contains(got, "w129") {
		t.Error("the most frequent words are not those that are kept")
	}
	for _, tt := range []struct {
		words []string
		want  string
	}{
		{[]string{"Ann", "Bob", "Cid", "Ann"}, `has 3 different words in 4 training rows, too many for a category; list the categories, or leave the column out of the schema`},
		{append(repeated("Yes", 10), repeated("yes", 10)...), `has words that parties cannot agree on: the categories "Yes" and "yes" differ only by case, blanks or Unicode form; keep one, and map the other by "values" in the catalogue`},
		{append(repeated("other", 10), repeated("yes", 10)...), `has words that parties cannot agree on: category "other" is reserved for other values; rename it by "values" in the catalogue`},
		{append(repeated(strings.Repeat("x", MaxWord+1), 10), repeated("yes", 10)...), `holds a word of 1025 bytes, and a category has at most 1024; leave the column out of the schema`},
	} {
		f := frameOf(t, column(tt.words...), agree)
		_, err := f.Proposal(all(f), 0, Least)
		wantError(t, err, tt.want)
	}
}

// A median by sums is within one part of the range, also where the numbers are skewed.
func TestMedianOfSkewedNumbers(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		high := rapid.SampledFrom([]float64{1, 100, 1e6}).Draw(r, "high")
		c := Column{Name: "a", Range: [2]float64{0, high}, Missing: FillMedian}
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(r, "seed"), 1))
		words := make([]string, rapid.IntRange(100, 300).Draw(r, "rows"))
		values := make([]float64, len(words))
		for i := range words {
			values[i] = high * math.Pow(random.Float64(), 5)
			words[i] = fmt.Sprintf("%.17g", values[i])
		}
		f := frameOf(t, column(words...), Schema{c})
		made := fitAll(r, f, Unscaled)
		slices.Sort(values)
		n := len(values)
		if got, least, most := made.columns[0].fill, values[(n-1)/2]-high/Bins, values[n/2]+high/Bins; got < least || got > most {
			r.Errorf("a median of %v, not within %v to %v", got, least, most)
		}
	})
}

// mixed is a table of every type, with gaps.
func mixed(rows int, seed uint64) string {
	random := rand.New(rand.NewPCG(seed, 2))
	var b strings.Builder
	b.WriteString("n,m,c,w,b,d,o\n")
	for range rows {
		cell := func(word string) string {
			if random.IntN(8) == 0 {
				return ""
			}
			return word
		}
		fmt.Fprintf(&b, "%s,%s,%s,%s,%s,%s,%s\n", cell(fmt.Sprint(random.Float64()*100)), cell([]string{"0", "100", "33.3"}[random.IntN(3)]),
			cell([]string{"F", "M", "X"}[random.IntN(3)]), cell([]string{"red", "green", "blue", "tan"}[random.IntN(4)]),
			cell([]string{"yes", "no"}[random.IntN(2)]), cell(fmt.Sprintf("20%02d-01-01", random.IntN(20))), cell([]string{"I", "II"}[random.IntN(2)]))
	}
	return b.String()
}

func mixedSchema() Schema {
	return Schema{
		{Name: "n", Range: [2]float64{0, 100}, Missing: FillMean, Transform: Sqrt}, {Name: "m", Range: [2]float64{0, 100}, Missing: FillMedian, Indicator: true, Transform: Log1p},
		{Name: "c", Type: Category, Categories: []string{"F", "M"}, Unknown: UnknownOther, Missing: FillMostFrequent},
		{Name: "w", Type: Category, Agree: true, Missing: FillCategory}, {Name: "b", Type: Boolean, Missing: FillMostFrequent},
		{Name: "d", Type: Date, Format: "%Y-%m-%d", As: Year, Range: [2]float64{1990, 2030}, Missing: FillMean},
		{Name: "o", Type: Category, Categories: []string{"I", "II"}, Ordered: true, Missing: FillMostFrequent},
	}
}

// Sums of parties in any order and any partition make the same preparation, byte for byte, where no
// party has a value that few of its rows have.
func TestSumsDoNotDependOnTheParties(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	f := frameOf(t, mixed(1200, 5), mixedSchema())
	plan, err := NewPlan(f.Schema(), Standard)
	if err != nil {
		t.Fatal(err)
	}
	if plan, err = plan.With([][]string{{"blue", "green", "red", "tan"}}); err != nil {
		t.Fatal(err)
	}
	encoded := func(r *rapid.T, parties int) []byte {
		rows := make([][]int, parties)
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(r, "seed"), 3))
		for at, i := range random.Perm(f.Rows()) {
			p := random.IntN(parties)
			if at < 200*parties {
				p = at % parties
			}
			rows[p] = append(rows[p], i)
		}
		sum := make([]int64, plan.Entries())
		for _, own := range rows {
			if len(plan.Rare(f, own)) > 0 {
				r.Skip("a party has a rare value")
			}
			v, err := plan.Vector(f, own)
			if err != nil {
				r.Fatal(err)
			}
			for k := range sum {
				sum[k] += v[k]
			}
		}
		made, err := plan.Fit(sum)
		if err != nil {
			r.Fatal(err)
		}
		return made.Encode()
	}
	var first []byte
	rapid.Check(t, func(r *rapid.T) {
		b := encoded(r, rapid.IntRange(1, 5).Draw(r, "parties"))
		if first == nil {
			first = b
		}
		if !bytes.Equal(b, first) {
			r.Fatal("another partition makes another preparation")
		}
	})
	decoded, err := Decode(first)
	if err != nil || !bytes.Equal(decoded.Encode(), first) {
		t.Fatalf("decoded: %v", err)
	}
	sameTable(t, decoded, first, f)
}

// sameTable compares tables prepared before and after decoding.
func sameTable(t *testing.T, decoded *Preparation, encoded []byte, f *Frame) {
	t.Helper()
	table, err := decoded.Apply(f)
	if err != nil {
		t.Fatal(err)
	}
	if table.Cols() != len(decoded.Names()) || table.Rows() != f.Rows() || decoded.Hash() == [32]byte{} || len(encoded) == 0 {
		t.Errorf("%d x %d", table.Rows(), table.Cols())
	}
	want := []string{"n", "m", "m_missing", "c_F", "c_M", "c_other", "w_blue", "w_green", "w_red", "w_tan", "w_other", "w_missing", "b", "d", "o"}
	if diff := cmp.Diff(want, decoded.Names()); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]int{0, 1, 13, 14}, decoded.Numbers()); diff != "" {
		t.Error(diff)
	}
}

// Numbers at the very ends of the widest and narrowest ranges are counted exactly.
func TestEndsOfRanges(t *testing.T) {
	for _, ends := range [][2]float64{{0, 1}, {-4e149, 4e149}, {0, 1e-149}, {-1e15, -1e15 + 1}, {1e-300, 1}} {
		schema := Schema{{Name: "a", Range: ends, Missing: FillMean}}
		low, high := fmt.Sprintf("%.17g", ends[0]), fmt.Sprintf("%.17g", ends[1])
		f := frameOf(t, column(append(repeated(low, 100), repeated(high, 100)...)...), schema)
		for _, scaling := range []Scaling{Standard, Ranged} {
			made := fitAll(t, f, scaling)
			middle := ends[0]/2 + ends[1]/2
			if got := made.columns[0].fill; math.Abs(got-middle) > 1e-9*(ends[1]-ends[0]) {
				t.Errorf("range %v is filled with %v", ends, got)
			}
			at := (ends[1] - made.Offset[0]) * made.Factor[0]
			if math.Abs(at-1) > 1e-9 {
				t.Errorf("range %v, scaling %s: the greatest number is scaled to %v", ends, scaling, at)
			}
		}
	}
}

// 2^32 - 1 rows of the greatest number do not overflow the limbs.
func TestLimbsHoldAllRows(t *testing.T) {
	c := Column{Name: "a", Range: [2]float64{0, 1}}
	top := c.steps(1, 0, 1)
	top.Lsh(top, fraction) // the square of the greatest number
	top.Mul(top, c.steps(1, 0, 1).SetInt64(EntryTop))
	v := make([]int64, powLimbs)
	toLimbs(top, v)
	if back := fromLimbs(v); back.Cmp(top) != 0 {
		t.Errorf("%v after %v", back, top)
	}
	for i := range v {
		v[i] *= 64 // parties
	}
	if back := fromLimbs(v); back.Cmp(top.Lsh(top, 6)) != 0 {
		t.Errorf("%v, want %v", back, top)
	}
}

func TestFitAlone(t *testing.T) {
	yes := Column{Name: "a", Type: Boolean, Missing: FillMostFrequent}
	words := Column{Name: "a", Type: Category, Categories: []string{"F", "M"}, Unknown: UnknownIgnore, Missing: FillMostFrequent}
	agreed := Column{Name: "a", Type: Category, Agree: true, Missing: FillMostFrequent}
	for _, tt := range []struct {
		name   string
		column Column
		cells  []string
		fill   float64
		want   string
	}{
		{"yes", yes, []string{"yes", "yes", "no", ""}, 1, ""},
		{"no", yes, []string{"yes", "no", ""}, 0, ""}, // the first of equals
		{"words", words, []string{"X", "X", "X", "M", ""}, 1, ""},
		{"agreed", agreed, []string{"z", "b", "b", "b", ""}, 0, ""},
		{"no value", yes, []string{"", ""}, 0, `column "a" has no value in any training row, so its gaps cannot be filled; leave the column out`},
		{"no word", words, []string{"X", ""}, 0, `column "a" has none of its categories in any training row, so its gaps cannot be filled; leave the column out`},
		{"large", Column{Name: "a", Missing: FillMean}, []string{"1.7e308", "1.7e308", ""}, 0, `column "a" has numbers that are too large to be summed; give it a range, or a larger unit`},
		{"large median", Column{Name: "a", Missing: FillMedian, Range: [2]float64{0, 1e150}}, []string{"1e150", "1e150", ""}, 1e150, ""},
		{"value", Column{Name: "a", Missing: FillValue, Value: "7"}, []string{"1", ""}, 7, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := frameOf(t, "a,b\n"+strings.Join(tt.cells, ",1\n")+",1\n", Schema{tt.column})
			made, err := FitAlone(f, all(f), Unscaled)
			switch {
			case tt.want != "":
				wantError(t, err, tt.want)
			case err != nil || made.columns[0].fill != tt.fill:
				t.Errorf("filled with %v, error %v", made.columns[0].fill, err)
			}
		})
	}
	f := frameOf(t, column("1", "2"), Schema{{Name: "a", Range: [2]float64{0, 10}}})
	if made, err := FitAlone(f, all(f), Unscaled); err != nil || made.check() != nil {
		t.Errorf("a preparation without gaps: %v, %v", err, made.check())
	}
	f = frameOf(t, column("97.262", "97.26200000000001", "97.262", "97.26200000000001"), Schema{{Name: "a"}})
	if made, err := FitAlone(f, all(f), Standard); err != nil || made.Factor[0] != 1 {
		t.Errorf("numbers that differ by rounding are scaled: %+v, error %v", made, err)
	}
	f = frameOf(t, column("1.7e308", "1.7e308"), Schema{{Name: "a"}})
	_, err := FitAlone(f, all(f), Standard)
	wantError(t, err, `column "a" has numbers that are too large to be summed; give it a range, or a larger unit`)
	_, err = FitAlone(f, nil, Standard)
	wantError(t, err, `prepare: there are no training rows; give at least one`)
}

// Most-frequent booleans by sums are also one process's.
func TestMostFrequentBySums(t *testing.T) {
	for yes, want := range map[int]float64{59: 0, 60: 0, 61: 1} {
		f := frameOf(t, "a,b\n"+strings.Repeat("yes,1\n", yes)+strings.Repeat("no,1\n", 120-yes)+",1\n", Schema{{Name: "a", Type: Boolean, Missing: FillMostFrequent}})
		if made := fitAll(t, f, Unscaled); made.columns[0].fill != want {
			t.Errorf("%d yes: filled with %v", yes, made.columns[0].fill)
		}
	}
}
