package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The pages in docs equal the program's description of itself.
func TestThePagesAreCurrent(t *testing.T) {
	docs := filepath.Join("..", "..", "..", "docs")
	pages, err := pages(docs)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range pages {
		got, err := os.ReadFile(filepath.Join(docs, name))
		if d := cmp.Diff(string(want), string(got)); err != nil || d != "" {
			t.Errorf("docs/%s is stale (%v); run go generate ./internal/cli/reference\n%s", name, err, d)
		}
	}
}
