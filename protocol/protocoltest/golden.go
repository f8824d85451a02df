package protocoltest

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var rewrite = flag.Bool("rewrite", false, "write the golden files in testdata anew")

// Golden compares content with the file called name in the testdata of the package. With -rewrite
// it writes the file instead; read the diff before you commit the file.
func Golden(t testing.TB, name, content string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *rewrite {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v; run the test with -rewrite to make it", err)
	}
	if line, a, b := firstDifference(string(want), content); line > 0 {
		t.Errorf("%s:%d: run the test with -rewrite if the change is intended\nwant %s\ngot  %s", path, line, a, b)
	}
}

// firstDifference returns the number of the first line in which two texts differ, with both lines.
// The number is 0 if the texts are equal.
func firstDifference(want, got string) (int, string, string) {
	a, b := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range max(len(a), len(b)) {
		x, y := "(end)", "(end)"
		if i < len(a) {
			x = a[i]
		}
		if i < len(b) {
			y = b[i]
		}
		if x != y {
			return i + 1, x, y
		}
	}
	return 0, "", ""
}
