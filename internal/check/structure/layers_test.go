package structure_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

// subsystemOf returns the subsystem of a folder: a folder of internal, a folder of the
// root, or the root itself.
func subsystemOf(folder string) string {
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

// arrows holds the imports between subsystems: from, to, and a file with such an import.
type arrows map[string]map[string]string

func arrowsOf(files []file) arrows {
	found := make(arrows)
	for _, f := range files {
		from := subsystemOf(f.folder())
		if found[from] == nil {
			found[from] = make(map[string]string)
		}
		for _, folder := range f.imports() {
			if to := subsystemOf(folder); to != from {
				found[from][to] = f.path
			}
		}
	}
	return found
}

// levels puts every subsystem one layer above the highest subsystem that it imports.
// Subsystems of a cycle, and all above them, are on no layer.
func (a arrows) levels() (layers [][]string, circle []string) {
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
		for len(layers) <= height {
			layers = append(layers, nil)
		}
		layers[height] = append(layers[height], name)
	}
	return layers, circle
}

// above returns the layer above the layers of some subsystems, if all of them have one.
func above(at map[string]int, subsystems map[string]string) (height int, ready bool) {
	for to := range subsystems {
		layer, is := at[to]
		if !is {
			return 0, false
		}
		height = max(height, layer+1)
	}
	return height, true
}

// Imports between subsystems point down: there is no cycle.
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

func TestLayers(t *testing.T) {
	tower := arrows{"roof": {"hall": "", "cellar": ""}, "hall": {"cellar": ""}, "cellar": {}}
	if layers, circle := tower.levels(); fmt.Sprint(layers, circle) != "[[cellar] [hall] [roof]] []" {
		t.Errorf("%v, %v", layers, circle)
	}
	tower["cellar"]["hall"] = ""
	if layers, circle := tower.levels(); len(layers) != 0 || fmt.Sprint(circle) != "[cellar hall roof]" {
		t.Errorf("%v, %v", layers, circle)
	}
}
