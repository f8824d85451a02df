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

// Reader parses job files with the protocols and learners of a program.
type Reader struct {
	Protocols []Protocol // in the order of the documentation
	Learners  []Learner
	Fit       Protocol // protocol of jobs of kind Fit; nil if the reader refuses such jobs
	// Dictionary finds a dictionary by its name and hash. If the hash is "", it finds the
	// dictionary of that name for new jobs. Nil means that there are no dictionaries.
	Dictionary func(name, hash string) (*Dictionary, error)
	// Study finds a study in the same way. Nil means that there are no studies.
	Study func(name, hash string) (*Study, error)
}

// Knowing returns a reader that looks up dictionaries with the function find.
func (r *Reader) Knowing(find func(name, hash string) (*Dictionary, error)) *Reader {
	knowing := *r
	knowing.Dictionary = find
	return &knowing
}

// KnowingStudies returns a reader that looks up studies with the function find.
func (r *Reader) KnowingStudies(find func(name, hash string) (*Study, error)) *Reader {
	knowing := *r
	knowing.Study = find
	return &knowing
}

// protocols returns the reader's protocols as Kinds. A nil Reader has none.
func (r *Reader) protocols() []Kind {
	if r == nil {
		return nil
	}
	return kindsOf(r.Protocols)
}

// Kinds returns all protocols, followed by all learners.
func (r *Reader) Kinds() []Kind { return append(kindsOf(r.Protocols), kindsOf(r.Learners)...) }

func kindsOf[K Kind](list []K) []Kind {
	kinds := make([]Kind, len(list))
	for i, k := range list {
		kinds[i] = k
	}
	return kinds
}

// learner returns the section that reads or writes a learner. The section reads the map n, or
// writes l if n is nil.
func (r *Reader) learner(l *Named, n *yaml.Node) (*section.Section, error) {
	if n == nil {
		return l.section("learner"), nil
	}
	return namedSection{dst: l, what: "learner", kinds: kindsOf(r.Learners), alike: true}.sectionOf(n)
}

// File returns the declaration of the whole job file, which the documentation shows.
func (r *Reader) File() *section.Section { return new(Job).file(r) }

// Parse reads a job file. Errors call the file by the argument name. Every error is an [*Error] and names a line.
func (r *Reader) Parse(name string, data []byte) (*Job, error) {
	j := new(Job)
	root, err := document(data)
	if err == nil && r.Fit != nil && kindIn(root) == FitKind {
		j.Protocol = Named{r.Fit, r.Fit.New()}
	}
	if err == nil {
		err = r.ofProtocol(root, j.file(r).Decode("", root))
	}
	if err != nil {
		return nil, inFile(name, err)
	}
	return j, nil
}

// ofProtocol returns an error about the name of a learner with the learners that the file's protocol runs. It
// returns other errors unchanged.
func (r *Reader) ofProtocol(root *yaml.Node, err error) error {
	var e *Error
	var unknown *section.UnknownName
	if !errors.As(err, &unknown) || unknown.Noun != "learner" || !errors.As(err, &e) {
		return err
	}
	name := under(under(under(root, "spec"), "protocol"), "name")
	i := slices.IndexFunc(r.Protocols, func(p Protocol) bool { return name != nil && p.Name() == name.Value })
	if i < 0 || r.Protocols[i].Traits().Learns == nil {
		return err
	}
	runs := *unknown
	runs.Known, runs.Of = nil, "protocol "+name.Value+" runs"
	for _, l := range r.Learners {
		if r.Protocols[i].Traits().Learns(&Job{Learner: Named{l, l.New()}}) {
			runs.Known = append(runs.Known, l.Name())
		}
	}
	e.Problem = runs.Error()
	return e
}

// inFile adds the file's name to an error. An error that is no *Error becomes one, in line 1.
func inFile(name string, err error) error {
	var e *Error
	if !errors.As(err, &e) {
		e = &Error{Line: 1, Problem: err.Error()}
	}
	e.File = name
	return e
}

// Validate checks a job that a program has built or changed, and sets missing values to their
// defaults. Its errors name lines of the canonical file.
func (r *Reader) Validate(j *Job) error {
	valid, err := r.Parse("job", j.Encode())
	if err != nil {
		return err
	}
	*j = *valid
	return nil
}

// With returns a job with changed settings. Each key is a path in the spec, such as "protocol.wire",
// and its text is the new value. The text "" removes the key.
func (r *Reader) With(j *Job, settings map[string]string) (*Job, error) {
	root, err := document(j.Encode())
	if err != nil {
		return nil, err
	}
	for _, path := range slices.Sorted(maps.Keys(settings)) {
		if err := storeAt(under(root, "spec"), strings.Split(path, "."), settings[path]); err != nil {
			return nil, err
		}
	}
	var b bytes.Buffer
	if err := yaml.NewEncoder(&b).Encode(root); err != nil {
		return nil, err
	}
	return r.Parse("job", b.Bytes())
}

// storeAt stores a text at a path in a map, or removes the path's key if the text is "".
func storeAt(n *yaml.Node, path []string, text string) error {
	if len(path) > 1 {
		inner := under(n, path[0])
		if inner == nil || inner.Kind != yaml.MappingNode {
			inner = section.Map()
			putValue(n, path[0], inner)
		}
		return storeAt(inner, path[1:], text)
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
		return fmt.Errorf("job: setting %q contains no YAML value; write one value", text)
	}
	putValue(n, path[0], doc.Content[0])
	return nil
}

// Names lists the names of protocols, modes, kernels and learners that a policy or a study can use.
type Names struct{ Protocols, Modes, Kernels, Learners []string }

// Known returns all names that a job file can use.
func (r *Reader) Known() Names {
	return Names{
		Protocols: namedSection{kinds: kindsOf(r.Protocols)}.names(), Modes: section.Texts(modes()),
		Kernels: section.Texts(kernelNames()), Learners: namedSection{kinds: kindsOf(r.Learners)}.names(),
	}
}
