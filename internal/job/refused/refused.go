// Package refused holds job files that Mercer refuses, each with its error text. Tests pass them to
// the reader or to a command, and docs/job.md prints them. The program itself does not link the package.
package refused

import (
	"embed"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/mercer-fl/mercer/dataset/prepare"
	"github.com/mercer-fl/mercer/internal/job"
)

// Case is a job file with one mistake in it.
type Case struct {
	Name  string
	Place string // section of the mistake: "data", "protocol okra"; "" if a command refuses a valid file
	Base  string // the job file without the mistake
	File  string // the job file with the mistake
	Line  int    // line of the mistake, from 1; 0 if a command refuses a valid file
	Says  string // the error text, without the name and the line of the file
	// Command is the command that refuses a valid job file: "simulate" or "job submit".
	Command      string
	dictionaries map[string]*job.Dictionary // approved dictionaries, by name
	study        string                     // text of the approved study; "" for none
}

// Reader returns a reader that finds the case's dictionaries and study.
func (c Case) Reader(r *job.Reader) *job.Reader {
	if c.study != "" {
		r = r.KnowingStudies(func(name, _ string) (*job.Study, error) {
			if name == "none" {
				return nil, job.ErrStudyUnapproved
			}
			return r.ParseStudy("study.yaml", []byte(c.study))
		})
	}
	if c.dictionaries == nil {
		return r
	}
	return r.Knowing(func(name, _ string) (*job.Dictionary, error) {
		if d := c.dictionaries[name]; d != nil {
			return d, nil
		}
		return nil, job.ErrUnapproved
	})
}

// cases is the content of one YAML file in this folder.
type cases struct {
	Job          string
	Dictionaries []string // texts of approved dictionaries
	Study        string   // text of the approved study
	Cases        []struct {
		Name, Place string
		Replace, By string  // Replace is a text that occurs once in Job; the text By takes its place
		File        *string // a whole file in place of Job
		Line        int
		Says        string
		Command     string
	}
}

//go:embed *.yaml launch/*.yaml
var files embed.FS

// Cases returns the test cases: job files that r must refuse, each with the error text. In these texts it
// replaces PROTOCOLS by the names of the protocols that the reader knows, and BYCOLUMNS by the names of the
// protocols for data by columns.
func Cases(r *job.Reader) ([]Case, error) {
	known := r.Known()
	list, err := readCases(".", strings.NewReplacer("PROTOCOLS", strings.Join(known.Protocols, ", "), "BYCOLUMNS", byColumns(r)))
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(list, func(c Case) bool { return strings.Contains(c.Base, "name: small") })
	return append(list, computedCases(list[at].Base)...), nil
}

// byColumns joins the names of the protocols by columns, as in "a, b and c".
func byColumns(r *job.Reader) string {
	var names []string
	for _, k := range r.Protocols {
		if k.Traits().Cuts == job.Columns {
			names = append(names, k.Name())
		}
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " and " + names[last]
}

// Launches returns valid job files that the command simulate or job submit refuses.
func Launches() ([]Case, error) { return readCases("launch", strings.NewReplacer()) }

// readCases returns the cases in all YAML files of a folder.
func readCases(folder string, known *strings.Replacer) ([]Case, error) {
	paths, err := fs.Glob(files, path.Join(folder, "*.yaml"))
	if err != nil {
		return nil, err
	}
	var list []Case
	for _, p := range paths {
		b, err := files.ReadFile(p)
		if err != nil {
			return nil, err
		}
		var f cases
		if err := yaml.Unmarshal(b, &f); err != nil {
			return nil, fmt.Errorf("refused: %s: %w", p, err)
		}
		approved, err := f.parseDictionaries()
		if err != nil {
			return nil, fmt.Errorf("refused: %s: %w", p, err)
		}
		for _, c := range f.list(known) {
			c.dictionaries, c.study = approved, f.Study
			list = append(list, c)
		}
	}
	return list, nil
}

// parseDictionaries parses the dictionaries and returns them by name; nil if there are none.
func (f *cases) parseDictionaries() (map[string]*job.Dictionary, error) {
	if f.Dictionaries == nil {
		return nil, nil
	}
	all := make(map[string]*job.Dictionary)
	for _, text := range f.Dictionaries {
		d, err := job.ParseDictionary("dictionary.yaml", []byte(text))
		if err != nil {
			return nil, err
		}
		all[d.Name] = d
	}
	return all, nil
}

func (f *cases) list(known *strings.Replacer) []Case {
	list := make([]Case, len(f.Cases))
	for i, c := range f.Cases {
		list[i] = Case{Name: c.Name, Place: c.Place, Base: f.Job, File: strings.Replace(f.Job, c.Replace, c.By, 1), Line: c.Line, Says: known.Replace(c.Says), Command: c.Command}
		if c.File != nil {
			list[i].File = *c.File
		}
	}
	return list
}

// computedCases returns cases that are too long for a YAML file, or that are not text.
func computedCases(base string) []Case {
	with := func(place, name, old, bad string, line int, says string) Case {
		return Case{Name: name, Place: place, Base: base, File: strings.Replace(base, old, bad, 1), Line: line, Says: says}
	}
	return []Case{
		with("file", "too large", base, base+strings.Repeat("#", job.MaxBytes), 1, fmt.Sprintf("the file has %d bytes; a job file has at most 1048576", len(base)+job.MaxBytes)),
		with("file", "invalid UTF-8", "label: label", "label: \xff", 7, "this line is not UTF-8 text; save the file as UTF-8"),
		with("data", "too many parties", "label: label", "label: label\n    partition: {parties: ["+numberedList("p%d", job.MaxParties+1)+"]}", 8, "there are more than 1024 parties; name fewer"),
		with("data", "too many columns in a schema", "label: label", "label: label\n    schema: {"+numberedList("c%d: {}", prepare.MaxColumns+1)+"}", 8, "schema has more than 16384 columns; describe fewer"),
		with("data", "long label", "label: label", "label: "+strings.Repeat("l", 1025), 7, "label is 1025 bytes long; at most 1024 are allowed"),
		with("kernel", "too many coefficients", "{name: rbf, gamma: 0.5}", "{name: dot-product, coefficients: ["+numberedList("%d", 66)+"]}", 9, "coefficients has more than 65 entries; list fewer"),
		with("protocol secvm", "too many classes", "{name: okra}", "{name: secvm, classes: ["+numberedList("c%d", 257)+"]}", 8, "classes has more than 256 entries; list fewer"),
		with("grids", "too many numbers", "gamma: 0.5", "gamma: ["+numberedList("%d", job.MaxCells+1)+"]", 9, "the lists up to gamma stand for more than 1024 choices; give shorter lists"),
		with("grids", "too many kernels in lists", "{name: rbf, gamma: 0.5}", "\n  - {name: rbf, gamma: ["+numberedList("%d", job.MaxCells)+"]}\n  - {name: linear}", 11,
			"kernel stands for more than 1024 choices; give shorter lists"),
	}
}

// numberedList formats the numbers from 1 to n and joins them as a YAML list without brackets.
func numberedList(format string, n int) string {
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprintf(format, i+1)
	}
	return strings.Join(list, ", ")
}
