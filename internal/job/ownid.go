package job

import (
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/mercer-fl/mercer/dataset/prepare"
	"github.com/mercer-fl/mercer/internal/base/strictyaml"
)

// OwnID is an owner's rule that forms the ids of a table's rows. In YAML it is the name of a column,
// or columns with steps that normalize the ids of several parties.
type OwnID struct{ prepare.IDRule }

// UnmarshalYAML reads the name of a column or a map. Its errors name the line.
func (r *OwnID) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind == yaml.ScalarNode {
		r.Columns = []string{n.Value}
		return nil
	}
	return strictyaml.Nested(n, &r.IDRule)
}

// MarshalYAML writes only the name if the rule is a single column without steps.
func (r OwnID) MarshalYAML() (any, error) {
	if len(r.Columns) == 1 && r.Normalize == nil {
		return r.Columns[0], nil
	}
	return r.IDRule, nil
}

// IsZero reports whether the table has no ids.
func (r OwnID) IsZero() bool { return len(r.Columns) == 0 }

// Name returns the column name by which jobs refer to the ids, or "" if there are no ids.
func (r OwnID) Name() string {
	if r.IsZero() {
		return ""
	}
	return r.Columns[0]
}

// Names reports whether a job that takes ids from column name means the ids of this rule: the column
// is one of the rule, or a single column of the rule has this name in the federation.
func (r OwnID) Names(name string, theirs map[string]prepare.Theirs) bool {
	return slices.Contains(r.Columns, name) || len(r.Columns) == 1 && theirs[r.Columns[0]].As == name
}
