package paper

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/examples"
	"github.com/mercer-fl/mercer/internal/method/all"
)

// table3 are the data sets of Gu et al., table 3, as printed: features and sample size.
var table3 = map[string]string{
	"gisette": "6000x5000", "phishing": "11055x68", "a9a": "48842x123", "ijcnn1": "49990x22", "cod-rna": "59535x8",
	"w8a": "64700x300", "real-sim": "72309x20958", "epsilon": "400000x2000", "default-credit": "30000x23", "givemecredit": "150000x10",
}

// fewerRows are the sets of which Mercer's experiment has fewer rows than the paper.
var fewerRows = map[string]string{"w8a": "49749x300", "real-sim": "4000x20958", "epsilon": "10000x2000"}

// The sets of the experiments are those of table 3, with its numbers of features and, but for
// three, of rows. The file of phishing has one line for each.
func TestSetsAreThoseOfTable3(t *testing.T) {
	seen := 0
	for _, list := range [][]guSet{guSets, guLargeSets} {
		for _, g := range list {
			name, _, _ := strings.Cut(g.name, ",")
			shape, _, _ := strings.Cut(g.shape, "#")
			want := table3[name]
			if fewer, is := fewerRows[name]; is {
				want = fewer
			}
			if shape != want {
				t.Errorf("%s has %s, want %s", name, shape, want)
			}
			seen++
		}
	}
	if seen != len(table3) {
		t.Errorf("%d sets of the paper's %d", seen, len(table3))
	}
	for name, files := range map[string][]string{"phishing": {"phishing"}, "a9a": {"a9a", "a9a.t"}} {
		rows := 0
		for _, file := range files {
			rows += linesOf(t, filepath.Join(name, file))
		}
		if want := strings.Split(table3[name], "x")[0]; fmt.Sprint(rows) != want {
			t.Errorf("%s has %d rows, the paper %s", name, rows, want)
		}
	}
}

// linesOf counts the lines of a file of the data folder.
func linesOf(t *testing.T, path string) (lines int) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(os.Getenv("MERCER_DATA"), path))
	if err != nil {
		if os.Getenv("MERCER_REQUIRE_DATA") == "1" {
			t.Fatal(err)
		}
		t.Skipf("no data (set MERCER_DATA): %v", err)
	}
	for s := bufio.NewScanner(bytes.NewReader(b)); s.Scan(); {
		lines++
	}
	return lines
}

// Table 2 of Gu et al. says what the compared methods do. PP-SVMV and FDSKL take split columns, for
// classes and for numbers, and no split rows. Only FDSKL has doubly stochastic training. (LIBSVM and
// DSG are no protocols: they are the comparisons exact-kernel and pooled.)
func TestMethodsAreThoseOfTable2(t *testing.T) {
	for _, tt := range []struct {
		protocol, learner, numbers string
		stochastic                 bool
	}{
		{"fdskl", "{name: logistic}", "{name: squared}", true},
		{"pp-svmv", "{name: svc}", "{name: svr}", false},
	} {
		refused := func(by, settings, learner string) error {
			_, err := all.Reader().Parse("table2.yaml", fmt.Appendf(nil, `apiVersion: mercer/v1
kind: Job
metadata: {name: table-2}
spec:
  data: {source: own, label: label, partition: {by: %s, parties: [a, b, c]}, test: {fraction: 0.25}}
  protocol: {name: %s, mode: paper%s}
  kernel: {name: rbf, gamma: 1}
  learner: %s
`, by, tt.protocol, settings, learner))
			return err
		}
		for _, learner := range []string{tt.learner, tt.numbers} {
			if err := refused("columns", "", learner); err != nil {
				t.Errorf("%s with %s: %v", tt.protocol, learner, err)
			}
		}
		if err := refused("rows", "", tt.learner); err == nil || !strings.Contains(err.Error(), "columns") {
			t.Errorf("%s by rows: %v", tt.protocol, err)
		}
		if err := refused("columns", ", training: faithful", tt.learner); (err == nil) != tt.stochastic {
			t.Errorf("%s, doubly stochastic: %v", tt.protocol, err)
		}
	}
}

// The example of Hannemann's first data set runs on it, not on a stand-in: four hospitals, five folds.
func TestGridOfAlzheimerIsOfItsSlices(t *testing.T) {
	file, err := examples.Read("mri-grid")
	if err != nil {
		t.Fatal(err)
	}
	j, err := all.Reader().Parse("mri-grid.yaml", file)
	if err != nil {
		t.Fatal(err)
	}
	if j.Data.Source != "alzheimer-mri" || j.Data.Folds != 5 || len(j.Parties()) != 4 {
		t.Errorf("source %s, %d folds, parties %v", j.Data.Source, j.Data.Folds, j.Parties())
	}
}
