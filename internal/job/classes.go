package job

import (
	"fmt"
	"math"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/dataset/prepare"
	"github.com/mercer-fl/mercer/internal/base/fuzzymatch"
	"github.com/mercer-fl/mercer/internal/job/section"
)

// MergedClass is a class that replaces several classes of the tables.
type MergedClass struct {
	Class string
	Of    []string
}

// maxMerged is the greatest number of classes that a job merges into one class.
const maxMerged = 1 << 12

// Merge returns a table whose classes are merged as the job says. A second call changes nothing.
func (d *Data) Merge(set *dataset.Set) *dataset.Set {
	if set.Labels == nil || d.Classes == nil {
		return set
	}
	into := make(map[string]string)
	for _, m := range d.Classes {
		for _, c := range m.Of {
			into[c] = m.Class
		}
	}
	merged := *set
	merged.Labels = make([]string, len(set.Labels))
	for i, l := range set.Labels {
		if m, found := into[l]; found {
			l = m
		}
		merged.Labels[i] = l
	}
	return &merged
}

// finishClasses refuses merged classes that contradict each other, and merged classes for devices.
func (d *Data) finishClasses(in *section.Place) error {
	owner := make(map[string]string)
	for _, m := range d.Classes {
		for _, c := range m.Of {
			if other, twice := owner[c]; twice {
				return in.Refuse("classes", "class %s is merged into both %s and %s; keep one of the two", section.Quote(c), section.Quote(other), section.Quote(m.Class))
			}
			owner[c] = m.Class
		}
	}
	for _, m := range d.Classes {
		if other, moved := owner[m.Class]; moved && other != m.Class {
			return in.Refuse("classes", "the merged class %s is itself merged into %s; rename the merged class", section.Quote(m.Class), section.Quote(other))
		}
	}
	if d.Classes != nil && d.Partition.By == Devices {
		return in.Refuse("classes", "\"classes\" is for parties with tables, not for devices; remove it")
	}
	return d.finishOrder(in)
}

// finishOrder refuses an order of classes that contradicts the merging of classes. For devices it refuses any
// order, titles, and a treatment of rows without a label.
func (d *Data) finishOrder(in *section.Place) error {
	if d.Partition.By == Devices && (d.Titles != nil || d.Unlabelled != "") {
		return in.Refuse("label", "\"label.titles\" and \"label.missing\" are for parties with tables, not for devices; write \"label\" with only the name of the column")
	}
	if d.Order == nil {
		return nil
	}
	if d.Partition.By == Devices {
		return in.Refuse("label", "\"label.classes\" is for parties with tables, not for devices; remove it, and list the classes in \"protocol\"")
	}
	for _, m := range d.Classes {
		if !slices.Contains(d.Order, m.Class) {
			return in.Refuse("classes", "\"label\" does not list the merged class %s; add the class to \"label\"", section.Quote(m.Class))
		}
		for _, c := range m.Of {
			if c != m.Class && slices.Contains(d.Order, c) {
				return in.Refuse("classes", "class %s is merged into %s, but \"label\" lists both; remove the first one from \"label\"", section.Quote(c), section.Quote(m.Class))
			}
		}
	}
	return nil
}

// mergedClasses reads and writes the map from a merged class to the classes that it replaces.
type mergedClasses struct{ dst *[]MergedClass }

func (v mergedClasses) Decode(key string, n *yaml.Node) error {
	if n.Kind != yaml.MappingNode || len(n.Content) == 0 {
		return section.At(n, "%s is %s; write a map such as {ill: [mild, severe]}", key, section.Describe(n))
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		name := n.Content[i]
		m := MergedClass{Class: name.Value}
		if m.Class == "" {
			return section.At(name, "\"classes\" has an entry without a name; write the name of the merged class")
		}
		if slices.ContainsFunc(*v.dst, func(o MergedClass) bool { return o.Class == m.Class }) {
			return section.At(name, "class %s is listed twice; keep one", section.Quote(m.Class))
		}
		what := "the list of classes of " + m.Class
		if err := (section.Words{Dst: &m.Of, Most: maxMerged, Example: "[mild, severe]"}).Decode(what, n.Content[i+1]); err != nil {
			return err
		}
		if len(m.Of) == 0 {
			return section.At(n.Content[i+1], "%s is empty; name at least one class", what)
		}
		*v.dst = append(*v.dst, m)
	}
	return nil
}

func (v mergedClasses) Encode() *yaml.Node {
	if *v.dst == nil {
		return nil
	}
	m := section.Map()
	for _, c := range *v.dst {
		m.Content = append(m.Content, section.Word(c.Class), section.Words{Dst: &c.Of}.Encode())
	}
	return m
}

func (v mergedClasses) Form() string { return "a map such as {ill: [mild, severe]}" }

// labelOf reads and writes the key "label": the name of a column, or a map (Map).
type labelOf struct{ *Data }

func (v labelOf) Decode(key string, n *yaml.Node) error {
	if n.Kind == yaml.MappingNode {
		return v.Map().Decode(key, n)
	}
	return section.Text{Dst: &v.Label}.Decode(key, n)
}

func (v labelOf) Encode() *yaml.Node {
	own := *v.Data
	if own.Dictionary != nil {
		own.Order, own.Titles = nil, nil // the dictionary has the classes
	}
	if own.Order != nil || own.Titles != nil || own.Unlabelled != "" {
		return labelOf{&own}.Map().Encode()
	}
	return section.Text{Dst: &v.Label}.Encode()
}

func (v labelOf) Form() string {
	return "the name of a column, or a map such as {column: diagnosis, classes: [well, ill], missing: drop-row}"
}

// Map declares the keys of the map form of label.
func (v labelOf) Map() *section.Section {
	return &section.Section{Name: "label", Fields: []section.Field{
		{Key: "column", Value: section.Text{Dst: &v.Label}, Else: "the column that each party's catalogue names", Doc: "The column of the labels."},
		{Key: "classes", Value: section.Words{Dst: &v.Order, Most: maxMerged, Example: "[well, ill]"}, Else: "the classes of the tables, sorted",
			Doc: "All classes, in order. The second of two classes is the positive one. A table with another class is refused. Between parties, the dictionary lists them."},
		{Key: "titles", Value: titlesOf{&v.Titles}, Else: "none",
			Doc: "Texts that replace classes where people read them: in the verdict, the tables and the report. Files keep the classes. Beside a dictionary, the dictionary has the titles."},
		{Key: "missing", Value: section.Choice[prepare.Fill]{Noun: "treatment of rows without a label", Dst: &v.Unlabelled, Known: []prepare.Fill{prepare.FillError, prepare.FillDropRow}}, Else: "error",
			Doc: "The treatment of rows without a label: refuse the table (error), or leave them out (drop-row). Between parties, each party's catalogue decides it, and a job that says drop-row runs only where the catalogue says so, too."},
	}, Finish: v.finish}
}

func (v labelOf) finish(in *section.Place) error {
	if v.Unlabelled == prepare.FillError {
		v.Unlabelled = "" // the default is not written
	}
	switch {
	case v.Label == NoLabel && v.Unlabelled != "":
		return in.Refuse("missing", "\"label\" has the key \"missing\" and no column; name the column, or write \"label: none\"")
	case v.Label == NoLabel && v.Order != nil:
		return in.Refuse("column", "\"label\" has the key \"classes\" and no column; name the column, or write \"label: none\"")
	case v.Label == NoLabel && v.Titles != nil:
		return in.Refuse("titles", "\"label\" has the key \"titles\" and no column; name the column, or write \"label: none\"")
	case in.Given("classes") && len(v.Order) < 2:
		return in.Refuse("classes", "\"classes\" lists fewer than two classes; list them all, the positive class last")
	}
	if one, other, found := fuzzymatch.Clash(v.Order); found {
		one, other = fuzzymatch.Quote(one, other)
		return in.Refuse("classes", "\"classes\" has %s and %s, which differ only by case, blanks or Unicode form; keep one of them", one, other)
	}
	for i, class := range v.Order {
		label, err := dataset.CanonicalLabel(class)
		if err != nil {
			return in.Refuse("classes", "class %s %v; write the class as in the tables", section.Quote(class), err)
		}
		if other := slices.Index(v.Order[:i], label); other >= 0 {
			return in.Refuse("classes", "class %s is listed twice; keep one", section.Quote(label))
		}
		v.Order[i] = label
	}
	return v.Titles.check(in, v.Order)
}

// Accepted lists the labels that tables can have. Nil means that any label is allowed.
func (d *Data) Accepted() []string {
	if d.Order == nil {
		return nil
	}
	accepted := slices.Clone(d.Order)
	for _, m := range d.Classes {
		for _, c := range m.Of {
			if !slices.Contains(accepted, c) {
				accepted = append(accepted, c)
			}
		}
	}
	return accepted
}

// Take returns a table with merged classes. It refuses a table with a label that the job does not list or,
// without differential privacy, with a number outside the label's range.
func (d *Data) Take(set *dataset.Set) (*dataset.Set, error) {
	set = d.Merge(set)
	if err := d.CheckClasses(set); err != nil || d.Range == [2]float64{} {
		return set, err
	}
	return set, d.checkNumbers(set)
}

// checkNumbers refuses a table with a numeric label outside the label's range. With differential privacy the
// protocol cuts such a label instead.
func (d *Data) checkNumbers(set *dataset.Set) error {
	values, err := set.Targets()
	if err != nil || d.Private {
		return err
	}
	for i, v := range values {
		if v < d.Range[0] || v > d.Range[1] {
			return fmt.Errorf("%s label %s is %g, outside the dictionary's range of %g to %g; correct the cell, or the range", set.Place(i), section.Quote(d.Label), v, d.Range[0], d.Range[1])
		}
	}
	return nil
}

// CheckRange refuses a range [least, greatest] if its numbers are not ascending or are too far
// apart. The argument key is the range's key in the file. The error calls the range by the text in
// name.
func CheckRange(in *section.Place, key, name string, r [2]float64) error {
	switch {
	case !(r[0] < r[1]):
		return in.Refuse(key, "%s is [%g, %g]; write the smaller number first", name, r[0], r[1])
	case math.IsInf(r[1]-r[0], 0):
		return in.Refuse(key, "%s is [%g, %g], which is too wide; change the unit", name, r[0], r[1])
	}
	return nil
}

// CheckClasses refuses a table with a class that the job does not list, if it lists any. The table's classes
// are already merged. With spread labels a row can have none.
func (d *Data) CheckClasses(set *dataset.Set) error {
	for i, label := range set.Labels {
		if d.Spread && label == "" {
			continue
		}
		if err := dataset.CheckClass(label, d.Order); err != nil {
			return fmt.Errorf("%s the class %s %w", set.Place(i), section.Quote(label), err)
		}
	}
	return nil
}
