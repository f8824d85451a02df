//go:build slow

package cli

import (
	"bytes"
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/internal/bench"
	own "github.com/mercer-fl/mercer/internal/local/all"
	"github.com/mercer-fl/mercer/internal/method/all"
)

// TestBenchCommands measures for real, once each. It judges no speed: other
// programs may run. What does not depend on speed must be right.
func TestBenchCommands(t *testing.T) {
	for _, name := range []string{"gemm", "gram", "svm", "grid", "kpca", "encode", "secagg", "psi", "fdskl", "gateway", "sealed"} {
		t.Run(name, func(t *testing.T) {
			var out, errs bytes.Buffer
			if code := Main(all.Reader(), nil, []string{"bench", name, "--runs", "1", "--json"}, strings.NewReader(""), &out, &errs, os.Getenv); code != Done || errs.Len() > 0 {
				t.Fatalf("exit code %d\n%s%s", code, errs.String(), out.String())
			}
			var d struct{ Result bench.Result }
			if err := json.Unmarshal(out.Bytes(), &d); err != nil {
				t.Fatal(err)
			}
			if len(d.Result.Rows) == 0 {
				t.Error("no figures")
			}
			for _, r := range d.Result.Rows {
				if exact := strings.Contains(r.Name, "difference"); exact && r.Missed() {
					t.Errorf("%s: %g, at most %g", r.Name, r.Value, *r.Target)
				}
			}
		})
	}
}

// TestBenchPaperRows runs the jobs of a figure with up to 8,000 rows, by every protocol of its
// paper.
func TestBenchPaperRows(t *testing.T) {
	var out, errs bytes.Buffer
	if code := Main(all.Reader(), own.Local(), []string{"bench", "paper", "gu", "--only", "figure5", "--quick"}, strings.NewReader(""), &out, &errs, os.Getenv); code != Done {
		t.Fatalf("exit code %d\n%s%s", code, errs.String(), out.String())
	}
	if row := regexp.MustCompile(`(?m)^ *1000 rows, FDSKL +s `); !row.MatchString(out.String()) {
		t.Errorf("no time of 1,000 rows:\n%s", out.String())
	}
}
