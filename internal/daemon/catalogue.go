package daemon

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/dataset/prepare"
	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/base/strictyaml"
	"github.com/mercer-fl/mercer/internal/catalogue"
	"github.com/mercer-fl/mercer/internal/catalogue/origin"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/node/party"
)

// Source is an entry of a party's catalogue: a table, and the columns that jobs can use. A job
// cannot use more than the entry offers.
type Source struct {
	Path string `yaml:"path,omitempty"` // path of a file or a folder of images; relative to the home's folder
	// Origin is the program or the query that returns the table. It replaces Path.
	origin.Origin `yaml:",inline"`
	// Label lists the columns from which a job can choose its labels. If it is empty, jobs can use
	// the table only without labels. Label columns are not features.
	Label Labels `yaml:"label,omitempty"`
	// ID is the column of ids, or the rule that makes ids from several columns. By the ids, jobs
	// find the rows of the same people in other parties' tables. Without ID the table has no ids.
	ID job.OwnID `yaml:"id,omitempty"`
	// Cut is the column by which jobs can hold out later rows, such as the day of admission. It is
	// a feature of a job without a schema only if Columns lists it.
	Cut string `yaml:"cut,omitempty"`
	// CutDates lists values of column Cut, as days or numbers. By column Cut, a job over an edition can hold
	// out only the rows at or after one of the values that were listed at the freeze.
	CutDates []string `yaml:"cut_dates,omitempty"`
	// Columns lists the columns that jobs can use as features, or describes the file's own columns.
	// Without a list, a job that names no columns uses all remaining columns, and a job by columns that
	// names columns is refused.
	Columns OwnColumns `yaml:"columns,omitempty"`
	// CSV describes the format of a CSV file.
	CSV prepare.CSV `yaml:"csv,omitempty"`
	// Drop lists columns of the file that are never parsed. Keep lists the only columns that are
	// parsed. Both use the names in the file.
	Drop []string `yaml:"drop,omitempty"`
	Keep []string `yaml:"keep,omitempty"`
	// Width is the number of features, because a LIBSVM text need not name the last ones. 0 means as many
	// as the job says, or else as many as the file names.
	Width int `yaml:"features,omitempty"`
	// Group is the column of groups, such as patients. Every job by rows keeps the rows of a group
	// together when it holds rows out, unless it does so by column Cut. The column is not a feature.
	Group string `yaml:"group,omitempty"`
	// Weight is the column that jobs can use as the weights of rows. A job that weights rows by another
	// column is refused, and without Weight so is every job with weights. The column is not a feature.
	Weight string `yaml:"weight,omitempty"`
	// Editions is "weekly" if the daemon freezes the table every week. It does so for each approved
	// dictionary, and for that of plain numbers, for which the table has an edition.
	Editions string `yaml:"editions,omitempty"`
	// Policy limits the jobs on the table; nil: the policy of the home applies.
	Policy *party.Policy `yaml:"policy,omitempty"`
}

// Labels describes the label columns of an entry. In YAML it is a name, a list of names, the word
// "none", or a map. The map has the key "column", which holds a name or a list of names, and can have the key
// "missing".
type Labels struct {
	Columns []string
	// Needed lists the columns in which each row needs a value: all label columns if the entry says
	// "missing: drop-row", and none otherwise. No job sees a row that lacks one of these values,
	// whatever label the job uses.
	Needed []string
}

// ownLabels is the map form of Labels.
type ownLabels struct {
	Column  labelNames   `yaml:"column"`
	Missing prepare.Fill `yaml:"missing,omitempty"`
}

// UnmarshalYAML reads one name, a list of names or a map.
func (l *Labels) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind != yaml.MappingNode {
		return (*labelNames)(&l.Columns).UnmarshalYAML(n)
	}
	var own ownLabels
	if err := strictyaml.Nested(n, &own); err != nil {
		return err
	}
	l.Columns = own.Column
	switch {
	case len(l.columns()) == 0:
		return &yaml.TypeError{Errors: []string{fmt.Sprintf("line %d: \"label\" has no \"column\"; add \"column:\" and the name of the column, or write \"label: none\"", n.Line)}}
	case own.Missing == prepare.FillDropRow:
		l.Needed = slices.Clone(l.Columns)
	case own.Missing != "" && own.Missing != prepare.FillError:
		return &yaml.TypeError{Errors: []string{fmt.Sprintf("line %d: \"missing\" is %q; write \"drop-row\" to leave out rows without a label, or \"error\" to refuse them", n.Line, own.Missing)}}
	}
	return nil
}

// labelNames reads and writes a name or a list of names.
type labelNames []string

// UnmarshalYAML reads one name or a list of names.
func (l *labelNames) UnmarshalYAML(n *yaml.Node) error {
	var list []string
	switch n.Kind {
	case yaml.ScalarNode:
		list = []string{n.Value}
	case yaml.SequenceNode:
		for _, item := range n.Content {
			if item.Kind != yaml.ScalarNode {
				return l.refuse(item)
			}
			list = append(list, item.Value)
		}
	default:
		return l.refuse(n)
	}
	*l = list
	return nil
}

func (labelNames) refuse(n *yaml.Node) error {
	return &yaml.TypeError{Errors: []string{fmt.Sprintf("line %d: \"label\" is neither a name nor a list of names; write the name of a column, a list of names, or \"none\"", n.Line)}}
}

// MarshalYAML writes a single name as a text, and several names as a list.
func (l labelNames) MarshalYAML() (any, error) {
	if len(l) == 1 {
		return l[0], nil
	}
	return []string(l), nil
}

// MarshalYAML writes the map form only if rows need a label.
func (l Labels) MarshalYAML() (any, error) {
	if l.Needed != nil {
		return ownLabels{l.Columns, prepare.FillDropRow}, nil
	}
	return labelNames(l.Columns), nil
}

// IsZero reports whether the entry describes no labels.
func (l Labels) IsZero() bool { return l.Columns == nil }

// columns returns the label columns; it leaves out the word none.
func (l Labels) columns() []string {
	if len(l.Columns) == 1 && l.Columns[0] == job.NoLabel {
		return nil
	}
	return l.Columns
}

// check returns an error if the entry contradicts itself or has an unknown value.
func (s Source) check(known job.Names) error {
	switch {
	case s.Group != "" && s.Width > 0:
		return errors.New("the setting \"group\" requires columns with names, but \"features\" is for columns without names; remove \"features\"")
	case len(s.CutDates) > 0 && s.Cut == "":
		return errors.New("the setting \"cut_dates\" requires the setting \"cut\", which names the column of the dates; add \"cut\", or remove \"cut_dates\"")
	case s.Editions != "" && s.Editions != weekly:
		return fmt.Errorf("the setting \"editions\" is %q; write \"weekly\", or remove the setting and use mercer data freeze", s.Editions)
	case s.Weight != "" && s.Width > 0:
		return errors.New("the setting \"weight\" requires columns with names, but \"features\" is for columns without names; remove \"features\"")
	}
	used := make(map[string]string)
	take := func(what, column string) error {
		if other, taken := used[column]; taken {
			return fmt.Errorf("column %q has two uses, %s and %s; name it once", column, other, what)
		}
		used[column] = what
		return nil
	}
	if s.Cut != "" && (slices.Contains(s.ID.Columns, s.Cut) || s.Cut == s.Group || slices.Contains(s.Label.Columns, s.Cut)) {
		return fmt.Errorf("column %q is the cut column, and also a label, the id or the group; name another column as cut", s.Cut)
	}
	for _, list := range []struct {
		what  string
		names []string
	}{{"a label", s.Label.columns()}, {"the id", s.ID.Columns}, {"the group", []string{s.Group}}, {"the weight", []string{s.Weight}}, {"a feature", s.Columns.Offered}} {
		for _, name := range list.names {
			if name == "" && (list.what == "the group" || list.what == "the weight") {
				continue
			}
			if name == "" || len(s.Label.Columns) > 1 && name == job.NoLabel {
				return fmt.Errorf("%q is not a column name, so it cannot be %s; name a column", name, list.what)
			}
			if err := take(list.what, name); err != nil {
				return err
			}
		}
	}
	if err := s.checkMapping(); err != nil {
		return err
	}
	for _, from := range s.CutDates {
		if _, err := dataset.ParseBound(from); err != nil {
			return fmt.Errorf("cut_dates: %w", err)
		}
	}
	if s.Width != 0 && s.Given() {
		return errors.New("the columns of this table have names, but the setting \"features\" is for columns without names; remove \"features\"")
	}
	if err := s.Origin.Check(s.Path, s.CSV); err != nil {
		return err
	}
	if s.Policy != nil {
		return s.Policy.Validate(known)
	}
	return nil
}

// checkMapping returns an error if the description of the file contradicts itself, or if a setting
// has the file's name of a column in place of the federation's.
func (s Source) checkMapping() error {
	m := s.mapping()
	if err := m.Check(); err != nil {
		return err
	}
	for _, name := range slices.Concat(s.Label.columns(), []string{s.Group, s.Cut, s.Weight}) {
		if as, renamed := m.RenamedTo(name); renamed {
			return fmt.Errorf("one of \"label\", \"group\", \"cut\" and \"weight\" names a column that \"columns\" renames: %q to %q; write %q", name, as, as)
		}
	}
	if s.ID.IsZero() {
		return nil
	}
	return s.ID.Check()
}

// Warnings lists settings of an earlier version, and entries of the catalogue that are probably
// mistakes.
func (c *Config) Warnings() []string {
	list := slices.Clone(c.earlier)
	for _, name := range slices.Sorted(maps.Keys(c.Data)) {
		list = append(list, c.Data[name].warnings(name, c.policyOf(c.Data[name]))...)
	}
	return list
}

func (s Source) warnings(name string, policy party.Policy) (list []string) {
	if s.Label.IsZero() {
		list = append(list, name+" has no \"label\" and can be used without labels only")
	}
	if len(policy.Protocols) == 0 {
		list = append(list, fmt.Sprintf("no job is allowed to use %s; list the allowed protocols in data.%s.policy.protocols", name, name))
	}
	return list
}

// pickColumns returns the columns of the table that a job uses. It refuses a job that requests
// something the entry does not offer. The refusal tells peers neither what the entry offers nor
// what the table holds.
func (s Source) pickColumns(name string, j job.Data, self string) (catalogue.Columns, error) {
	c := catalogue.Columns{Label: job.NoLabel, ID: s.ID.Name(), Gaps: j.Spread, Classes: j.Accepted()}
	label, err := s.label(name, j.Label)
	if err != nil {
		return c, err
	}
	if label != "" {
		c.Label = label
	}
	if j.Unlabelled == prepare.FillDropRow && !slices.Contains(s.Label.Needed, label) {
		return c, unoffered("the job leaves out rows without a label, but the catalogue entry of %s does not; remove \"missing\" from the job's label, or write \"label: {column: %s, missing: drop-row}\" in the entry", name, dataset.Quote(label))
	}
	if j.ID != "" && !s.ID.Names(j.ID, s.Columns.Theirs) {
		return c, unoffered("the job takes ids from column %q of %s, but its catalogue entry says %s", j.ID, name, orNothing("id", s.ID.Name()))
	}
	for _, other := range s.Label.columns() {
		if other != label {
			c.Aside = append(c.Aside, other)
		}
	}
	if cut := j.Test.Column; cut != "" && cut != s.Cut {
		return c, unoffered("the job holds rows out by column %q of %s, but its catalogue entry says %s", cut, name, orNothing("cut", s.Cut))
	}
	if j.Group != "" && j.Group != s.Group {
		return c, unoffered("the job keeps rows of one %q together, but the catalogue entry of %s says %s", j.Group, name, orNothing("group", s.Group))
	}
	if j.Weight != "" && j.Weight != s.Weight {
		return c, unoffered("the job weights rows by column %q of %s, but its catalogue entry says %s", j.Weight, name, orNothing("weight", s.Weight))
	}
	if s.Cut != "" && s.Columns.Offered == nil {
		c.Aside = append(c.Aside, s.Cut)
	}
	if s.Weight != "" && s.Weight != j.Weight {
		c.Aside = append(c.Aside, s.Weight)
	}
	if c.Width, err = s.width(name, j.Features); err != nil {
		return c, err
	}
	c.Features, err = s.features(name, j, self)
	return c, err
}

// width returns the number of features of the table, or 0 if neither the job nor the entry sets it.
func (s Source) width(name string, asked int) (int, error) {
	if asked > 0 && s.Width > 0 && asked != s.Width {
		return 0, unoffered("the job says that there are %d features, but the catalogue entry of %s says %d", asked, name, s.Width)
	}
	return max(asked, s.Width), nil
}

// label returns the column that a job uses as labels, or "" if the job uses no labels.
func (s Source) label(name, asked string) (string, error) {
	offered := s.Label.columns()
	switch {
	case asked == job.NoLabel:
		return "", nil
	case asked == "" && len(offered) == 1:
		return offered[0], nil
	case asked == "" && len(offered) > 1:
		return "", unoffered("the job names no label, but the catalogue entry of %s has several labels; name one in the job", name)
	case asked == "":
		return "", unoffered("the job needs labels, but the catalogue entry of %s has no \"label:\"", name)
	case !slices.Contains(offered, asked):
		return "", unoffered("the job takes labels from column %q of %s, but its catalogue entry says %s", asked, name, orNothing("label", strings.Join(offered, ", ")))
	}
	return asked, nil
}

// features returns the feature columns that the entry lists, or nil if it lists none. It refuses a job by
// columns if the entry does not list each column that the job names for this party. If the entry has a list,
// it also refuses a job of any kind whose schema has a column that is not in the list.
func (s Source) features(name string, d job.Data, self string) ([]string, error) {
	asked := (&job.Job{Data: d}).Columns(self)
	if s.Columns.Offered != nil {
		asked = slices.Concat(asked, d.Reads().Names())
	}
	for _, column := range asked {
		if !slices.Contains(s.Columns.Offered, column) {
			return nil, unoffered("the job uses column %q of %s, but its catalogue entry says %s", column, name, orNothing("columns", strings.Join(s.Columns.Offered, ", ")))
		}
	}
	return s.Columns.Offered, nil
}

func orNothing(key, what string) string {
	if what == "" {
		return fmt.Sprintf(`no "%s:"`, key)
	}
	return fmt.Sprintf(`"%s: %s"`, key, what)
}

// unoffered returns an error that refuses a job because the catalogue does not offer what the job
// requests. Peers learn no details, because the columns of a table are private.
func unoffered(format string, args ...any) error { return fault.Offer.Errorf(format, args...) }

// policy returns the operator's policy for a table of the catalogue.
func (c *Config) policy(h Home, name string) (party.Policy, error) {
	s, err := c.source(h, name)
	if err != nil {
		return party.Policy{}, err
	}
	return c.policyOf(s), nil
}

// policyOf returns the policy of an entry. If the entry has no policy, it returns the policy of the
// home.
func (c *Config) policyOf(s Source) party.Policy {
	if s.Policy != nil {
		return *s.Policy
	}
	return c.Policy
}
