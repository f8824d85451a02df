package prepare

import (
	"bytes"
	"encoding/binary"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// words writes the agreed words of a column in place of their codes.
func wordsOf(f *Frame, column int) (words []string) {
	for i := range f.Rows() {
		words = append(words, f.words[column][int(f.row(i)[column])])
	}
	return words
}

func TestFrameRowsAndColumns(t *testing.T) {
	schema := Schema{{Name: "n"}, {Name: "w", Type: Category, Agree: true}}
	f := frameOf(t, "n,w\n1,red\n2,blue\n3,red\n4,tan\n", schema)
	some := f.Subset([]int{3, 1, 2}).(*Frame).Subset([]int{2, 0}).(*Frame)
	if diff := cmp.Diff([][]any{{3.0, 0.0}, {4.0, 2.0}}, cellsOf(some)); diff != "" {
		t.Error(diff)
	}
	swapped := some.Columns([]int{1, 0}).(*Frame)
	if diff := cmp.Diff([][]any{{0.0, 3.0}, {2.0, 4.0}}, cellsOf(swapped)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"red", "tan"}, wordsOf(swapped, 0)); diff != "" {
		t.Error(diff)
	}
	below, err := some.Below(frameOf(t, "n,w\n5,blue\n6,tan\n7,lime\n", schema))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"red", "tan", "blue", "tan", "lime"}, wordsOf(below.(*Frame), 1)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"red", "blue", "red", "tan"}, wordsOf(f, 1)); diff != "" {
		t.Errorf("the upper table has changed: %s", diff)
	}
	_, err = f.Below(frameOf(t, "n,v\n1,2\n", Schema{{Name: "n"}, {Name: "v"}}))
	wantError(t, err, "the tables were read with different schemas")
	_, err = frameOf(t, "c\nF\n", Schema{{Name: "c", Type: Category, Categories: []string{"F", "M"}}}).Below(
		frameOf(t, "c\nF\n", Schema{{Name: "c", Type: Category, Categories: []string{"M", "F"}}}))
	wantError(t, err, "the tables were read with different schemas")
}

// A frame of more rows than one block holds is read and cut alike.
func TestFrameOfManyBlocks(t *testing.T) {
	f := frameOf(t, "n,m\n"+strings.Repeat("1,2\n3,4\n", blockRows), Schema{{Name: "n"}, {Name: "m"}})
	if f.Rows() != 2*blockRows || f.Row(blockRows, nil)[1] != 2 || f.Row(2*blockRows-1, nil)[0] != 3 {
		t.Errorf("%d rows", f.Rows())
	}
	made, err := FitAlone(f, all(f), Unscaled)
	if err != nil {
		t.Fatal(err)
	}
	table, err := made.Apply(f)
	if err != nil || table.Row(blockRows+1, nil)[1] != 4 {
		t.Errorf("error %v", err)
	}
}

// The form of a cell depends on the cell only: not on rows before it, nor on how it was written.
func TestCellsDoNotDependOnOtherRows(t *testing.T) {
	schema := Schema{{Name: "n", Missing: FillMean}, {Name: "w", Type: Category, Agree: true, Missing: FillCategory}}
	one := frameOf(t, "n,w\n-0,red\n2,\n,blue\n", schema)
	other := frameOf(t, "n,w\n7,tan\n8,lime\n0.0,red\n2e0,\n,blue\n", schema).Subset([]int{2, 3, 4}).(*Frame)
	seen := make(map[string]bool)
	for i := range 3 {
		for j := range 2 {
			a, b := one.AppendCell(nil, i, j), other.AppendCell([]byte("x"), i, j)
			if !bytes.Equal(a, b[1:]) {
				t.Errorf("row %d, column %d: %q and %q", i, j, a, b[1:])
			}
			seen[string(a)] = true
		}
	}
	if len(seen) != 5 { // both gaps are alike
		t.Errorf("%d forms of five cells", len(seen))
	}
}

func TestApplyRefuses(t *testing.T) {
	schema := Schema{{Name: "a", Range: [2]float64{0, 9}}, {Name: "c", Type: Category, Categories: []string{"F"}, Unknown: UnknownIgnore}}
	f := frameOf(t, "a,c\n1,F\n2,M\n", schema)
	made, err := FitAlone(f, all(f), Unscaled)
	if err != nil {
		t.Fatal(err)
	}
	_, err = made.Apply(frameOf(t, "b\n1\n", Schema{{Name: "b"}}))
	wantError(t, err, "prepare: a table with columns b cannot be prepared by a schema with columns a, c")
	f.blocks[0][2] = gap
	_, err = made.Apply(f)
	wantError(t, err, `row 2: column "a" is empty, but the schema does not allow gaps in this column; fill the cell, or add a fill such as "missing: median" to the schema`)
}

// Unknown words are zeros, or a category of their own; filled gaps are no unknown words.
func TestUnknownWordsAndGaps(t *testing.T) {
	in := "c\nF\nX\nF\n \"\"\n"
	in = strings.ReplaceAll(in, " \"\"", "NA")
	for unknown, want := range map[Unknown][][]float64{
		UnknownIgnore: {{1, 0, 0}, {0, 0, 0}, {1, 0, 0}, {1, 0, 1}},
		UnknownOther:  {{1, 0, 0, 0}, {0, 0, 1, 0}, {1, 0, 0, 0}, {1, 0, 0, 1}},
	} {
		schema := checked(t, Schema{{Name: "c", Type: Category, Categories: []string{"F", "M"}, Unknown: unknown, Missing: FillMostFrequent, Indicator: true}})
		set, err := readText(in, Table{Schema: schema, Mapping: Mapping{CSV: CSV{Missing: []string{"NA"}}}})
		if err != nil {
			t.Fatal(err)
		}
		f := set.X.(*Frame)
		made, err := FitAlone(f, all(f), Standard)
		if err != nil {
			t.Fatal(err)
		}
		table, err := made.Apply(f)
		if err != nil {
			t.Fatal(err)
		}
		for i := range want {
			if diff := cmp.Diff(want[i], table.Row(i, nil)); diff != "" {
				t.Errorf("%s, row %d: %s", unknown, i, diff)
			}
		}
		for k := range made.Factor {
			if made.Factor[k] != 1 || made.Offset[k] != 0 {
				t.Errorf("column %s is scaled", made.Names()[k])
			}
		}
	}
}

func TestDates(t *testing.T) {
	for _, tt := range []struct {
		word, format string
		as           Part
		want         float64
	}{
		{"2024-02-29", "%Y-%m-%d", Days, 1520}, {"29.2.2024", "%d.%m.%Y", Month, 2}, {"2/29/24", "%m/%d/%y", Year, 2024}, {"29 feb 1970", "%d %b %y70", Year, 0},
		{"1600-01-01", "%Y-%m-%d", Days, -153402}, {"9999-12-31", "%Y-%m-%d", Days, 2914634}, {"20240301", "%Y%m%d", Weekday, 4}, {"1 March 1969", "%d %B %Y", Weekday, 5},
		{"2024_03_01", "%Y_%m_%d", Month, 3}, {"2020-01-01 06:00", "%Y-%m-%d %H:%M", Days, .25}, {"2020-01-01T12:00:00.5 AM", "%Y-%m-%dT%I:%M:%S.%f %p", Days, .5 / 86400}, {"31.12.69", "%d.%m.%y", Year, 1969},
		{"1.5.68", "%d.%m.%y", Year, 2068}, {"100%2024", "100%%%Y", Year, 2024}, {"2024-03-01 7 pm", "%Y-%m-%d %I %p", Days, 1521 + 19.0/24},
	} {
		c := Column{Name: "d", Type: Date, Format: tt.format, As: tt.as}
		if tt.as == Days {
			c.Since = "2020-01-01"
		}
		if err := c.Check(); err != nil {
			t.Errorf("%s: %v", tt.format, err)
			continue
		}
		got, err := c.parse(tt.word, pointed, nil)
		if tt.want == 0 {
			wantError(t, err, "is not a date of the form "+tt.format+"; correct the cell, or write the file's \"format\" for the column in the catalogue")
		} else if err != nil || math.Abs(got-tt.want) > 1e-12 {
			t.Errorf("%s as %s is %v, want %v (%v)", tt.word, tt.as, got, tt.want, err)
		}
	}
	for _, word := range []string{"", "2024", "2024-13-01", "2024-00-01", "2024-02-30", "2023-02-29", "24-01-01", "2024-01-01x", " 2024-01-01", "2024-1-", "٢٠٢٤-01-01", "-024-01-01"} {
		if _, err := parseDate(word, isoDate); err == nil {
			t.Errorf("%q is a date", word)
		}
	}
	for format, want := range map[string]string{
		"%Y-%": "the format ends with %; write a letter after it", "%Y %Z": "the format has %Z, but time zones are not read; write the zone of all cells in place of it, such as +01:00, or remove the zone from the file", "%m-%d": "the format has no year; add %Y",
	} {
		wantError(t, (&Column{Name: "d", Type: Date, Format: format, As: Year}).Check(), want)
	}
}

func FuzzParseDate(f *testing.F) {
	f.Add("2024-02-29 12:00 AM", "%Y-%m-%d %I:%M %p")
	f.Add("1 September 68%", "%d %B %y%%")
	f.Fuzz(func(t *testing.T, word, format string) {
		moment, err := parseDate(word, format)
		if err == nil && checkFormat(format) == nil && (moment.year < 0 || moment.year > 9999 || moment.passed < 0 || moment.passed >= 1) {
			t.Errorf("%q is %v", word, moment)
		}
	})
}

// What nobody fits is refused, and nothing that is decoded can make Apply fail on a frame.
func FuzzDecode(f *testing.F) {
	frame := frameOf(f, mixed(60, 1), mixedSchema())
	for _, scaling := range []Scaling{Unscaled, Standard} {
		made, err := FitAlone(frame, all(frame), scaling)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(made.Encode())
		for _, at := range []int{len(encodingMagic) + 2, len(encodingMagic) + 9, 200, 400} {
			changed := made.Encode()
			changed[at] ^= 1
			f.Add(changed)
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		made, err := Decode(b)
		if err != nil {
			return
		}
		if again := made.Encode(); !bytes.Equal(again, b) {
			t.Fatalf("%x\nis encoded as\n%x", b, again)
		}
		row := make([]float64, len(made.schema))
		for j := range row {
			row[j] = []float64{0, gap, 1}[(j+len(b))%3]
			if c := made.schema[j]; c.Agree || c.Type == Category && int(row[j]) >= len(c.Categories) && !isGap(row[j]) {
				row[j] = gap
			}
		}
		table := newFrame(made.schema)
		table.add(row)
		if _, err := made.Apply(table); err != nil && !strings.Contains(err.Error(), "column") {
			t.Error(err)
		}
	})
}

func TestDecodeRefuses(t *testing.T) {
	f := frameOf(t, mixed(60, 1), mixedSchema())
	fit := func() *Preparation {
		made, err := FitAlone(f, all(f), Standard)
		if err != nil {
			t.Fatal(err)
		}
		made.schema = append(Schema{}, made.schema...)
		return made
	}
	if _, err := Decode(fit().Encode()); err != nil {
		t.Fatal(err)
	}
	nan := math.Float64frombits(math.Float64bits(gap) + 2)
	for name, change := range map[string]func(p *Preparation){
		"fill beyond the categories": func(p *Preparation) { p.columns[2].fill = 2 },
		"fill between categories":    func(p *Preparation) { p.columns[2].fill = .5 },
		"fill of a boolean":          func(p *Preparation) { p.columns[4].fill = 2 },
		"fill outside the range":     func(p *Preparation) { p.columns[0].fill = 101 },
		"no fill":                    func(p *Preparation) { p.columns[0].fill = gap },
		"another gap":                func(p *Preparation) { p.columns[3].fill = nan },
		"infinite fill":              func(p *Preparation) { p.schema[0].Range, p.columns[0].fill = [2]float64{}, math.Inf(1) },
		"fewer categories":           func(p *Preparation) { p.columns[2].categories = []string{"F"} },
		"categories out of order":    func(p *Preparation) { p.columns[3].categories = []string{"tan", "blue"} },
		"categories like others":     func(p *Preparation) { p.columns[3].categories = []string{"missing"} },
		"no type":                    func(p *Preparation) { p.schema[0].Type = "" },
		"two of one name":            func(p *Preparation) { p.schema[1].Name = "n" },
		"a range of NaN":             func(p *Preparation) { p.schema[0].Range[1] = gap },
		"a scale of NaN":             func(p *Preparation) { p.Factor[0] = gap },
		"too few scales":             func(p *Preparation) { p.Factor, p.Offset = p.Factor[1:], p.Offset[1:] },
	} {
		made := fit()
		change(made)
		if name != "two of one name" {
			if _, err := Decode(made.Encode()); err == nil {
				t.Errorf("%s: decoded", name)
			}
			continue
		}
		_, err := Decode(made.Encode())
		wantError(t, err, `columns "n" and "n" both make a column called "n"; rename one`)
	}
	b := fit().Encode()
	for n := range b {
		if _, err := Decode(b[:n]); err == nil {
			t.Fatalf("%d of %d bytes decode", n, len(b))
		}
	}
	binary.LittleEndian.PutUint32(b[len(encodingMagic)+2:], math.MaxUint32)
	if _, err := Decode(b); err == nil {
		t.Error("2^32 columns decode")
	}
}

// Sums that no rows have are refused before anything is fitted on them: a fill beyond the
// categories would stop every party.
func TestImpossibleSums(t *testing.T) {
	f := frameOf(t, mixed(400, 5), mixedSchema())
	plan, err := NewPlan(f.Schema(), Standard)
	if err != nil {
		t.Fatal(err)
	}
	if plan, err = plan.With([][]string{{"blue", "green", "red", "tan"}}); err != nil {
		t.Fatal(err)
	}
	good, err := plan.Vector(f, all(f))
	if err != nil {
		t.Fatal(err)
	}
	if err := plan.Possible(good); err != nil {
		t.Fatal(err)
	}
	place := func(w quantity, column, part int) int {
		for i, e := range plan.entries {
			if e == (entry{w, column, part}) {
				return i
			}
		}
		t.Fatalf("no entry %d of column %d", w, column)
		return 0
	}
	for name, change := range map[string]func(v []int64){
		"no row":         func(v []int64) { v[0] = 0 },
		"negative":       func(v []int64) { v[place(countGaps, 0, 0)] = -1 },
		"huge":           func(v []int64) { v[0] = math.MaxInt64 },
		"gaps":           func(v []int64) { v[place(countGaps, 0, 0)] = 401 },
		"bins":           func(v []int64) { v[place(countBin, 1, 9)]++ },
		"words":          func(v []int64) { v[place(countWord, 2, 0)] += 400 },
		"boolean":        func(v []int64) { v[place(countWord, 4, 1)] += 400 },
		"sum":            func(v []int64) { v[place(sumRaw, 0, 2)] = EntryTop },
		"scaled":         func(v []int64) { v[place(sumScaled, 1, 2)] = EntryTop },
		"squares":        func(v []int64) { v[place(sumSquares, 1, 4)] = EntryTop },
		"too few square": func(v []int64) { v[place(sumSquares, 1, 3)] = 0 },
	} {
		bad := append([]int64{}, good...)
		change(bad)
		if made, err := plan.Fit(bad); err == nil || made != nil {
			t.Errorf("%s: fitted", name)
		}
	}
	if _, err := plan.Fit(good[1:]); err == nil {
		t.Error("a short sum is fitted")
	}
	agreed := Schema{{Name: "w", Type: Category, Agree: true, Missing: FillMostFrequent}}
	if plan, err = NewPlan(checked(t, agreed), Unscaled); err == nil {
		plan, err = plan.With([][]string{{"blue"}})
	}
	if err != nil {
		t.Fatal(err)
	}
	sum := make([]int64, plan.Entries())
	sum[0], sum[1+700] = 200, 150 // of 1,024 words, of which one is agreed
	_, err = plan.Fit(sum)
	wantError(t, err, "prepare: column 1 of the schema: words that are not categories are counted")
}

// A prepared set marks the rows whose gaps it has filled, and keeps the lines of the file.
func TestPreparedRowsAreMarked(t *testing.T) {
	schema := checked(t, Schema{{Name: "n", Missing: FillMean}, {Name: "c", Type: Category, Categories: []string{"F", "M"}, Missing: FillMostFrequent}})
	set, err := readText("n,c\n1,F\n\n,M\n3,\n4,F\n", Table{Schema: schema})
	if err != nil {
		t.Fatal(err)
	}
	f := set.X.(*Frame)
	made, err := FitAlone(f, all(f), Standard)
	if err != nil {
		t.Fatal(err)
	}
	prepared, err := made.Prepare(set, f)
	if err != nil {
		t.Fatal(err)
	}
	if want := []bool{false, true, true, false}; !slices.Equal(prepared.Filled, want) {
		t.Errorf("marks %v, want %v", prepared.Filled, want)
	}
	if want := []int{2, 4, 5, 6}; !slices.Equal(prepared.Lines, want) {
		t.Errorf("lines %v, want %v", prepared.Lines, want)
	}
}
