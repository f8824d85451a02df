package main

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The pages in docs equal the program's description of itself.
func TestThePagesAreCurrent(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
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

// A mistake whose place the page does not have would be left out without a word.
func TestEveryPlaceIsOnThePage(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	p, err := newJobPage(filepath.Join("..", "..", "..", "docs"))
	if err != nil {
		t.Fatal(err)
	}
	places := []string{"file", "spec", "data", "fit", "kernel", "names", "grids"}
	for _, k := range p.Protocols {
		places = append(places, "protocol "+k.Name)
	}
	for _, k := range p.Learners {
		places = append(places, "learner "+k.Name)
	}
	for at, list := range p.Refusals {
		if !slices.Contains(places, at) {
			t.Errorf("%q is no place on the page: %v", at, list)
		}
	}
}
