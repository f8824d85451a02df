package prepare

import (
	"bytes"
	"encoding/csv"
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/dataset"
)

// fuzzed is the table that the fuzzer's texts are read as.
func fuzzed(t testing.TB) Table {
	return Table{
		Name: "f", Label: "y", ID: IDRule{Columns: []string{"i"}, Normalize: []string{"upper"}},
		Mapping: Mapping{
			CSV: CSV{Delimiter: ",", Missing: []string{"NA"}}, Drop: []string{"z"},
			Columns: map[string]Theirs{"age": {As: "a", Times: 2}, "sex": {As: "s", Values: map[string]string{"w": "F"}}},
		},
		Schema: checked(t, Schema{
			{Name: "a", Range: [2]float64{-10, 10}, Outside: OutsideMissing, Missing: FillMean},
			{Name: "s", Type: Category, Categories: []string{"F", "M"}, Unknown: UnknownOther},
			{Name: "w", Type: Category, Agree: true, Missing: FillDropRow},
		}),
	}
}

// naive reads a table of encoding/csv's records in the plainest way: rows of cells as text, and
// false where something is wrong.
func naive(in []byte) (rows [][]string, ok bool) {
	r := csv.NewReader(bytes.NewReader(bytes.TrimPrefix(in, []byte("\ufeff"))))
	all, err := r.ReadAll()
	if err != nil || len(all) < 2 {
		return nil, false
	}
	at := make(map[string]int)
	for j, name := range all[0] {
		at[strings.TrimSpace(name)] = j
	}
	ids := make(map[string]bool)
	for _, record := range all[1:] {
		cell := func(name string) string { return strings.TrimSpace(record[at[name]]) }
		gap := func(word string) bool { return word == "" || word == "NA" }
		number, sex := "gap", cell("sex")
		if word := cell("age"); !gap(word) {
			v, err := strconv.ParseFloat(word, 64)
			if err != nil || strings.ContainsAny(word, "xX_nNpP") {
				return nil, false
			}
			if v *= 2; math.IsInf(v, 0) {
				return nil, false
			}
			if v >= -10 && v <= 10 {
				number = strconv.FormatFloat(v+0, 'g', -1, 64)
			}
		}
		if sex == "w" {
			sex = "F"
		}
		if gap(sex) {
			return nil, false
		}
		if gap(cell("w")) {
			continue
		}
		label := cell("y")
		id := strings.ToUpper(cell("i"))
		if gap(label) || gap(cell("i")) || id == "" || ids[id] || strings.Contains(id, "\x1f") {
			return nil, false
		}
		if label, err = dataset.CanonicalLabel(label); err != nil {
			return nil, false
		}
		ids[id] = true
		if sex != "F" && sex != "M" {
			sex = "unseen"
		}
		rows = append(rows, []string{number, sex, cell("w"), label, id})
	}
	return rows, len(rows) > 0
}

// written is a set in naive's words.
func written(set *dataset.Set) (rows [][]string) {
	f := set.X.(*Frame)
	for i := range f.Rows() {
		row := f.Row(i, nil)
		number, sex := "gap", "unseen"
		if !isGap(row[0]) {
			number = strconv.FormatFloat(row[0]+0, 'g', -1, 64)
		}
		if row[1] >= 0 {
			sex = f.schema[1].Categories[int(row[1])]
		}
		rows = append(rows, []string{number, sex, f.words[2][int(row[2])], set.Labels[i], set.IDs[i]})
	}
	return rows
}

// Arbitrary bytes are refused in one sentence, or read as a second, naive reader reads them.
func FuzzRead(f *testing.F) {
	head := "i,age,sex,w,y,z\n"
	for _, in := range []string{
		head + "1,4.5,w,red,ill,NaN\n2,,M,blue,well,\n", head + "1,4.5,w,,ill,\n2,1e3,X,blue,+1.0,\"a\"\"b\"\n", head + "1,NA,F,a,b,\n1,2,F,a,b,\n", head + "é,2,F,a,inf,\n",
		"\ufeff" + head + "1,2,F, \"a,b,\n", head + "1,2,F,a\n", head, "", "i,i\n", head + "1,0x1p-2,F,a,b,c\n", head + "1,1e308,F,a,b,c\n", head + "ß,-0,F,a,b,c\nSS,1,F,a,b,c\n", "\x1f\x8b", "a;b\n1;2\n",
	} {
		f.Add([]byte(in))
	}
	table := fuzzed(f)
	f.Fuzz(func(t *testing.T, in []byte) {
		records, err := dataset.OpenCSV("f", bytes.NewReader(in), table.Mapping.Form())
		var set *dataset.Set
		if err == nil {
			set, err = Read(records, table)
		}
		var syntax *dataset.SyntaxError
		if err != nil {
			if !errors.As(err, &syntax) || !strings.HasPrefix(err.Error(), "f:") || strings.ContainsAny(err.Error(), "\n\r\x00") {
				t.Fatalf("error %q", err)
			}
			return
		}
		if bytes.HasPrefix(in, []byte("\x1f\x8b")) {
			return
		}
		want, ok := naive(in)
		if !ok || !slices.EqualFunc(want, written(set), slices.Equal) {
			t.Fatalf("read %q\nthe naive reader %q", written(set), want)
		}
	})
}

// What the naive reader takes, the reader takes too.
func TestReadTakesWhatTheNaiveReaderTakes(t *testing.T) {
	in := "i,age,sex,w,y,z\n1,4.5,w,red,ill,NaN\n2,,M,blue,well,\"\n\"\n3,7,X,red,well,1e999\n4,NA,F,,well,\n"
	want, ok := naive([]byte(in))
	set, err := readText(in, fuzzed(t))
	if err != nil || !ok || !slices.EqualFunc(want, written(set), slices.Equal) || len(want) != 3 {
		t.Fatalf("%v, %q, error %v", ok, want, err)
	}
}
