package dataset

import (
	"slices"
	"strconv"
	"strings"
	"testing"
)

func TestClassesIn(t *testing.T) {
	labels := []string{"ill", "well", "dead", "ill"}
	for _, tt := range []struct {
		order, classes []string
		codes          []int
	}{
		{nil, []string{"dead", "ill", "well"}, []int{1, 2, 0, 1}},
		{[]string{"well", "ill", "dead"}, []string{"well", "ill", "dead"}, []int{1, 0, 2, 1}},
		{[]string{"well", "unseen"}, []string{"well", "dead", "ill"}, []int{2, 0, 1, 2}},
	} {
		classes, codes := ClassesIn(tt.order, labels)
		if !slices.Equal(classes, tt.classes) || !slices.Equal(codes, tt.codes) {
			t.Errorf("in the order %q: %q, %v", tt.order, classes, codes)
		}
	}
}

func TestALabelThatIsNotListed(t *testing.T) {
	const text = "x,label\n1,well\n\n2,Sick\n"
	for _, tt := range []struct {
		classes []string
		want    string
	}{
		{nil, ""},
		{[]string{"well", "Sick"}, ""},
		{[]string{"well", "ill"}, `a.csv:4: column "label" holds "Sick", which is not one of the classes that the job lists ("well", "ill"); correct the cell`},
		{[]string{"well", "sick"}, `a.csv:4: column "label" holds "Sick", which differs from the job's class "sick" only by case`},
	} {
		_, err := ReadCSV(strings.NewReader(text), CSVOptions{Name: "a.csv", Classes: tt.classes})
		if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.HasPrefix(err.Error(), tt.want)) {
			t.Errorf("%q: %v, want %s", tt.classes, err, tt.want)
		}
	}
}

func TestCheckClasses(t *testing.T) {
	measured := []string{"0.5", "1.25", "2.5", "3", "4.75"}
	if err := CheckClasses(measured, 14); err == nil || !strings.Contains(err.Error(), "measured numbers: 14 rows have 5 different labels; use a regression, such as \"svr\"") {
		t.Errorf("14 rows with five measured numbers: %v", err)
	}
	ids := make([]string, 30)
	for i := range ids {
		ids[i] = strconv.Itoa(1000 + i)
	}
	if err := CheckClasses(ids, 89); err == nil || !strings.Contains(err.Error(), "hardly repeat: 89 rows have 30 different labels; use a regression") {
		t.Errorf("89 rows with 30 whole numbers: %v", err)
	}
	words := []string{"none"}
	for i := range 49 {
		words = append(words, strconv.Itoa(i))
	}
	if err := CheckClasses(words, 99); err == nil || !strings.Contains(err.Error(), "words that hardly repeat: 99 rows have 50 different labels; name another column of labels, or") {
		t.Errorf("99 rows with 50 words: %v", err)
	}
	for name, c := range map[string]struct {
		classes []string
		rows    int
	}{
		"50 words of two rows each":     {words, 100},
		"49 words":                      {append([]string{"none"}, words[2:]...), 49},
		"30 classes of three rows each": {ids, 90},
		"29 classes of two rows each":   {ids[1:], 58},
		"grades of many rows":           {measured, 15},
		"four numbers":                  {measured[:4], 4},
		"whole numbers":                 {[]string{"1", "2", "3", "4", "5"}, 5},
		"a word among them":             {append([]string{"none"}, measured...), 6},
	} {
		if err := CheckClasses(c.classes, c.rows); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
