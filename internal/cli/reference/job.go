package main

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/job/refused"
	"github.com/mercer-fl/mercer/internal/job/section"
	"github.com/mercer-fl/mercer/internal/method/all"
)

// jobPage is the content of docs/job.md.
type jobPage struct {
	Example   string
	Sections  []keys // sections that every job has, outermost first
	Study     keys   // keys under spec in a study's file
	Fit       keys   // keys of a job of kind Fit
	Kernel    keys
	Kernels   []kernel
	Protocols kinds
	Learners  kinds
	Refusals  map[string][]refusal // refused files, by the section that contains the mistake
	Launches  []refusal            // refused jobs, each with the command that refuses to run it
}

// keys is a section of the job file with its keys.
type keys struct {
	Name, Path string
	Rows       []row
}

// row describes one key.
type row struct{ Key, Form, Default, Doc string }

// kernel describes a kernel: its name, formula and keys, and the protocols that support it.
type kernel struct{ Name, Formula, Keys, Protocols string }

// kind describes a protocol or a learner.
type kind struct {
	Name, Doc string
	Keys      keys
	Partition string // how a protocol divides the data among parties
	Page      string // path of a protocol's page from the folder of the pages; "" if there is none
	Kernels   string // kernels that a protocol supports
	Learners  string // learners that a protocol supports
	Labels    string // how a learner uses labels
	Protocols string // protocols that support a learner
}

type kinds []kind

// Links returns links to the headings of the kinds.
func (k kinds) Links(what string) string {
	var names, anchors []string
	for _, one := range k {
		names, anchors = append(names, one.Name), append(anchors, what+"-"+one.Name)
	}
	return links(names, anchors)
}

func newJobPage(folder string) (*jobPage, error) {
	r := all.Reader()
	cases, err := refused.Cases(r)
	if err != nil {
		return nil, err
	}
	shortest := slices.MinFunc(cases, func(a, b refused.Case) int { return cmp.Compare(len(a.Base), len(b.Base)) })
	p := &jobPage{Example: shortest.Base, Fit: keysOf("spec", job.FitSpec()), Study: keysOf("spec", r.StudySpec()), Kernel: keysOf("spec.kernel", new(job.Kernel).Section()), Refusals: refusals(cases)}
	launches, err := refused.Launches()
	if err != nil {
		return nil, err
	}
	for _, c := range launches {
		p.Launches = append(p.Launches, refusal{changedLines(c), c.Says, "mercer " + c.Command})
	}
	p.walk("", r.File())
	fits := tryAll(r)
	for _, name := range r.Known().Kernels {
		k := job.KernelName(name)
		p.Kernels = append(p.Kernels, kernel{name, k.Formula(), strings.Join(k.Keys(), ", "), fits.listNames(func(f fit) (bool, string) { return f.kernel == name, f.protocol })})
	}
	for _, k := range r.Protocols {
		one := newKind("protocol", k)
		page := "protocols/" + k.Name() + ".md"
		if _, err := os.Stat(filepath.Join(folder, page)); err == nil {
			one.Page = page
		}
		one.Partition, one.Learners, one.Kernels = string(k.Traits().Partition()), fits.listNames(func(f fit) (bool, string) { return f.protocol == one.Name, f.learner }),
			fits.listNames(func(f fit) (bool, string) { return f.protocol == one.Name, f.kernel })
		p.Protocols = append(p.Protocols, one)
	}
	for _, k := range r.Learners {
		one := newKind("learner", k)
		one.Labels, one.Protocols = k.Task().Labels, fits.listNames(func(f fit) (bool, string) { return f.learner == one.Name, f.protocol })
		p.Learners = append(p.Learners, one)
	}
	return p, nil
}

// walk adds a section and its subsections to the page.
func (p *jobPage) walk(path string, s *section.Section) {
	p.Sections = append(p.Sections, keysOf(path, s))
	for _, f := range s.Fields {
		if inner, is := f.Value.(*section.Section); is {
			p.walk(strings.TrimPrefix(path+"."+f.Key, "."), inner)
		}
		if m, is := f.Value.(interface{ Map() *section.Section }); is {
			p.walk(strings.TrimPrefix(path+"."+f.Key, "."), m.Map())
		}
		if m, is := f.Value.(interface{ Each() *section.Section }); is {
			p.walk(path+"."+f.Key+".COLUMN", m.Each())
		}
	}
}

func newKind(what string, k job.Kind) kind {
	s := k.New().Section()
	return kind{Name: k.Name(), Doc: s.Doc, Keys: keysOf("spec."+what, s)}
}

func keysOf(path string, s *section.Section) keys {
	k := keys{Name: s.Name, Path: path}
	for _, f := range s.Fields {
		form := f.Value.Form()
		if f.List {
			form += ", or a list"
		}
		k.Rows = append(k.Rows, row{f.Key, form, defaultText(f), f.Doc})
	}
	return k
}

// defaultText describes the value that the reader uses if a key is missing.
func defaultText(f section.Field) string {
	var parts []string
	if f.Default != "" {
		parts = append(parts, codeText(f.Default))
	}
	if f.Else != "" {
		parts = append(parts, cell(f.Else))
	}
	if f.Need != "" {
		parts = append(parts, "required")
	}
	return strings.Join(parts, "; ")
}

// fit is a combination of protocol, learner and kernel that the job reader accepts.
type fit struct{ protocol, learner, kernel string }

type fits struct {
	reader *job.Reader
	list   []fit
}

// tryAll finds the combinations of protocol, learner and kernel that the job reader accepts.
func tryAll(r *job.Reader) *fits {
	f := &fits{reader: r}
	for _, p := range r.Protocols {
		for _, l := range r.Learners {
			for _, k := range r.Known().Kernels {
				if _, err := r.Parse("job.yaml", []byte(sampleJob(p, l, job.KernelName(k)))); err == nil {
					f.list = append(f.list, fit{p.Name(), l.Name(), k})
				}
			}
		}
	}
	return f
}

// sampleJob returns a job file with the keys that its protocol, learner and kernel require.
func sampleJob(p job.Protocol, l job.Learner, k job.KernelName) string {
	partition := map[job.Direction]string{
		job.Rows: "by: rows, parties: [a, b]", job.Columns: "by: columns, parties: [a, b]", job.Devices: "by: devices",
	}[p.Traits().Partition()]
	label, protocol, kernel := job.NoLabel, "name: "+p.Name(), "name: "+string(k)
	if l.Task().Labels != "" {
		label = "y"
	}
	own := p.New().Section().Keys()
	if l.Task().Classes && slices.Contains(own, "classes") {
		protocol += ", classes: [a, b]"
	}
	if l.Task().Numbers && slices.Contains(own, "targets") {
		protocol += ", targets: [0, 1]"
	}
	for _, key := range k.Keys() {
		if value := map[string]string{"gamma": "1", "degree": "2", "clause": "2", "coefficients": "[0, 1]"}[key]; value != "" {
			kernel += ", " + key + ": " + value
		}
	}
	learner := "name: " + l.Name()
	if slices.Contains(l.New().Section().Keys(), "view") {
		learner += ", view: [x]"
	}
	return fmt.Sprintf(`apiVersion: mercer/v1
kind: Job
metadata: {name: trial}
spec:
  data: {source: a.csv, label: %s, partition: {%s}, test: {every: 10}}
  protocol: {%s}
  kernel: {%s}
  learner: {%s}
`, label, partition, protocol, kernel, learner)
}

// listNames returns the distinct names of the combinations, separated by commas. The function
// nameOf returns whether a combination counts, and the combination's name.
func (f *fits) listNames(nameOf func(fit) (bool, string)) string {
	var names []string
	for _, one := range f.list {
		if is, name := nameOf(one); is && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return strings.Join(names, ", ")
}
