package dataset

import (
	"strings"
	"testing"
)

func TestCheckSpread(t *testing.T) {
	for name, tt := range map[string]struct{ cells, want string }{
		"time stamps of a minute":   {"1.7e9,1\n1700000001,2\n1700000059,3\n", "column \"a\" has the mean 1.7e+09 and the standard deviation 28"},
		"the second column":         {"1,-4e12\n2,-4000000000001\n", "column \"b\" has the mean -4e+12"},
		"time stamps of a year":     {"1.70e9,1\n1.71e9,2\n1.73e9,3\n", ""},
		"years":                     {"1999,1\n2024,2\n", ""},
		"constant but for rounding": {"97.262,1\n97.26200000000001,2\n", ""},
		"constant":                  {"1e12,1\n1e12,2\n", ""},
	} {
		set, err := ReadCSV(strings.NewReader("a,b\n"+tt.cells), CSVOptions{Name: "t.csv", Label: "none"})
		if err != nil {
			t.Fatal(name, err)
		}
		err = set.CheckSpread()
		if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.HasPrefix(err.Error(), "t.csv: "+tt.want)) {
			t.Errorf("%s: %v, want %q", name, err, tt.want)
		}
	}
}

// Cells that sparse rows do not store are zeros, and gaps are left out.
func TestCheckSpreadOfSparseRows(t *testing.T) {
	set, err := ReadLIBSVM(strings.NewReader("1 1:1e9\n1 2:3\n-1 1:1000000001\n"), LIBSVMOptions{Name: "t.svm"})
	if err != nil {
		t.Fatal(err)
	}
	if err := set.CheckSpread(); err != nil {
		t.Errorf("a column with a zero: %v", err)
	}
}
