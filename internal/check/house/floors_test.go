package house_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

// wing returns the part of the house that a folder belongs to: a folder of internal, or a folder
// of the root, or the root itself.
func wing(folder string) string {
	if rest, inside := strings.CutPrefix(folder, "internal/"); inside {
		first, _, _ := strings.Cut(rest, "/")
		return "internal/" + first
	}
	if folder == "." {
		return "mercer"
	}
	first, _, _ := strings.Cut(folder, "/")
	return first
}

// arrows are the imports between wings: from, to, and a file with such an import.
type arrows map[string]map[string]string

func arrowsOf(files []file) arrows {
	found := make(arrows)
	for _, f := range files {
		from := wing(f.folder())
		if found[from] == nil {
			found[from] = make(map[string]string)
		}
		for _, folder := range f.imports() {
			if to := wing(folder); to != from {
				found[from][to] = f.path
			}
		}
	}
	return found
}

// levels puts every wing one floor above the highest wing that it imports. Wings of a circle,
// and all above them, are on no floor.
func (a arrows) levels() (floors [][]string, circle []string) {
	at := make(map[string]int)
	for placed := -1; placed != len(at); {
		placed = len(at)
		for from, tos := range a {
			if height, ready := above(at, tos); ready {
				at[from] = height
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(a)) {
		height, is := at[name]
		if !is {
			circle = append(circle, name)
			continue
		}
		for len(floors) <= height {
			floors = append(floors, nil)
		}
		floors[height] = append(floors[height], name)
	}
	return floors, circle
}

// above returns the floor above the floors of some wings, if all of them have one.
func above(at map[string]int, wings map[string]string) (height int, ready bool) {
	for to := range wings {
		floor, is := at[to]
		if !is {
			return 0, false
		}
		height = max(height, floor+1)
	}
	return height, true
}

// Imports between wings point down: no circle leads back.
func TestArrowsPointDown(t *testing.T) {
	found := arrowsOf(sources(t))
	_, circle := found.levels()
	for _, from := range circle {
		for _, to := range circle {
			if f := found[from][to]; f != "" {
				t.Errorf("a circle of folders: %s imports %s, for example in %s", from, to, f)
			}
		}
	}
}

func TestLevels(t *testing.T) {
	tower := arrows{"roof": {"hall": "", "cellar": ""}, "hall": {"cellar": ""}, "cellar": {}}
	if floors, circle := tower.levels(); fmt.Sprint(floors, circle) != "[[cellar] [hall] [roof]] []" {
		t.Errorf("%v, %v", floors, circle)
	}
	tower["cellar"]["hall"] = ""
	if floors, circle := tower.levels(); len(floors) != 0 || fmt.Sprint(circle) != "[cellar hall roof]" {
		t.Errorf("%v, %v", floors, circle)
	}
}
