package daemon

import (
	"go.yaml.in/yaml/v3"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/dataset/prepare"
	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/base/strictyaml"
	"github.com/mercer-fl/mercer/internal/catalogue"
	"github.com/mercer-fl/mercer/internal/job"
)

// OwnColumns describes the columns of a catalogue entry. It is a list of the columns that jobs can
// use, or a map from the file's names to the federation's names.
type OwnColumns struct {
	Offered []string
	Theirs  map[string]prepare.Theirs
}

// UnmarshalYAML reads a list of columns or a map of names.
func (c *OwnColumns) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind == yaml.MappingNode {
		return strictyaml.Nested(n, &c.Theirs)
	}
	return strictyaml.Nested(n, &c.Offered)
}

// MarshalYAML writes a list or a map, as in the file that was read.
func (c OwnColumns) MarshalYAML() (any, error) {
	if c.Theirs != nil {
		return c.Theirs, nil
	}
	return c.Offered, nil
}

// IsZero reports whether the entry describes no columns.
func (c OwnColumns) IsZero() bool { return c.Offered == nil && c.Theirs == nil }

// mapping returns the rules that translate the entry's file into the federation's form.
func (s Source) mapping() prepare.Mapping {
	return prepare.Mapping{CSV: s.CSV, Columns: s.Columns.Theirs, Drop: s.Drop, Keep: s.Keep}
}

// needsCellTypes reports whether the reader must interpret the table cell by cell. This is so if
// the job has a schema, weights, or a column by which it holds rows out; if the entry leaves out rows
// without a label, has a group, or makes ids from several columns or normalizes them; or if the file
// differs from the federation's form.
func (s Source) needsCellTypes(d job.Data) bool {
	m := s.mapping()
	return d.Schema != nil || s.Label.Needed != nil || !m.Empty() || s.Group != "" || d.Weight != "" || d.Test.Column != "" || len(s.ID.Columns) > 1 || s.ID.Normalize != nil
}

// load reads the table that the entry describes.
func (s Source) load(library catalogue.Library, c catalogue.Columns, d job.Data) (*dataset.Set, error) {
	if s.needsCellTypes(d) {
		return library.LoadTable(s.Path, s.table(c, d))
	}
	return library.Load(s.Path, c)
}

// table returns the description by which package prepare reads the entry's table for a job.
func (s Source) table(c catalogue.Columns, d job.Data) prepare.Table {
	t := prepare.Table{
		Answer: s.SQL != nil, Schema: d.Reads(), Mapping: s.mapping(), ID: s.ID.IDRule, Aside: c.Aside, Features: c.Features, Gaps: c.Gaps, Classes: c.Classes,
		Group: s.Group, Cut: d.Test.Column, Weight: d.Weight, Weights: d.Weights, Labelled: s.Label.Needed,
	}
	if c.Label != job.NoLabel {
		t.Label = c.Label
	}
	return t
}

// Table describes a catalogue entry of this home, so that new rows of the same format can be read.
// The schema is not set, because it comes from the job.
func (h Home) Table(jobs *job.Reader, name string) (prepare.Table, error) {
	c, err := h.Config(jobs)
	if err != nil {
		return prepare.Table{}, err
	}
	s, err := c.source(h, name)
	if err != nil {
		return prepare.Table{}, fault.BadInput(err)
	}
	return prepare.Table{Mapping: s.mapping(), ID: s.ID.IDRule}, nil
}
