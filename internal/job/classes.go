package job

import (
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/job/section"
)

// MergedClass is a class that stands for several classes of the tables.
type MergedClass struct {
	Class string
	Of    []string
}

// maxMerged bounds the classes of the tables that one class stands for.
const maxMerged = 1 << 12

// Merge returns a table with the classes that the job merges. Merging them again changes
// nothing.
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

// finishClasses refuses classes that would be merged twice.
func (d *Data) finishClasses(in *section.Place) error {
	owner := make(map[string]string)
	for _, m := range d.Classes {
		for _, c := range m.Of {
			if other, twice := owner[c]; twice {
				return in.Refuse("classes", "class %s goes to %s and to %s; keep one", section.Quote(c), section.Quote(other), section.Quote(m.Class))
			}
			owner[c] = m.Class
		}
	}
	for _, m := range d.Classes {
		if other, moved := owner[m.Class]; moved && other != m.Class {
			return in.Refuse("classes", "class %s goes to %s and has classes of its own; give it another name", section.Quote(m.Class), section.Quote(other))
		}
	}
	if d.Classes != nil && d.Partition.By == Devices {
		return in.Refuse("classes", "classes are merged where parties hold tables; remove classes")
	}
	return d.finishOrder(in)
}

// finishOrder refuses an order of classes that contradicts the merging of classes.
func (d *Data) finishOrder(in *section.Place) error {
	if d.Order == nil {
		return nil
	}
	if d.Partition.By == Devices {
		return in.Refuse("label", "label lists classes where parties hold tables; remove classes, and list them in the protocol")
	}
	for _, m := range d.Classes {
		if !slices.Contains(d.Order, m.Class) {
			return in.Refuse("classes", "class %s is none of the classes that label lists; add it there", section.Quote(m.Class))
		}
		for _, c := range m.Of {
			if c != m.Class && slices.Contains(d.Order, c) {
				return in.Refuse("classes", "class %s goes to %s, and label lists both; remove it from label", section.Quote(c), section.Quote(m.Class))
			}
		}
	}
	return nil
}

// mergedClasses is a map from class to the classes that it stands for.
type mergedClasses struct{ dst *[]MergedClass }

func (v mergedClasses) Decode(key string, n *yaml.Node) error {
	if n.Kind != yaml.MappingNode || len(n.Content) == 0 {
		return section.At(n, "%s is %s; write a map such as {ill: [mild, severe]}", key, section.Describe(n))
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		name := n.Content[i]
		m := MergedClass{Class: name.Value}
		if m.Class == "" {
			return section.At(name, "classes has a class without a name; write one")
		}
		if slices.ContainsFunc(*v.dst, func(o MergedClass) bool { return o.Class == m.Class }) {
			return section.At(name, "class %s is there twice; keep one", section.Quote(m.Class))
		}
		what := "the list of classes of " + m.Class
		if err := (section.Words{Dst: &m.Of, Most: maxMerged, Example: "[mild, severe]"}).Decode(what, n.Content[i+1]); err != nil {
			return err
		}
		if len(m.Of) == 0 {
			return section.At(n.Content[i+1], "%s is empty; name at least one", what)
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
