package job

import (
	"fmt"
	"maps"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/base/fuzzymatch"
	"github.com/mercer-fl/mercer/internal/job/section"
)

// Titles are texts for people, by the class that each of them explains, such as "died" for class "1".
// Files and results keep the classes.
type Titles map[string]string

// Of returns the title of a class, or the class itself if it has none.
func (t Titles) Of(class string) string {
	if title, titled := t[class]; titled {
		return title
	}
	return class
}

// titlesOf reads and writes the map from class to title.
type titlesOf struct{ dst *Titles }

func (v titlesOf) Decode(key string, n *yaml.Node) error {
	if n.Kind != yaml.MappingNode || len(n.Content) == 0 {
		return section.At(n, "%s is %s; write a map such as {0: survived, 1: died}", key, section.Describe(n))
	}
	*v.dst = make(Titles)
	for i := 0; i+1 < len(n.Content); i += 2 {
		class, err := dataset.CanonicalLabel(n.Content[i].Value)
		if err != nil {
			return section.At(n.Content[i], "class %s of titles %v; write the class as in the tables", section.Quote(n.Content[i].Value), err)
		}
		if _, twice := (*v.dst)[class]; twice {
			return section.At(n.Content[i], "class %s has two titles; keep one", section.Quote(class))
		}
		var title string
		if err := (section.Text{Dst: &title}).Decode(fmt.Sprintf("the title of class %s", section.Quote(class)), n.Content[i+1]); err != nil {
			return err
		}
		(*v.dst)[class] = title
	}
	return nil
}

func (v titlesOf) Encode() *yaml.Node {
	if *v.dst == nil {
		return nil
	}
	m := section.Map()
	for _, class := range slices.Sorted(maps.Keys(*v.dst)) {
		m.Content = append(m.Content, section.Word(class), section.Word((*v.dst)[class]))
	}
	return m
}

func (v titlesOf) Form() string { return "a map such as {0: survived, 1: died}" }

// check refuses titles that do not tell the classes apart, and titles of other classes than order lists. order
// lists the classes, or is nil for any.
func (t Titles) check(in *section.Place, order []string) error {
	classes := slices.Sorted(maps.Keys(t))
	titles := make([]string, len(classes))
	for i, class := range classes {
		titles[i] = t[class]
		_, other := t[titles[i]]
		switch {
		case order != nil && !slices.Contains(order, class):
			return in.Refuse("titles", "\"titles\" names class %s, which \"classes\" does not list; correct the class", section.Quote(class))
		case titles[i] != class && (other || slices.Contains(order, titles[i])):
			return in.Refuse("titles", "the title of class %s is %s, which is another class; write another title", section.Quote(class), section.Quote(titles[i]))
		}
	}
	if one, other, found := fuzzymatch.Clash(titles); found {
		one, other = fuzzymatch.Quote(one, other)
		return in.Refuse("titles", "\"titles\" has %s and %s, which differ only by case, blanks or Unicode form; write different titles", one, other)
	}
	slices.Sort(titles)
	if len(slices.Compact(titles)) < len(classes) {
		return in.Refuse("titles", "two classes have the same title; write different titles, or merge the classes by \"merged\" in the dictionary (in simulate, by \"classes\" in the job)")
	}
	return nil
}
