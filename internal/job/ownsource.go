package job

import (
	"cmp"
	"errors"
	"fmt"

	"go.yaml.in/yaml/v3"

	"github.com/mercer-fl/mercer/dataset/prepare"
	"github.com/mercer-fl/mercer/internal/base/strictyaml"
	"github.com/mercer-fl/mercer/internal/catalogue/origin"
	"github.com/mercer-fl/mercer/internal/job/section"
)

// owned is the map form of a party's source in a job file. It has the description that a deployed
// party's catalogue holds.
type owned struct {
	Path            string `yaml:"path,omitempty"`
	origin.Origin   `yaml:",inline"`
	prepare.Mapping `yaml:",inline"`
	ID              OwnID `yaml:"id,omitempty"`
}

// decode reads a source: the path of a file, or a map with the path, program or query and its
// mapping.
func (s *Source) decode(key string, n *yaml.Node) error {
	switch n.Kind {
	case yaml.MappingNode:
	case yaml.SequenceNode:
		return section.At(n, "%s is a list; write the path of a file, or a map such as {path: a.csv}", key)
	default:
		return (section.Text{Dst: &s.File}).Decode(key, n)
	}
	var o owned
	if err := strictyaml.DecodeNode(n, &o); err != nil {
		return section.AtLine(lineOf(err, n), "%s: %v", key, err)
	}
	if o.Path == "" && !o.Given() {
		return section.At(n, "%s has no path; add \"path\" with the file", key)
	}
	if err := cmp.Or(o.Mapping.Check(), o.Origin.Check(o.Path, o.CSV)); err != nil {
		return section.At(n, "%s: %v", key, err)
	}
	if !o.ID.IsZero() {
		if err := o.ID.Check(); err != nil {
			return section.At(n, "%s: %v", key, err)
		}
	}
	s.File, s.Origin, s.Mapping, s.ID = o.Path, o.Origin, o.Mapping, o.ID
	return nil
}

// lineOf returns the line of a source's error, or the source's own line.
func lineOf(err error, n *yaml.Node) int {
	if problem := (*strictyaml.Error)(nil); errors.As(err, &problem) {
		return problem.Line
	}
	return n.Line
}

// Plain reports whether the source is a file that needs no description.
func (s *Source) Plain() bool { return s.Mapping.Empty() && !s.Given() && s.ID.IsZero() }

func (s *Source) encode() *yaml.Node {
	if s.Plain() {
		return section.Word(s.File)
	}
	var n yaml.Node
	if err := n.Encode(owned{s.File, s.Origin, s.Mapping, s.ID}); err != nil {
		panic(fmt.Sprintf("job: a source that was read cannot be written: %v", err))
	}
	return &n
}
