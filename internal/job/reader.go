package job

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/mercer-fl/mercer/internal/job/section"
)

// Reader reads jobs of the protocols and learners that a program has.
type Reader struct {
	Protocols []Protocol // in the order of the documents
	Learners  []Learner
	Fit       Protocol // of jobs of kind Fit; nil: there are none
	// Dictionary finds a dictionary by its name and hash, or the one of that name that the place of the
	// program has for new jobs where the hash is "". Nil: there is none.
	Dictionary func(name, hash string) (*Dictionary, error)
}

// Knowing returns the reader with dictionaries.
func (r *Reader) Knowing(find func(name, hash string) (*Dictionary, error)) *Reader {
	knowing := *r
	knowing.Dictionary = find
	return &knowing
}

// protocols returns the Kinds; a nil Reader, which only writes, has none.
func (r *Reader) protocols() []Kind {
	if r == nil {
		return nil
	}
	return kindsOf(r.Protocols)
}

// Kinds returns all protocols, and behind them all learners.
func (r *Reader) Kinds() []Kind { return append(kindsOf(r.Protocols), kindsOf(r.Learners)...) }

func kindsOf[K Kind](list []K) []Kind {
	kinds := make([]Kind, len(list))
	for i, k := range list {
		kinds[i] = k
	}
	return kinds
}

// learner returns the section of a learner: to read a map with, or, to write, the section of
// its Kind.
func (r *Reader) learner(l *Named, n *yaml.Node) (*section.Section, error) {
	if n == nil {
		return l.section("learner"), nil
	}
	return named{dst: l, what: "learner", kinds: kindsOf(r.Learners), alike: true}.of(n)
}

// File declares the whole job file, for documents.
func (r *Reader) File() *section.Section { return new(Job).file(r) }

// Parse reads a job file. Errors call the file by the given name. Every error is an [*Error]
// and names a line.
func (r *Reader) Parse(name string, data []byte) (*Job, error) {
	j := new(Job)
	root, err := document(data)
	if err == nil && r.Fit != nil && kindIn(root) == FitKind {
		j.Protocol = Named{r.Fit, r.Fit.New()}
	}
	if err == nil {
		err = j.file(r).Decode("", root)
	}
	if err != nil {
		return nil, inFile(name, err)
	}
	return j, nil
}

// inFile gives an error the name of the file; document and the sections make
// no other kind than *Error.
func inFile(name string, err error) error {
	var e *Error
	if !errors.As(err, &e) {
		e = &Error{Line: 1, Problem: err.Error()}
	}
	e.File = name
	return e
}

// Validate checks a job that was built or changed by a program and fills the defaults of
// missing values, as Parse does. Lines in its error count in the canonical file.
func (r *Reader) Validate(j *Job) error {
	valid, err := r.Parse("job", j.Encode())
	if err != nil {
		return err
	}
	*j = *valid
	return nil
}

// With reads a job again with other settings. A key names where a text stands in
// the spec, such as protocol.wire; the text "" takes the key out.
func (r *Reader) With(j *Job, settings map[string]string) (*Job, error) {
	root, err := document(j.Encode())
	if err != nil {
		return nil, err
	}
	for _, path := range slices.Sorted(maps.Keys(settings)) {
		if err := set(under(root, "spec"), strings.Split(path, "."), settings[path]); err != nil {
			return nil, err
		}
	}
	var b bytes.Buffer
	if err := yaml.NewEncoder(&b).Encode(root); err != nil {
		return nil, err
	}
	return r.Parse("job", b.Bytes())
}

// set puts a text into a map, or takes a key out of it.
func set(n *yaml.Node, path []string, text string) error {
	if len(path) > 1 {
		inner := under(n, path[0])
		if inner == nil || inner.Kind != yaml.MappingNode {
			inner = section.Map()
			put(n, path[0], inner)
		}
		return set(inner, path[1:], text)
	}
	if text == "" {
		if at := valueOf(n, path[0]); at >= 0 {
			n.Content = slices.Delete(n.Content, at-1, at+1)
		}
		return nil
	}
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(text), &doc); err != nil {
		return err
	}
	if len(doc.Content) == 0 {
		return fmt.Errorf("job: %q contains no YAML value", text)
	}
	put(n, path[0], doc.Content[0])
	return nil
}

// Names are the words by which a policy speaks of jobs.
type Names struct{ Protocols, Modes, Kernels, Learners []string }

// Known returns all that a job file may name.
func (r *Reader) Known() Names {
	return Names{
		Protocols: named{kinds: kindsOf(r.Protocols)}.names(), Modes: section.Texts(modes()),
		Kernels: section.Texts(kernelNames()), Learners: named{kinds: kindsOf(r.Learners)}.names(),
	}
}
