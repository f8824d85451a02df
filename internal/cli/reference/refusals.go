package main

import (
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/job/refused"
)

// refusal is a mistake and the sentence about it.
type refusal struct{ File, Says, Command string }

// refusals sorts the cases by the place in the file that a sentence is about. Each sentence stands
// once in a place, and of keys that only another protocol or learner has, one is enough.
func refusals(r *job.Reader, cases []refused.Case) map[string][]refusal {
	list, told := make(map[string][]refusal), make(map[string]bool)
	for _, c := range cases {
		at := place(r, c)
		says := foreign.ReplaceAllString(c.Says, "")
		if !told[at+says] {
			list[at] = append(list[at], refusal{shown(c), c.Says, ""})
		}
		told[at+says] = true
	}
	return list
}

// foreign is the end of a sentence about a key that only another protocol or learner has.
var foreign = regexp.MustCompile(`[a-z_C]+; remove it$`)

// place names the part of a job file that a sentence is about: "data", "protocol okra".
func place(r *job.Reader, c refused.Case) string {
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(c.File), &doc); err != nil || len(doc.Content) == 0 {
		return "file"
	}
	spec, line := child(doc.Content[0], "spec")
	if spec == nil || c.Line <= line {
		return "file"
	}
	if strings.Contains(c.Says, "grid") || strings.HasPrefix(c.Says, "the lists") {
		return "grids"
	}
	protocol, _ := child(spec, "protocol")
	if name := nameIn(protocol); known(r.Protocols, name) && mentions(c.Says, name) {
		return "protocol " + name
	}
	switch at := keyAt(spec, c.Line); at {
	case "protocol", "learner":
		one, _ := child(spec, at)
		if name := nameIn(one); known(r.Protocols, name) || known(r.Learners, name) {
			return at + " " + name
		}
		return "names"
	case "data", "kernel":
		return at
	}
	return "spec"
}

// keyAt returns the last key of the specification up to a line.
func keyAt(spec *yaml.Node, line int) (key string) {
	for i := 0; i < len(spec.Content) && spec.Content[i].Line <= line; i += 2 {
		key = spec.Content[i].Value
	}
	return key
}

// child returns the value of a key, and the key's line; nil where there is none.
func child(n *yaml.Node, key string) (*yaml.Node, int) {
	if n == nil || n.Kind != yaml.MappingNode {
		return nil, 0
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return n.Content[i+1], n.Content[i].Line
		}
	}
	return nil, 0
}

// nameIn returns the name of a protocol or a learner, or "".
func nameIn(n *yaml.Node) string {
	if name, _ := child(n, "name"); name != nil {
		return name.Value
	}
	return ""
}

func known(kinds []job.Kind, name string) bool {
	return slices.ContainsFunc(kinds, func(k job.Kind) bool { return k.Name() == name })
}

// mentions reports whether a sentence has a word.
func mentions(says, word string) bool {
	return slices.Contains(strings.FieldsFunc(says, func(r rune) bool { return strings.ContainsRune(" ,;:", r) }), word)
}

// longest bounds the part of a file that is shown.
const longest = 110

// shown returns the lines of a file that the job without the mistake lacks.
func shown(c refused.Case) string {
	if strings.TrimSpace(c.File) == "" {
		return ""
	}
	before, after := strings.Split(c.Base, "\n"), strings.Split(c.File, "\n")
	if gone := missing(before, after); len(missing(after, before)) == 0 && len(gone) > 0 {
		return "without " + strings.Join(gone, " ")
	}
	return strings.Join(missing(after, before), " ⏎ ")
}

// missing returns the lines of a text that another lacks.
func missing(lines, other []string) (list []string) {
	for _, line := range lines {
		if slices.Contains(other, line) {
			continue
		}
		line = strings.ReplaceAll(strings.TrimSpace(strings.ReplaceAll(line, "\t", "→")), "\xff", `\xff`)
		if len(line) > longest {
			line = line[:longest] + "..."
		}
		list = append(list, line)
	}
	return list
}
