package main

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/mercer-fl/mercer/internal/daemon"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method/all"
)

// block is an example in a document.
type block struct {
	place string // file and line
	text  string
}

// Every YAML example of the documents reads: as a job, a part of one, a dictionary, a fit, or the
// tables of a home. A part of a job is completed by what its protocol needs.
func TestExamplesOfTheDocumentsRead(t *testing.T) {
	cohort := dictionaryIn(t, examples(t))
	r := all.Reader().Knowing(func(string, string) (*job.Dictionary, error) { return cohort, nil })
	kinds := make(map[string]int)
	for _, b := range examples(t) {
		keys, is := value(t, b.text).(map[string]any)
		if !is {
			t.Errorf("%s: the example is no map", b.place)
			continue
		}
		kind := kindOf(keys)
		kinds[kind]++
		if err := read(t, r, kind, b.text, keys); err != nil {
			t.Errorf("%s: %v", b.place, err)
		}
	}
	for _, kind := range []string{"file", "tables", "part"} {
		if kinds[kind] < 3 {
			t.Errorf("the documents have %d examples of kind %s", kinds[kind], kind)
		}
	}
}

// kindOf tells whole files, parts of a home's configuration and parts of a job apart.
func kindOf(keys map[string]any) string {
	data, is := keys["data"].(map[string]any)
	switch {
	case keys["apiVersion"] != nil:
		return "file"
	case is && data["source"] == nil && data["sources"] == nil, keys["cells"] != nil, keys["coordinator"] != nil, keys["listen"] != nil,
		keys["roles"] != nil, keys["audit"] != nil, keys["retention"] != nil, keys["page"] != nil:
		return "tables"
	}
	return "part"
}

func read(t *testing.T, r *job.Reader, kind, text string, keys map[string]any) error {
	t.Helper()
	switch {
	case kind == "file" && keys["kind"] == "Dictionary":
		_, err := job.ParseDictionary("example", []byte(text))
		return err
	case kind == "file" && keys["kind"] == job.StudyKind:
		_, err := r.ParseStudy("example", []byte(text))
		return err
	case kind == "file":
		_, err := r.Parse("example", []byte(text))
		return err
	case kind == "tables":
		home := daemon.At(t.TempDir())
		if err := os.WriteFile(home.ConfigPath(), []byte("name: north\n"+text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := home.Config(r)
		return err
	}
	_, err := r.Parse("example", whole(t, keys))
	return err
}

// whole completes a part of a job.
func whole(t *testing.T, part map[string]any) []byte {
	t.Helper()
	spec := value(t, `
data: {sources: {bergen: b.csv, delft: d.csv, east: e.csv, south: s.csv}, label: y}
protocol: {name: okra}
kernel: {name: linear}
learner: {name: svc}
`).(map[string]any)
	maps.Copy(spec, part)
	name := spec["protocol"].(map[string]any)["name"]
	if part["data"] == nil && name == "fdskl" {
		spec["data"] = value(t, "{sources: {north: n.csv, south: s.csv}, id: id, label: y, partition: {by: columns}}")
	}
	if part["data"] == nil && name == "fedcfk" {
		spec["data"] = value(t, "{source: ml-100k/u.data, like: 4, partition: {by: devices}, test: {every: 10}}")
	}
	data := spec["data"].(map[string]any)
	if _, lists := part["kernel"].([]any); lists {
		data["folds"] = 5
	}
	if part["data"] != nil && data["label"] == nil && data["like"] == nil {
		data["label"] = "y"
	}
	if part["learner"] == nil && name == "fedcfk" {
		spec["learner"] = value(t, "{name: cf-komd}")
	}
	text, err := yaml.Marshal(map[string]any{"apiVersion": "mercer/v1", "kind": "Job", "metadata": map[string]any{"name": "example"}, "spec": spec})
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// dictionaryIn returns the dictionary among the examples.
func dictionaryIn(t *testing.T, list []block) *job.Dictionary {
	t.Helper()
	for _, b := range list {
		if strings.Contains(b.text, "kind: Dictionary") {
			d, err := job.ParseDictionary("example", []byte(b.text))
			if err != nil {
				t.Fatalf("%s: %v", b.place, err)
			}
			return d
		}
	}
	t.Fatal("the documents describe no dictionary")
	return nil
}

// examples returns the YAML examples of README and docs.
func examples(t *testing.T) (list []block) {
	t.Helper()
	root := filepath.Join("..", "..", "..")
	paths := []string{filepath.Join(root, "README.md")}
	err := filepath.WalkDir(filepath.Join(root, "docs"), func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && strings.HasSuffix(path, ".md") {
			paths = append(paths, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for i, part := range strings.Split(string(text), "\n```yaml\n")[1:] {
			example, _, _ := strings.Cut(part, "\n```")
			list = append(list, block{place: filepath.Base(path) + ", example " + string(rune('1'+i)), text: example})
		}
	}
	return list
}
