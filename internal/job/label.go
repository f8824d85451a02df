package job

import (
	"fmt"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/base/spell"
	"github.com/mercer-fl/mercer/internal/job/section"
)

// labelOf is the column of the labels: its name, or a map of its name and its classes.
type labelOf struct{ *Data }

func (v labelOf) Decode(key string, n *yaml.Node) error {
	if n.Kind == yaml.MappingNode {
		return v.Map().Decode(key, n)
	}
	return section.Text{Dst: &v.Label}.Decode(key, n)
}

func (v labelOf) Encode() *yaml.Node {
	if v.Order != nil {
		return v.Map().Encode()
	}
	return section.Text{Dst: &v.Label}.Encode()
}

func (v labelOf) Form() string {
	return "the name of a column, or a map such as {column: diagnosis, classes: [well, ill]}"
}

// Map declares the keys of the map.
func (v labelOf) Map() *section.Section {
	return &section.Section{Name: "label", Fields: []section.Field{
		{Key: "column", Value: section.Text{Dst: &v.Label}, Else: "the column that each party's catalogue names", Doc: "The column of the labels."},
		{Key: "classes", Value: section.Words{Dst: &v.Order, Most: maxMerged, Example: "[well, ill]"}, Else: "the classes of the tables, sorted",
			Doc: "All classes, in order. Of two, the second is the positive one. A table with another class is refused."},
	}, Finish: v.finish}
}

func (v labelOf) finish(in *section.Place) error {
	switch {
	case v.Label == NoLabel && v.Order != nil:
		return in.Refuse("column", "label has classes and no column; name the column, or write label: none")
	case in.Given("classes") && len(v.Order) < 2:
		return in.Refuse("classes", "classes has %d; list two or more, the positive one last", len(v.Order))
	}
	if one, other, found := spell.Clash(v.Order); found {
		one, other = spell.Quote(one, other)
		return in.Refuse("classes", "classes has %s and %s, which differ only by case, blanks or Unicode form; keep one of them", one, other)
	}
	for i, class := range v.Order {
		label, err := dataset.CanonicalLabel(class)
		if err != nil {
			return in.Refuse("classes", "class %s %v; write the class as it stands in the tables", section.Quote(class), err)
		}
		if other := slices.Index(v.Order[:i], label); other >= 0 {
			return in.Refuse("classes", "class %s is there twice; keep one", section.Quote(label))
		}
		v.Order[i] = label
	}
	return nil
}

// Accepted lists the labels that tables may have; nil: any.
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

// Take returns a table with the classes that the job merges, and refuses one with a class that the
// job does not list.
func (d *Data) Take(set *dataset.Set) (*dataset.Set, error) {
	set = d.Merge(set)
	return set, d.CheckClasses(set)
}

// CheckClasses refuses a table with a class that the job does not list. Classes are merged already.
func (d *Data) CheckClasses(set *dataset.Set) error {
	for i, label := range set.Labels {
		if d.Spread && label == "" {
			continue
		}
		if err := dataset.CheckClass(label, d.Order); err != nil {
			return fmt.Errorf("%s: the class %s of row %d %w", set.Name, section.Quote(label), i+1, err)
		}
	}
	return nil
}
