package structure_test

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// allowed reads a list of testdata: entries with their reasons.
func allowed(t *testing.T, name string) map[string]string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	list := make(map[string]string)
	var last string
	for line := range strings.Lines(string(b)) {
		if line = strings.TrimSpace(line); line == "" || strings.HasPrefix(line, "#") {
			last = ""
			continue
		}
		entry, reason, is := strings.Cut(line, ": ")
		switch {
		case !is || reason == "":
			t.Errorf("%s: %q has no reason", name, line)
		case list[entry] != "":
			t.Errorf("%s: %q stands there twice", name, entry)
		case entry < last:
			t.Errorf("%s: %q stands after %q", name, entry, last)
		}
		list[entry], last = reason, entry
	}
	return list
}

// only compares the found entries, with their places, with a list of testdata.
func only(t *testing.T, name string, found map[string][]string) {
	t.Helper()
	list := allowed(t, name)
	for _, entry := range slices.Sorted(maps.Keys(found)) {
		if list[entry] == "" {
			t.Errorf("%s has no entry %q:\n\t%s", name, entry, strings.Join(found[entry], "\n\t"))
		}
	}
	for _, entry := range slices.Sorted(maps.Keys(list)) {
		if _, is := found[entry]; !is {
			t.Errorf("%s: nothing needs %q any more; remove it", name, entry)
		}
	}
}
