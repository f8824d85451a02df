package job

import (
	"cmp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/mercer-fl/mercer/internal/base/fuzzymatch"
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
			if _, near := fuzzymatch.Nearest(key.Value, "name"); near {
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
		if near, is := fuzzymatch.Nearest(key.Value, k.New().Section().Keys()...); v.alike && is {
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

// Mode names the version of a protocol that runs: the hardened one or the paper's.
type Mode string

// Hardened carries the fixes of published flaws; Paper follows the paper to
// the letter, for reproduction.
const (
	Hardened Mode = "hardened"
	Paper    Mode = "paper"
)

func modes() []Mode { return []Mode{Hardened, Paper} }

// Moded is the mode among a protocol's keys, for protocols that have one.
type Moded struct{ Mode Mode }

// ModeKey declares the key mode.
func (m *Moded) ModeKey() section.Field {
	return section.Field{
		Key: "mode", Value: section.Choice[Mode]{Noun: "mode", Dst: &m.Mode, Known: modes()}, Default: string(Hardened),
		Doc: "The version of the protocol: hardened fixes published flaws, paper follows the paper to the letter.",
	}
}

// Mode returns the mode of a protocol that has one, or "".
func (n Named) Mode() Mode {
	return n.Demands().Mode
}

// Settings are a protocol's values: what it demands comes with them.
type Settings interface {
	section.Values
	Demands() Demands
}

// Demands are what a protocol's settings ask of a job, and of who runs it. A field that is zero asks
// for nothing.
type Demands struct {
	Mode Mode // which a policy must allow; of a protocol that has one version, [Hardened]
	// Check refuses the rest of a job, once it is read, that does not go with the settings, and fills
	// the defaults that depend on it.
	Check func(*Job, *section.Place) error
	// Limits are the numbers that an operator's policy bounds, by their keys in the job file.
	Limits map[string]int
	// Labelled counts the parties between holders of columns that have labels, from the first on; 0: one.
	Labelled int
	Spreads  bool // each of them has labels of a part of the rows
	Outlives bool // encoded rows of the job, or secrets of an earlier one, serve a later job
	// Continues says that rows are prepared as those of an earlier job of this protocol.
	Continues bool
	Counts    bool // the coordinator learns how many held-out rows have which decision
	Rates     bool // the coordinator learns sums of squared ratings
	Describes bool // the settings list the classes of the labels, or give their range
}

// Demands returns what the settings of the job's protocol demand.
func (n Named) Demands() Demands {
	if s, is := n.Values.(Settings); is {
		return s.Demands()
	}
	return Demands{}
}

// Bounded reports whether the protocol states what it demands. Parties refuse a job by one that does not.
func (n Named) Bounded() bool {
	_, states := n.Values.(Settings)
	return states
}

// finishPartition refuses a protocol and a partition that do not cut the same way.
func (r *Reader) finishPartition(j *Job) func(*section.Place) error {
	return func(in *section.Place) error {
		name, want, by := j.Protocol.Name(), j.Traits().Partition(), cmp.Or(j.Data.Partition.By, Rows)
		switch {
		case want == by && by == Columns && j.Data.Test.Source != "":
			return in.Refuse("data", "a test source is not in this version of protocol %s; use test: {fraction: 0.25} or {every: 10}", name)
		case want == by:
			return nil
		case by == Devices:
			return in.Refuse("data", "protocol %s has no devices; partition: {by: rows, parties: [north, south]}", name)
		case want == Devices:
			return in.Refuse("data", "protocol %s and this partition do not go together; %s takes partition: {by: devices}", name, name)
		}
		return in.Refuse("data", "protocol %s and this partition do not go together; %s take partition: {by: columns}, and others do not", name, listed(r.cutting(Columns)))
	}
}

// Limit returns a number that an operator's policy bounds; 0 where there is none.
func (n Named) Limit(key string) int { return n.Demands().Limits[key] }

// cutting names the protocols whose parties hold rows, columns or devices.
func (r *Reader) cutting(d Direction) (names []string) {
	for _, k := range r.Protocols {
		if k.Traits().Partition() == d {
			names = append(names, k.Name())
		}
	}
	return names
}

// listed writes names as a sentence does: a, b and c.
func listed(names []string) string {
	last := len(names) - 1
	if last < 1 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:last], ", ") + " and " + names[last]
}
