package job

import (
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/mercer-fl/mercer/internal/base/spell"
	"github.com/mercer-fl/mercer/internal/job/section"
)

// Kind is a name that a job file may give, with the keys that go with it.
type Kind interface {
	Name() string
	New() section.Values // fresh, to read into
}

// Named is a section whose keys follow from its name.
type Named struct {
	Kind   Kind
	Values section.Values // of the Kind; copies of a job share them
}

// As returns the values as the type that their Kind gave them. The caller knows
// the Kind: another is the program's mistake.
func As[V section.Values](n Named) V { return n.Values.(V) }

// Name returns the Kind's name; "" of the zero value.
func (n Named) Name() string {
	if n.Kind == nil {
		return ""
	}
	return n.Kind.Name()
}

// Text returns the name and all settings, defaults included, in one line and as
// the job file writes them: "okra, mode = hardened, encoder = hadamard, ...".
func (n Named) Text() string {
	return n.section("").String()
}

// Varying returns the numbers of which a job may list several, by key and in
// canonical order.
func (n Named) Varying() (keys, numbers []string) {
	for _, f := range n.Values.Section().Fields {
		if v := f.Value.Encode(); f.List && v != nil {
			keys, numbers = append(keys, f.Key), append(numbers, v.Value)
		}
	}
	return keys, numbers
}

// section declares the name and then the Kind's keys.
func (n Named) section(what string) *section.Section {
	if n.Kind == nil {
		return &section.Section{Name: what, Fields: []section.Field{{Key: "name", Value: section.Text{Dst: new(string)}}}}
	}
	s := n.Values.Section()
	s.Name = what
	s.Fields = append([]section.Field{{Key: "name", Value: section.Fixed(n.Name())}}, s.Fields...)
	return s
}

// named reads and writes a section whose name says which keys it has.
type named struct {
	dst   *Named
	what  string // "protocol"
	kinds []Kind
	alike bool // the Kinds' keys mean much the same: a mistake in another Kind's key is reported first, and then that the key is another Kind's
}

// Decode reads the name first, wherever it stands, and then the rest.
func (v named) Decode(key string, n *yaml.Node) error {
	s, err := v.of(n)
	if err != nil {
		return err
	}
	return s.Decode(key, n)
}

// of finds the Kind that a map names, and returns the section to read the map with.
func (v named) of(n *yaml.Node) (*section.Section, error) {
	switch n.Kind {
	case yaml.MappingNode:
	case yaml.SequenceNode:
		return nil, section.At(n, "%s is a list; this version takes one map with %s", v.what, v.keys())
	default:
		return nil, section.At(n, "%s is %s; it must be a map with %s", v.what, section.Describe(n), v.keys())
	}
	at := valueOf(n, "name")
	if at < 0 {
		return nil, v.nameless(n)
	}
	var name string
	if err := (section.Choice[string]{Noun: v.what, Dst: &name, Known: v.names()}).Decode("name", n.Content[at]); err != nil {
		return nil, err
	}
	kind := v.kinds[slices.Index(v.names(), name)]
	*v.dst = Named{kind, kind.New()}
	s := v.dst.section(v.what)
	s.Foreign = v.foreign(name)
	return s, nil
}

func (v named) keys() string { return "name, and the keys of that " + v.what }

func (v named) names() []string {
	names := make([]string, len(v.kinds))
	for i, k := range v.kinds {
		names[i] = k.Name()
	}
	return names
}

// nameless refuses a map without a name, or the key that was meant to be it.
func (v named) nameless(n *yaml.Node) error {
	for i := 0; i+1 < len(n.Content); i += 2 {
		if key := n.Content[i]; !v.has(key.Value) && len(key.Value) < 10 {
			if _, near := spell.Nearest(key.Value, "name"); near {
				return section.At(key, "unknown key %s in %s; did you mean %q?", section.Quote(key.Value), v.what, "name")
			}
		}
	}
	return section.At(n, "%s has no name; add name: %s", v.what, v.kinds[0].Name())
}

// has reports whether any Kind has the key.
func (v named) has(key string) bool {
	return slices.ContainsFunc(v.kinds, func(k Kind) bool { return slices.Contains(k.New().Section().Keys(), key) })
}

// foreign refuses the keys of other Kinds by a sentence of their own.
func (v named) foreign(name string) func(key, val *yaml.Node) error {
	return func(key, val *yaml.Node) error {
		if !v.has(key.Value) {
			return v.near(key)
		}
		if err := v.mistake(key.Value, val); err != nil {
			return err
		}
		return section.At(key, "%s %s has no %s; remove it", v.what, name, key.Value)
	}
}

// near refuses a key that is near one of another Kind.
func (v named) near(key *yaml.Node) error {
	for _, k := range v.kinds {
		if near, is := spell.Nearest(key.Value, k.New().Section().Keys()...); v.alike && is {
			return section.At(key, "unknown key %s in %s; did you mean %q?", section.Quote(key.Value), v.what, near)
		}
	}
	return nil
}

// mistake reads the value of a key as the first Kind does that has it.
func (v named) mistake(key string, val *yaml.Node) error {
	for _, k := range v.kinds {
		s := k.New().Section()
		i := slices.Index(s.Keys(), key)
		if i < 0 || !v.alike {
			continue
		}
		if !s.Fields[i].List || val.Kind != yaml.SequenceNode {
			return s.Fields[i].Value.Decode(key, val)
		}
		for _, one := range val.Content {
			if err := s.Fields[i].Value.Decode(key, one); err != nil {
				return err
			}
		}
		return nil
	}
	return nil
}

func (v named) Encode() *yaml.Node {
	return v.dst.section(v.what).Encode()
}

func (v named) Form() string { return "a map with " + v.keys() }
