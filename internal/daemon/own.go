package daemon

import (
	"errors"
	"fmt"

	"go.yaml.in/yaml/v3"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/dataset/prepare"
	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/base/strictyaml"
	"github.com/mercer-fl/mercer/internal/catalogue"
	"github.com/mercer-fl/mercer/internal/job"
)

// OwnColumns are an entry's columns: a list of the names that jobs may use, or a map from the file's
// own names to the federation's names.
type OwnColumns struct {
	Offered []string
	Theirs  map[string]prepare.Theirs
}

// UnmarshalYAML reads a list or a map.
func (c *OwnColumns) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind == yaml.MappingNode {
		return inPlace(n, &c.Theirs)
	}
	return inPlace(n, &c.Offered)
}

// MarshalYAML writes the form that was read.
func (c OwnColumns) MarshalYAML() (any, error) {
	if c.Theirs != nil {
		return c.Theirs, nil
	}
	return c.Offered, nil
}

// IsZero reports whether there are no columns.
func (c OwnColumns) IsZero() bool { return c.Offered == nil && c.Theirs == nil }

// OwnID is an entry's rule for ids: the name of a column, or columns with the steps that bring the
// ids of several parties into one form.
type OwnID struct{ prepare.IDRule }

// UnmarshalYAML reads a name or a map.
func (r *OwnID) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind == yaml.ScalarNode {
		r.Columns = []string{n.Value}
		return nil
	}
	return inPlace(n, &r.IDRule)
}

// MarshalYAML writes a name if the rule is one.
func (r OwnID) MarshalYAML() (any, error) {
	if len(r.Columns) == 1 && r.Normalize == nil {
		return r.Columns[0], nil
	}
	return r.IDRule, nil
}

// IsZero reports whether there are no ids.
func (r OwnID) IsZero() bool { return len(r.Columns) == 0 }

// name returns the column by which jobs refer to the ids, "" for none.
func (r OwnID) name() string {
	if r.IsZero() {
		return ""
	}
	return r.Columns[0]
}

// inPlace decodes a part of the file; errors name its line.
func inPlace(n *yaml.Node, into any) error {
	err := strictyaml.DecodeNode(n, into)
	var problem *strictyaml.Error
	if errors.As(err, &problem) {
		return &yaml.TypeError{Errors: []string{fmt.Sprintf("line %d: %s", problem.Line, problem.Problem)}}
	}
	return err
}

// mapping returns the differences between the entry's file and the federation.
func (s Source) mapping() prepare.Mapping {
	return prepare.Mapping{CSV: s.CSV, Columns: s.Columns.Theirs, Drop: s.Drop, Keep: s.Keep}
}

// typed reports whether the table is read cell by cell, because the job has a schema or because the
// table's file differs from the federation's form.
func (s Source) typed(d job.Data) bool {
	m := s.mapping()
	return d.Schema != nil || !m.Empty() || s.Group != "" || d.Test.Column != "" || len(s.ID.Columns) > 1 || s.ID.Normalize != nil
}

// load reads the entry's table.
func (s Source) load(library catalogue.Library, c catalogue.Columns, d job.Data) (*dataset.Set, error) {
	if s.typed(d) {
		return library.LoadTable(s.Path, s.table(c, d))
	}
	return library.Load(s.Path, c)
}

// table describes the entry to the reader of tables, with the columns that the job has chosen.
func (s Source) table(c catalogue.Columns, d job.Data) prepare.Table {
	t := prepare.Table{
		Schema: d.Reads(), Mapping: s.mapping(), ID: s.ID.IDRule, Aside: c.Aside, Features: c.Features, Gaps: c.Gaps, Classes: c.Classes,
		Group: s.Group, Cut: d.Test.Column,
	}
	if c.Label != job.NoLabel {
		t.Label = c.Label
	}
	return t
}

// Table describes an entry of this home's catalogue to the reader of tables, for new rows in the same
// form. Its schema comes from the job.
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

// called reports whether name is the federation's name of the column of ids, if the id has only one column.
func (r OwnID) called(name string, c OwnColumns) bool {
	return len(r.Columns) == 1 && c.Theirs[r.Columns[0]].As == name
}
