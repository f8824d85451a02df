package catalogue

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestStack(t *testing.T) {
	l, _ := library(t)
	set, err := l.Load("adult/adult + adult/adult.t", Columns{})
	if err != nil {
		t.Fatal(err)
	}
	if set.X.Rows() != 4 || set.X.Cols() != 3 || strings.Join(set.Labels, " ") != "1 -1 1 -1" {
		t.Errorf("%d x %d rows of %v", set.X.Rows(), set.X.Cols(), set.Labels)
	}
	for ref, want := range map[string]string{
		"adult/adult + nowhere":            "nowhere is neither a file nor a name",
		"adult/adult + shop/customers.csv": "adult/adult + shop/customers.csv cannot be used: ",
	} {
		if _, err := l.Load(ref, Columns{}); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: error %v, want %s", ref, err, want)
		}
	}
}

// Sparse text that names no late column is as wide as the widest.
func TestStackOfNarrowText(t *testing.T) {
	l, dir := library(t)
	if err := os.WriteFile(filepath.Join(dir, "adult", "narrow"), []byte("+1 1:1\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	set, err := l.Load("adult/narrow + adult/adult", Columns{})
	if err != nil {
		t.Fatal(err)
	}
	if set.X.Rows() != 3 || set.X.Cols() != 3 {
		t.Errorf("%d x %d", set.X.Rows(), set.X.Cols())
	}
}

func TestOddDigits(t *testing.T) {
	set, err := New("").Load("bundled:digits#odd", Columns{})
	if err != nil {
		t.Fatal(err)
	}
	whole, err := New("").Load("bundled:digits", Columns{})
	if err != nil {
		t.Fatal(err)
	}
	for i, label := range set.Labels {
		if odd := strings.Contains("13579", whole.Labels[i]); odd != (label == "odd") || !odd != (label == "even") {
			t.Fatalf("%s is %s", whole.Labels[i], label)
		}
	}
}
