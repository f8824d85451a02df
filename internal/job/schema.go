package job

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/dataset/prepare"
	"github.com/mercer-fl/mercer/internal/job/section"
)

// Prepares reports whether the job has a schema, by which the parties prepare their rows.
func (d *Data) Prepares() bool { return d.Schema != nil }

// finishSchema refuses a schema together with the keys that it replaces, a schema that contradicts itself or
// the other keys, and a scaling by ranges without a schema.
func (d *Data) finishSchema(in *section.Place) error {
	if d.Schema == nil {
		if d.Scale == Range {
			return in.Refuse("scale", "\"scale: range\" needs the ranges of a schema, and there is none; add \"schema\", or use \"scale: minmax\"")
		}
		return nil
	}
	switch {
	case d.Partition.By == Devices:
		return in.Refuse("schema", "\"schema\" is for parties with tables, not for devices; remove it")
	case in.Given("features"):
		return in.Refuse("features", "the schema lists the features; remove \"features\"")
	}
	for _, name := range []string{d.Label, d.ID} {
		if name != "" && d.ownedSchema(d.Schema).Index(name) >= 0 {
			return in.Refuse("schema", "\"schema\" describes %s, which is the label or the id; remove the column from \"schema\"", section.Quote(name))
		}
	}
	if err := d.Schema.Check(); err != nil {
		return in.Refuse("schema", "%v", err)
	}
	if d.Partition.By == Columns {
		return d.checkOwners(in)
	}
	return d.checkScaling(in)
}

// checkScaling refuses a schema in which a column lacks the range that the scaling needs.
func (d *Data) checkScaling(in *section.Place) error {
	if err := d.Schema.CheckScaling(d.Fitted()); err != nil {
		return d.refuseColumns(in, err)
	}
	return nil
}

// refuseColumns returns an error about the columns at the key that describes them.
func (d *Data) refuseColumns(in *section.Place, err error) error {
	switch {
	case !in.Given("dictionary"):
		return in.Refuse("schema", "%v", err)
	case d.Dictionary == nil || d.Dictionary.Name == "":
		return in.Refuse("dictionary.columns", "%v", err)
	}
	return in.Refuse("dictionary", "dictionary %s: %v", section.Quote(d.Dictionary.Name), err)
}

// planSums refuses a schema whose sums the parties cannot compute, before any table is read. A
// process that holds all rows needs no sums, and neither does the owner of a whole column.
func (d *Data) planSums(in *section.Place) error {
	if d.Schema == nil || d.Partition.By == Columns {
		return nil
	}
	if _, err := prepare.NewPlan(d.Schema, d.Fitted()); err != nil {
		return d.refuseColumns(in, err)
	}
	return nil
}

// checkOwners refuses columns without a party. If parties hold different columns, each name must be
// PARTY.COLUMN.
func (d *Data) checkOwners(in *section.Place) error {
	parties := (&Job{Data: *d}).Parties()
	for _, c := range d.Schema {
		party, column, found := strings.Cut(c.Name, ".")
		if !found || column == "" || parties != nil && !slices.Contains(parties, party) {
			return in.Refuse("schema", "schema describes %s, but its names must be PARTY.COLUMN; write the name of a party before the column", section.Quote(c.Name))
		}
	}
	for _, party := range parties {
		if d.SchemaOf(party) == nil {
			return in.Refuse("schema", "the schema describes no column of party %s; describe one", party)
		}
	}
	if d.Partition.Columns != nil {
		return in.Refuse("partition", "\"partition\" lists columns, but the schema names them already; remove \"columns\" from \"partition\"")
	}
	return d.checkScaling(in)
}

// SchemaOf returns the schema of one party's own table, with the table's column names.
func (d *Data) SchemaOf(party string) prepare.Schema { return d.partOfSchema(party, d.Schema) }

// partOfSchema returns a party's part of a schema, with the column names of the party's table.
func (d *Data) partOfSchema(party string, s prepare.Schema) prepare.Schema {
	if d.Partition.By != Columns {
		return s
	}
	var own prepare.Schema
	for _, c := range s {
		if holder, column, _ := strings.Cut(c.Name, "."); holder == party {
			c.Name = column
			own = append(own, c)
		}
	}
	return own
}

// SchemaText returns the canonical text of the schema of one party's own table; "" without a
// schema.
func (d *Data) SchemaText(party string) string {
	own := d.SchemaOf(party)
	if own == nil {
		return ""
	}
	b, err := yaml.Marshal(schemaMap{&own}.Encode())
	if err != nil {
		panic(fmt.Sprintf("job: %v", err)) // encoding scalars and maps into memory cannot fail
	}
	return string(b)
}

// ownedSchema returns a schema of all parties' columns, with the column names of their tables.
func (d *Data) ownedSchema(s prepare.Schema) prepare.Schema {
	if d.Partition.By != Columns {
		return s
	}
	var all prepare.Schema
	for _, c := range s {
		_, c.Name, _ = strings.Cut(c.Name, ".")
		all = append(all, c)
	}
	return all
}

// Shared returns the data of the single table that a partition by columns divides.
func (d *Data) Shared() Data {
	all := *d
	all.Schema, all.Read = d.ownedSchema(d.Schema), d.ownedSchema(d.Read)
	return all
}

// Own returns the data with the schema limited to the columns of one party's own table.
func (d *Data) Own(party string) Data {
	own := *d
	own.Schema, own.Read = d.SchemaOf(party), d.partOfSchema(party, d.Read)
	return own
}

// Table returns the description by which package prepare reads a source. It is for a process that
// has all parties' files.
func (d *Data) Table(s Source) prepare.Table {
	t := prepare.Table{Name: s.File, Schema: d.Reads(), Mapping: s.Mapping, Gaps: d.Spread, Classes: d.Accepted(), Group: d.Group, Cut: d.Test.Column, Weight: d.Weight, Weights: d.Weights}
	if s.Given() {
		t.Name, t.Answer = s.Name(), s.SQL != nil
	}
	if d.Label != NoLabel {
		t.Label = d.Label
	}
	if d.Unlabelled == prepare.FillDropRow && t.Label != "" {
		t.Labelled = []string{t.Label}
	}
	t.ID = s.ID.IDRule
	if d.ID != "" && s.ID.IsZero() {
		t.ID.Columns = []string{d.ID}
	}
	return t
}

// Reads returns the schema with which a party reads its table. The schema has all columns of a
// dictionary, so that the same rows are left out whatever columns the job picks.
func (d *Data) Reads() prepare.Schema {
	if d.Read != nil {
		return d.Read
	}
	return d.Schema
}

// Pick returns a table with the columns that the job picks. The table was read with all columns of
// the dictionary.
func (d *Data) Pick(set *dataset.Set) *dataset.Set {
	if d.Read == nil || slices.Equal(d.Read.Names(), d.Schema.Names()) {
		return set
	}
	places := make([]int, len(d.Schema))
	for i, c := range d.Schema {
		places[i] = d.Read.Index(c.Name)
	}
	return set.SelectColumns(places)
}

// Fitted returns the scaling that the preparation with a schema applies. This scaling uses sums over the
// training rows, or the schema's ranges. Unscaled means that the preparation does not scale.
func (d *Data) Fitted() prepare.Scaling {
	switch {
	case d.Schema == nil:
		return prepare.Unscaled
	case d.Scale == Standard:
		return prepare.Standard
	case d.Scale == Range:
		return prepare.Ranged
	}
	return prepare.Unscaled
}

// FitsSchema reports whether the schema of a job by rows requires values that the parties compute together
// from their rows. Such values belong to fills, categories or a scaling.
func (d *Data) FitsSchema() bool {
	if d.Schema == nil || d.Partition.By != Rows {
		return false
	}
	plan, err := prepare.NewPlan(d.Schema, d.Fitted())
	return err == nil && plan.Fits()
}

// Fits reports whether the preparation of a job by rows needs values that the parties compute together from
// their rows. Such values belong to a schema's fills and categories, or to a scaling.
func (d *Data) Fits() bool { return d.FitsSchema() || d.ScalesTogether() }

// ScalesTogether reports whether the parties of a job by rows send ranges or means to a leader, to scale
// columns.
func (d *Data) ScalesTogether() bool {
	if d.Scale == None || d.Fitted() != prepare.Unscaled {
		return false
	}
	return d.Schema == nil || slices.ContainsFunc(d.Schema, prepare.Column.Scaled)
}

// schemaMap reads and writes the map from column to description. It keeps the order of the file,
// because prepared columns have the same order.
type schemaMap struct{ dst *prepare.Schema }

func (v schemaMap) Decode(key string, n *yaml.Node) error {
	return eachColumn(key, n, v.dst, func(c *prepare.Column) section.Value { return columnOf{c} })
}

// eachColumn reads a map from column names to descriptions. The function describe returns the value
// that reads a column's description.
func eachColumn(key string, n *yaml.Node, dst *prepare.Schema, describe func(*prepare.Column) section.Value) error {
	if n.Kind == yaml.MappingNode && len(n.Content) == 0 {
		return section.At(n, "%s has no column; describe at least one, or remove the key", key)
	}
	if n.Kind != yaml.MappingNode {
		return section.At(n, "%s is %s; write a map such as {age: {range: [0, 120]}}", key, section.Describe(n))
	}
	if len(n.Content)/2 > prepare.MaxColumns {
		return section.At(n, "%s has more than %d columns; describe fewer", key, prepare.MaxColumns)
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		c := prepare.Column{}
		if err := (section.Text{Dst: &c.Name}).Decode("the name of a column", n.Content[i]); err != nil {
			return err
		}
		if dst.Index(c.Name) >= 0 {
			return section.At(n.Content[i], "%s describes %s twice; keep one", key, section.Quote(c.Name))
		}
		if err := describe(&c).Decode("column "+section.Quote(c.Name), n.Content[i+1]); err != nil {
			return err
		}
		*dst = append(*dst, c)
	}
	return nil
}

func (v schemaMap) Encode() *yaml.Node {
	if *v.dst == nil {
		return nil
	}
	m := section.Map()
	for i := range *v.dst {
		c := &(*v.dst)[i]
		m.Content = append(m.Content, section.Word(c.Name), columnOf{c}.Encode())
	}
	return m
}

func (v schemaMap) Form() string { return "a map such as {age: {range: [0, 120]}}" }

// Each returns the declaration of one column, which the documentation shows.
func (v schemaMap) Each() *section.Section { return columnOf{&prepare.Column{}}.Section() }

// columnOf reads and writes the description of one column.
type columnOf struct{ *prepare.Column }

func (c columnOf) Decode(key string, n *yaml.Node) error { return c.Section().Decode(key, n) }

func (c columnOf) Encode() *yaml.Node { return c.Section().Encode() }

func (c columnOf) Form() string { return c.Section().Form() }

// Section declares the keys of a column.
func (c columnOf) Section() *section.Section {
	return &section.Section{Name: "a column of schema", Fields: []section.Field{
		{Key: "type", Value: section.Choice[prepare.Type]{Noun: "type", Dst: &c.Type, Known: prepare.Types()}, Default: "number",
			Doc: "The type of the cells."},
		{Key: "unit", Value: section.Text{Dst: &c.Unit}, Else: "none", Doc: "The unit of the numbers. If a party's table has another unit, its catalogue gives the factor."},
		{Key: "range", Value: section.Interval{Dst: &c.Range}, Else: "none; [1, 12] beside as: month, [0, 6] beside as: weekday", Doc: "The least and the greatest possible number, from general knowledge and not from the data."},
		{Key: "outside", Value: section.Choice[prepare.Outside]{Noun: "choice", Dst: &c.Outside, Known: []prepare.Outside{prepare.OutsideRefuse, prepare.OutsideMissing, prepare.OutsideClip}},
			Default: "refuse", Doc: "The treatment of a number outside the range: refuse it, count it as a gap (missing), or move it to the end of the range (clip)."},
		{Key: "missing", Value: fillOf(c), Default: "error",
			Doc: "The treatment of gaps: refuse them (error), fill them with the mean, the median, the most frequent value or a given value, make them a category of their own (category), or leave the row out (drop-row)."},
		{Key: "indicator", Value: section.Yes{Dst: &c.Indicator}, Default: "false", Doc: "Adds a column that is 1 in rows with a gap, and 0 in others."},
		{Key: "transform", Value: section.Choice[prepare.Transform]{Noun: "transform", Dst: &c.Transform, Known: []prepare.Transform{prepare.Log, prepare.Log1p, prepare.Sqrt}},
			Else: "none", Doc: "A function of the numbers, after gaps are filled."},
		{Key: "categories", Value: categoriesOf(c), Else: "none", Doc: "The categories, or agree: the parties then agree on the values that at least ten training rows of some party have."},
		{Key: "unknown", Value: section.Choice[prepare.Unknown]{Noun: "choice", Dst: &c.Unknown, Known: []prepare.Unknown{prepare.UnknownError, prepare.UnknownIgnore, prepare.UnknownOther}},
			Else: "error; other beside categories: agree", Doc: "The treatment of other words: refuse them (error), write 0 in all columns (ignore), or make them a category called other."},
		{Key: "ordered", Value: section.Yes{Dst: &c.Ordered}, Default: "false", Doc: "Makes one column of 0, 1, 2, ... in the order of the categories."},
		{Key: "true", Value: section.Words{Dst: &c.True, Most: prepare.MaxCategories, Example: `[yes, "1"]`}, Else: `[true, yes, "1"] for booleans`, Doc: "The words for true."},
		{Key: "false", Value: section.Words{Dst: &c.False, Most: prepare.MaxCategories, Example: `[no, "0"]`}, Else: `[false, no, "0"] for booleans`, Doc: "The words for false."},
		{Key: "format", Value: section.Text{Dst: &c.Format}, Else: "none", Doc: "The format of dates, as for strptime. %b and %B read names of months in seven languages."},
		{Key: "as", Value: section.Choice[prepare.Part]{Noun: "part", Dst: &c.As, Known: []prepare.Part{prepare.Year, prepare.Month, prepare.Weekday, prepare.Days}},
			Else: "none", Doc: "The number to take from a date. Weekday 0 is Monday."},
		{Key: "since", Value: section.Text{Dst: &c.Since}, Else: "none", Doc: "The day from which days are counted, such as 2020-01-01."},
	}, Finish: func(in *section.Place) error {
		if err := c.Check(); err != nil {
			return in.Refuse("", "column %s: %v", section.Quote(c.Name), err)
		}
		return nil
	}}
}

// fillOf reads and writes the key "missing": a word for a way to fill gaps, or the value that fills
// them.
type fillOf struct{ *prepare.Column }

// fillWords lists the words of the key "missing"; any other text, or such a word in quotes, is a value that
// fills gaps.
var fillWords = []prepare.Fill{prepare.FillError, prepare.FillMean, prepare.FillMedian, prepare.FillMostFrequent, prepare.FillCategory, prepare.FillDropRow}

func (f fillOf) Decode(key string, n *yaml.Node) error {
	var word string
	if err := (section.Text{Dst: &word}).Decode(key, n); err != nil {
		return err
	}
	for _, fill := range fillWords {
		if word == string(fill) && n.Style == 0 {
			f.Missing = fill
			return nil
		}
	}
	f.Missing, f.Value = prepare.FillValue, word
	return nil
}

func (f fillOf) Encode() *yaml.Node {
	switch {
	case f.Missing == prepare.FillError:
		return nil
	case f.Missing != prepare.FillValue:
		return section.Word(string(f.Missing))
	}
	if _, err := strconv.ParseFloat(f.Value, 64); err == nil {
		return section.Bare(f.Value)
	}
	n := section.Word(f.Value)
	for _, fill := range fillWords {
		if f.Value == string(fill) {
			n.Style = yaml.DoubleQuotedStyle // without quotes, a reader would take the category for a way to fill gaps, such as "mean"
		}
	}
	return n
}

func (f fillOf) Form() string {
	return "one of error, mean, median, most-frequent, category, drop-row, or a value"
}

// categoriesOf reads and writes the key "categories": a list of categories, or the word "agree".
type categoriesOf struct{ *prepare.Column }

const agree = "agree"

func (v categoriesOf) words() section.Words {
	return section.Words{Dst: &v.Categories, Most: prepare.MaxCategories, Example: "[F, M]"}
}

func (v categoriesOf) Decode(key string, n *yaml.Node) error {
	if n.Kind == yaml.ScalarNode && n.Value == agree {
		v.Agree = true
		return nil
	}
	return v.words().Decode(key, n)
}

func (v categoriesOf) Encode() *yaml.Node {
	if v.Agree {
		return section.Word(agree)
	}
	return v.words().Encode()
}

func (v categoriesOf) Form() string { return "a list such as [F, M], or agree" }
