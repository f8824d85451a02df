package job

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/mercer-fl/mercer/dataset/prepare"
	"github.com/mercer-fl/mercer/internal/job/section"
)

// Dictionary is the data dictionary of a federation. It describes the columns and the rows that
// take part. Every operator approves it by its hash. Jobs name it, and can pick columns, a label and a
// weight. In simulate, a job can contain its own dictionary, which nobody approves.
type Dictionary struct {
	Name     string            // "" if a job file contains the dictionary itself
	Columns  prepare.Schema    // all columns, in the order of the file; nil means that all of the table's columns are numbers without gaps
	Texts    map[string]string // meaning of each column, label and weight, as a text for people
	Complete []string          // columns in which a row must have a value to take part in jobs
	Labels   []LabelColumn     // columns from which a job picks its label
	Weights  []WeightColumn    // columns from which a job picks the rows' weights
	Fraction float64           // share of the rows that is held out by each job that holds out a fraction
	Leader   string            // the party that learns the sums for preparing the columns; "" for a job's first party
}

// LabelColumn describes a column of labels.
type LabelColumn struct {
	Name    string
	Classes []string      // all classes, in order; nil for the classes that occur
	Merged  []MergedClass // merged classes
	Titles  Titles        // texts that explain classes to people; nil for none
	Range   [2]float64    // least and greatest value of a numeric label; zero for any
}

// DictionaryKind is the value of the key kind in a dictionary's file.
const DictionaryKind = "Dictionary"

// ParseDictionary reads a dictionary's file. Every error is an [*Error] and names a line.
func ParseDictionary(name string, data []byte) (*Dictionary, error) {
	d := new(Dictionary)
	root, err := document(data)
	if err == nil {
		err = d.file().Decode("", root)
	}
	if err != nil {
		return nil, inFile(name, err)
	}
	return d, nil
}

// Encode returns the canonical file, from which [ParseDictionary] reads d. Equal dictionaries have
// equal bytes.
func (d *Dictionary) Encode() []byte { return canonical(d.file()) }

// Hash returns the SHA-256 of the canonical file, in hexadecimal digits. Operators approve it.
func (d *Dictionary) Hash() string { return hexHash(d.Encode()) }

// Title returns the dictionary's name.
func (d *Dictionary) Title() string { return d.Name }

// Reference returns the dictionary's reference in a job's encoding, NAME@HASH.
func (d *Dictionary) Reference() string { return d.Name + "@" + d.Hash() }

// DictionaryFile returns the declaration of a dictionary's file, which the documentation shows.
func DictionaryFile() *section.Section { return new(Dictionary).file() }

func (d *Dictionary) file() *section.Section {
	return &section.Section{Name: "the dictionary", Fields: []section.Field{
		{Key: "apiVersion", Value: section.Fixed(APIVersion), Need: `write "apiVersion: ` + APIVersion + `" as the first line`, Doc: "The version of the format."},
		{Key: "kind", Value: section.Fixed(DictionaryKind), Need: `write "kind: ` + DictionaryKind + `"`, Doc: "The type of this file."},
		{Key: "metadata", Value: &section.Section{Name: "metadata", Fields: []section.Field{
			{Key: "name", Value: section.DNSLabel{Dst: &d.Name}, Need: "add \"name\" with a short name of lower-case letters, digits and dashes",
				Doc: "The dictionary's name in jobs."},
		}}, Need: "add \"metadata: {name: cohort}\"", Doc: "The name of the dictionary."},
		{Key: "spec", Value: d.Section(), Need: "add \"spec\" with \"columns\"", Doc: "The dictionary's columns, labels and rules."},
	}}
}

// Section declares the keys under spec in a dictionary's file.
func (d *Dictionary) Section() *section.Section {
	return &section.Section{Name: "dictionary", Fields: []section.Field{
		{Key: "columns", Value: dictionaryColumns{d}, Else: "every column of a table is a number without gaps, and jobs use all",
			Doc: "All columns that jobs may use, under the federation's names, and how their cells become numbers."},
		{Key: "complete", Value: section.Words{Dst: &d.Complete, Most: prepare.MaxColumns, Example: "[age]"}, Else: "none",
			Doc: "Columns that every row needs: a row with a gap in one of them is left out of all jobs."},
		{Key: "labels", Value: labelColumns{d}, Else: "none; jobs without labels only",
			Doc: "The columns that a job can take as its label, and their classes."},
		{Key: "weights", Value: weightColumns{d}, Else: "none; in all jobs each row counts once",
			Doc: "The columns that a job can take as the weights of its rows, and their ranges."},
		{Key: "fraction", Value: section.Number{Dst: &d.Fraction}, Default: "0.25", Doc: "The fraction of the rows that each party holds out as test, the same in all jobs."},
		{Key: "leader", Value: section.Text{Dst: &d.Leader}, Else: "the first party of a job",
			Doc: "The party that learns the sums that prepare the columns. Each job must list it first."},
	}, Finish: d.finish}
}

// finish checks the dictionary, and sets drop-row for the gaps of the complete columns.
func (d *Dictionary) finish(in *section.Place) error {
	for _, c := range d.Columns {
		if c.Missing == prepare.FillDropRow {
			return in.Refuse("columns", "column %s has \"missing: drop-row\", which is not allowed in a dictionary; remove it, and write \"complete: [%s]\"", section.Quote(c.Name), c.Name)
		}
	}
	for _, name := range d.Complete {
		at := d.Columns.Index(name)
		switch {
		case at < 0:
			return in.Refuse("complete", "\"complete\" names %s, which \"columns\" does not describe; add the column to \"columns\"", section.Quote(name))
		case d.Columns[at].Missing != prepare.FillError:
			return in.Refuse("complete", "\"complete\" lists %s, but the column's key \"missing\" fills the gaps; remove that key, or remove the column from \"complete\"", section.Quote(name))
		}
		d.Columns[at].Missing = prepare.FillDropRow
		if err := d.Columns[at].Check(); err != nil {
			return in.Refuse("complete", "column %s: %v", section.Quote(name), err)
		}
	}
	if steps := math.Round(fractionSteps * d.Fraction); d.Fraction != steps/fractionSteps || steps < 1 || steps > mostSteps {
		return in.Refuse("fraction", "fraction is %g; write a multiple of 0.05 from 0.05 to 0.5, such as 0.25", d.Fraction)
	}
	for _, l := range d.Labels {
		if slices.Contains(d.Complete, l.Name) || d.Columns.Index(l.Name) >= 0 {
			return in.Refuse("labels", "%s is in both \"labels\" and \"columns\"; remove it from one of the two", section.Quote(l.Name))
		}
	}
	if err := d.finishWeights(in); err != nil {
		return err
	}
	if d.Columns == nil {
		return nil
	}
	if err := d.Columns.Check(); err != nil {
		return in.Refuse("columns", "%v", err)
	}
	return nil
}

// OfNumbers returns the implied dictionary of a table without a dictionary, in which every column
// is a number without gaps. An operator who allows jobs on the table thereby approves this
// dictionary.
func OfNumbers() *Dictionary { return &Dictionary{Name: "numbers", Fraction: defaultFraction} }

// IsNumbers reports whether the dictionary equals [OfNumbers].
func (d *Dictionary) IsNumbers() bool { return d.Hash() == OfNumbers().Hash() }

// Undescribed returns the default description of a column, a number without gaps.
func Undescribed(name string) prepare.Column {
	c := prepare.Column{Name: name}
	if err := (columnOf{&c}).Section().Decode("columns", section.Map()); err != nil {
		panic(fmt.Sprintf("job: %v", err)) // an empty map is valid, because every key has a default
	}
	return c
}

// Of returns the data of a job at one party, with all columns of the dictionary and without a
// label. If column names are PARTY.COLUMN, the data have only the party's own columns.
func (d *Dictionary) Of(party string) Data {
	data := Data{Dictionary: d, Label: NoLabel, Schema: d.Columns, Read: d.Columns, Test: Test{Fraction: d.Fraction}}
	by := data
	by.Partition.By = Columns
	if own := by.partOfSchema(party, d.Columns); own != nil {
		data.Schema, data.Read = own, own
	}
	return data
}

// Changes lists the differences between d and the newer dictionary in all keys under spec, one line for
// each.
func (d *Dictionary) Changes(newer *Dictionary) (lines []string) {
	then, now := d.statements(), newer.statements()
	for _, what := range slices.Sorted(maps.Keys(then)) {
		if is, stays := now[what]; !stays {
			lines = append(lines, what+" falls away: "+then[what])
		} else if is != then[what] {
			lines = append(lines, fmt.Sprintf("%s was %s and is %s", what, then[what], is))
		}
	}
	for _, what := range slices.Sorted(maps.Keys(now)) {
		if _, was := then[what]; !was {
			lines = append(lines, what+" is new: "+now[what])
		}
	}
	return lines
}

// statements returns every value of the dictionary with a name such as "column age: range".
func (d *Dictionary) statements() map[string]string {
	all := make(map[string]string)
	eachKey(d.Section().Encode(), func(key string, value *yaml.Node) {
		if value.Kind != yaml.MappingNode {
			all[key] = flowText(value)
			return
		}
		eachKey(value, func(name string, value *yaml.Node) {
			what := strings.TrimSuffix(key, "s") + " " + name // gives "column age"
			if len(value.Content) == 0 {
				all[what] = flowText(value)
			}
			eachKey(value, func(key string, value *yaml.Node) { all[what+": "+key] = flowText(value) })
		})
	})
	return all
}

// eachKey calls visit for each key of a map.
func eachKey(m *yaml.Node, visit func(key string, value *yaml.Node)) {
	for i := 0; i+1 < len(m.Content); i += 2 {
		visit(m.Content[i].Value, m.Content[i+1])
	}
}

// flowText returns a YAML value as one line of text.
func flowText(n *yaml.Node) string {
	n.Style = yaml.FlowStyle
	b, err := yaml.Marshal(n)
	if err != nil {
		panic(fmt.Sprintf("job: %v", err)) // encoding scalars and maps into memory cannot fail
	}
	return strings.TrimSpace(string(b))
}

// label returns the description of the label column with a name.
func (d *Dictionary) label(name string) (LabelColumn, bool) {
	for _, l := range d.Labels {
		if l.Name == name {
			return l, true
		}
	}
	return LabelColumn{}, false
}

// labelNames lists the names of the label columns.
func (d *Dictionary) labelNames() []string {
	names := make([]string, len(d.Labels))
	for i, l := range d.Labels {
		names[i] = l.Name
	}
	return names
}

// storeText stores the text that explains a column to people.
func (d *Dictionary) storeText(column, text string) {
	if text == "" {
		return
	}
	if d.Texts == nil {
		d.Texts = make(map[string]string)
	}
	d.Texts[column] = text
}

// dictionaryColumns reads and writes a dictionary's map from column to description. It keeps the
// order of the file.
type dictionaryColumns struct{ *Dictionary }

func (v dictionaryColumns) Decode(key string, n *yaml.Node) error {
	return eachColumn(key, n, &v.Columns, func(c *prepare.Column) section.Value {
		return describedColumn{columnOf{c}, v.Dictionary}
	})
}

func (v dictionaryColumns) Encode() *yaml.Node {
	if v.Columns == nil {
		return nil
	}
	m := section.Map()
	for _, c := range v.Columns {
		if slices.Contains(v.Complete, c.Name) {
			c.Missing = prepare.FillError // the key "complete" lists this column, so drop-row is not written
		}
		m.Content = append(m.Content, section.Word(c.Name), orEmpty(describedColumn{columnOf{&c}, v.Dictionary}.Encode()))
	}
	return m
}

func (v dictionaryColumns) Form() string { return schemaMap{}.Form() }

// Each declares the keys of one column, so that the documentation can list them.
func (v dictionaryColumns) Each() *section.Section {
	return describedColumn{columnOf{&prepare.Column{}}, new(Dictionary)}.Section()
}

// describedColumn reads and writes a column with its description for people.
type describedColumn struct {
	columnOf
	of *Dictionary
}

func (c describedColumn) Decode(key string, n *yaml.Node) error { return c.Section().Decode(key, n) }

func (c describedColumn) Encode() *yaml.Node { return c.Section().Encode() }

func (c describedColumn) Section() *section.Section {
	s := c.columnOf.Section()
	s.Name = "a column of the dictionary"
	s.Fields = append(s.Fields, textFor{c.Name, c.of}.field())
	return s
}

// textFor reads and writes the key "text", which explains a column to people.
type textFor struct {
	column string
	of     *Dictionary
}

func (v textFor) field() section.Field {
	return section.Field{Key: "text", Value: v, Else: "none", Doc: "The meaning of the column, for people."}
}

func (v textFor) Decode(key string, n *yaml.Node) error {
	var text string
	if err := (section.Text{Dst: &text}).Decode(key, n); err != nil {
		return err
	}
	v.of.storeText(v.column, text)
	return nil
}

func (v textFor) Encode() *yaml.Node {
	text := v.of.Texts[v.column]
	return section.Text{Dst: &text}.Encode()
}

func (v textFor) Form() string { return section.Text{}.Form() }

// labelColumns reads and writes a dictionary's map from label column to description.
type labelColumns struct{ *Dictionary }

func (v labelColumns) Decode(key string, n *yaml.Node) error {
	switch {
	case n.Kind != yaml.MappingNode:
		return section.At(n, "%s is %s; write a map such as {diagnosis: {classes: [well, ill]}}", key, section.Describe(n))
	case len(n.Content) == 0:
		return section.At(n, "%s has no column; describe one, as in {diagnosis: {classes: [well, ill]}}, or remove %s", key, key)
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		l := LabelColumn{Name: n.Content[i].Value}
		switch {
		case l.Name == "" || l.Name == NoLabel:
			return section.At(n.Content[i], "%s is not a name for a column of labels; write the column's name", section.Quote(l.Name))
		case slices.Contains(v.labelNames(), l.Name):
			return section.At(n.Content[i], "%s describes %s twice; keep one", key, section.Quote(l.Name))
		}
		if err := (labelColumn{&l, v.Dictionary}).Section().Decode("label "+section.Quote(l.Name), n.Content[i+1]); err != nil {
			return err
		}
		v.Labels = append(v.Labels, l)
	}
	return nil
}

func (v labelColumns) Encode() *yaml.Node {
	if v.Labels == nil {
		return nil
	}
	m := section.Map()
	for _, l := range v.Labels {
		m.Content = append(m.Content, section.Word(l.Name), orEmpty(labelColumn{&l, v.Dictionary}.Section().Encode()))
	}
	return m
}

func (v labelColumns) Form() string { return "a map such as {diagnosis: {classes: [well, ill]}}" }

// Each returns the declaration of one label column, which the documentation shows.
func (v labelColumns) Each() *section.Section {
	return labelColumn{new(LabelColumn), new(Dictionary)}.Section()
}

// labelColumn reads and writes the description of one label column.
type labelColumn struct {
	*LabelColumn
	of *Dictionary
}

func (l labelColumn) Section() *section.Section {
	return &section.Section{Name: "a label of the dictionary", Fields: []section.Field{
		{Key: "classes", Value: section.Words{Dst: &l.Classes, Most: maxMerged, Example: "[well, ill]"}, Else: "the classes of the tables, sorted; none for numbers",
			Doc: "All classes, in order. The second of two classes is the positive one. A table with another class is refused."},
		{Key: "merged", Value: mergedClasses{&l.Merged}, Else: "every class stays",
			Doc: "Classes that merge several classes of the tables."},
		{Key: "titles", Value: titlesOf{&l.Titles}, Else: "none",
			Doc: "Texts that replace classes where people read them: in the verdict, the tables and the report. Files keep the classes."},
		{Key: "range", Value: section.Interval{Dst: &l.Range}, Else: "none; no job by sums predicts the label as a number",
			Doc: "The least and the greatest value of a label that is a number. A table with another value is refused."},
		textFor{l.Name, l.of}.field(),
	}, Finish: l.finish}
}

// finish checks a label column's range, or its classes by the same rules as a job's classes.
func (l labelColumn) finish(in *section.Place) error {
	switch {
	case in.Given("range") && (in.Given("classes") || in.Given("merged") || in.Given("titles")):
		return in.Refuse("range", "label %s has both classes and a range; keep the classes, or keep the range if the label is a number", section.Quote(l.Name))
	case in.Given("range"):
		return CheckRange(in, "range", "range", l.Range)
	}
	as := Data{Label: l.Name, Order: l.Classes, Classes: l.Merged, Titles: l.Titles}
	if in.Given("classes") || in.Given("titles") {
		if err := (labelOf{&as}).finish(in); err != nil {
			return err
		}
		l.Classes = as.Order
	}
	return as.finishClasses(in)
}

func orEmpty(n *yaml.Node) *yaml.Node {
	if n == nil {
		return section.Map()
	}
	return n
}
