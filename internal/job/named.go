package job

import (
	"cmp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/mercer-fl/mercer/internal/base/fuzzymatch"
	"github.com/mercer-fl/mercer/internal/job/section"
	"github.com/mercer-fl/mercer/privacy"
)

// Kind is a protocol or a learner that a job file can name, with its keys.
type Kind interface {
	Name() string
	New() section.Values // returns new, empty settings to read into
}

// Named is a protocol or learner with its settings. In the file its name determines the keys.
type Named struct {
	Kind   Kind
	Values section.Values // the Kind's settings; copies of a job share them
}

// As returns the settings with their concrete type V. It panics if they have another type.
func As[V section.Values](n Named) V { return n.Values.(V) }

// Name returns the Kind's name; "" for the zero value.
func (n Named) Name() string {
	if n.Kind == nil {
		return ""
	}
	return n.Kind.Name()
}

// Text returns the name and all settings that the canonical file has, including defaults, in one line, such
// as "okra, mode = hardened, encoder = hadamard, ...".
func (n Named) Text() string {
	return n.section("").String()
}

// Varying returns the keys and values of all settings that a grid can vary and that the canonical file has,
// in canonical order.
func (n Named) Varying() (keys, numbers []string) {
	for _, f := range n.Values.Section().Fields {
		if v := f.Value.Encode(); f.List && v != nil {
			keys, numbers = append(keys, f.Key), append(numbers, v.Value)
		}
	}
	return keys, numbers
}

// section declares the key "name" and, after it, the keys of the Kind.
func (n Named) section(what string) *section.Section {
	if n.Kind == nil {
		return &section.Section{Name: what, Fields: []section.Field{{Key: "name", Value: section.Text{Dst: new(string)}}}}
	}
	s := n.Values.Section()
	s.Name = what
	s.Fields = append([]section.Field{{Key: "name", Value: section.Fixed(n.Name())}}, s.Fields...)
	return s
}

// namedSection reads and writes a section that names a Kind. The Kind determines the other keys.
type namedSection struct {
	dst   *Named
	what  string // "protocol"
	kinds []Kind
	alike bool // errors also consider the keys of the other Kinds, whose meanings are similar
}

// Decode reads the name first, wherever it is in the map, because it determines the other keys.
func (v namedSection) Decode(key string, n *yaml.Node) error {
	s, err := v.sectionOf(n)
	if err != nil {
		return err
	}
	return s.Decode(key, n)
}

// sectionOf finds the Kind that a map names, and returns the section that reads the map.
func (v namedSection) sectionOf(n *yaml.Node) (*section.Section, error) {
	switch n.Kind {
	case yaml.MappingNode:
	case yaml.SequenceNode:
		return nil, section.At(n, "%s is a list; this version takes one map with %s", v.what, v.keys())
	default:
		return nil, section.At(n, "%s is %s; it must be a map with %s", v.what, section.Describe(n), v.keys())
	}
	at := valueOf(n, "name")
	if at < 0 {
		return nil, v.refuseNameless(n)
	}
	var name string
	if err := (section.Choice[string]{Noun: v.what, Dst: &name, Known: v.names(), Other: otherNames()}).Decode("name", n.Content[at]); err != nil {
		return nil, err
	}
	kind := v.kinds[slices.Index(v.names(), name)]
	*v.dst = Named{kind, kind.New()}
	s := v.dst.section(v.what)
	s.Foreign = v.refuseForeign(name)
	return s, nil
}

func (v namedSection) keys() string { return "name, and the keys of that " + v.what }

func (v namedSection) names() []string {
	names := make([]string, len(v.kinds))
	for i, k := range v.kinds {
		names[i] = k.Name()
	}
	return names
}

// otherNames returns learners by names that other programs give to them or to their like.
func otherNames() map[string]string {
	return map[string]string{
		"svm": "svc", "c-svc": "svc", "csvc": "svc", "linearsvc": "svc",
		"logistic-regression": "logistic", "logisticregression": "logistic", "logit": "logistic",
		"random-forest": "boosted-trees", "randomforest": "boosted-trees", "gradient-boosting": "boosted-trees", "xgboost": "boosted-trees", "lightgbm": "boosted-trees",
		"pca": "kpca", "kernel-pca": "kpca", "kernelpca": "kpca", "gaussian-process": "gp", "kriging": "gp",
	}
}

// refuseNameless refuses a map that lacks or misspells the key name.
func (v namedSection) refuseNameless(n *yaml.Node) error {
	for i := 0; i+1 < len(n.Content); i += 2 {
		if key := n.Content[i]; !v.hasKey(key.Value) && len(key.Value) < 10 {
			if _, near := fuzzymatch.Nearest(key.Value, "name"); near {
				return section.At(key, "unknown key %s in %s; did you mean %q?", section.Quote(key.Value), v.what, "name")
			}
		}
	}
	return section.At(n, "%s has no name; add \"name: %s\"", v.what, v.kinds[0].Name())
}

// hasKey reports whether any Kind has the key.
func (v namedSection) hasKey(key string) bool {
	return slices.ContainsFunc(v.kinds, func(k Kind) bool { return slices.Contains(k.New().Section().Keys(), key) })
}

// refuseForeign returns a function that refuses a key of another Kind with a specific error.
func (v namedSection) refuseForeign(name string) func(key, val *yaml.Node) error {
	return func(key, val *yaml.Node) error {
		if !v.hasKey(key.Value) {
			return v.refuseSimilar(key)
		}
		if err := v.checkForeignValue(key.Value, val); err != nil {
			return err
		}
		return section.At(key, "%s %s has no %s; remove it", v.what, name, key.Value)
	}
}

// refuseSimilar refuses a key that is similar to a key of another Kind, and suggests that key.
func (v namedSection) refuseSimilar(key *yaml.Node) error {
	for _, k := range v.kinds {
		if near, is := fuzzymatch.Nearest(key.Value, k.New().Section().Keys()...); v.alike && is {
			return section.At(key, "unknown key %s in %s; did you mean %q?", section.Quote(key.Value), v.what, near)
		}
	}
	return nil
}

// checkForeignValue checks the value of a key that belongs to another Kind.
func (v namedSection) checkForeignValue(key string, val *yaml.Node) error {
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

func (v namedSection) Encode() *yaml.Node {
	return v.dst.section(v.what).Encode()
}

func (v namedSection) Form() string { return "a map with " + v.keys() }

// Mode names the version of a protocol: the hardened version or the paper's.
type Mode string

// Hardened fixes the published flaws of a protocol. Paper follows the paper exactly, to reproduce
// it.
const (
	Hardened Mode = "hardened"
	Paper    Mode = "paper"
)

func modes() []Mode { return []Mode{Hardened, Paper} }

// Moded holds the mode in the settings of a protocol that has modes.
type Moded struct{ Mode Mode }

// ModeKey declares the key mode.
func (m *Moded) ModeKey() section.Field {
	return section.Field{
		Key: "mode", Value: section.Choice[Mode]{Noun: "mode", Dst: &m.Mode, Known: modes()}, Default: string(Hardened),
		Doc: "The version of the protocol: hardened fixes published flaws; paper follows the paper exactly, with these flaws.",
	}
}

// Mode returns the protocol's mode, or "" if it has no modes.
func (n Named) Mode() Mode {
	return n.Demands().Mode
}

// Settings holds a protocol's settings, which also state the demands on the job.
type Settings interface {
	section.Values
	Demands() Demands
}

// Demands holds the requirements of a protocol's settings on a job and its members. The zero value
// has no requirements.
type Demands struct {
	// Mode is the protocol's mode, which every party's policy must allow. It is "" for a protocol that runs
	// in simulate only and has no modes. Kind Fit has the mode [Hardened].
	Mode Mode
	// Check refuses a job whose other sections contradict the settings. It also sets the defaults
	// that depend on these sections.
	Check func(*Job, *section.Place) error
	// Limits holds the numbers that an operator's policy limits: "max_ids", and "directions" for the number
	// of random features.
	Limits map[string]int
	// Labelled is the number of parties that hold labels in a partition by columns, counted from
	// the first party. 0 means one.
	Labelled int
	Spreads  bool // whether each labelled party has labels for only some of the rows
	Outlives bool // whether a later job can use this job's encoded rows or secrets
	// Continues reports whether the job continues an earlier job of the same protocol. Such a job
	// prepares rows in the same way as the earlier job.
	Continues bool
	Counts    bool // whether the coordinator learns the histogram of decisions on held-out rows
	Rates     bool // whether the coordinator learns sums of squared ratings
	Describes bool // whether the protocol's settings list the classes, or give the range of the labels
	// Privacy is the differential privacy with which the job releases anything of the rows; zero for none.
	Privacy privacy.Guarantee
}

// Demands returns the demands of the protocol's settings.
func (n Named) Demands() Demands {
	if s, is := n.Values.(Settings); is {
		return s.Demands()
	}
	return Demands{}
}

// Bounded reports whether the protocol's settings implement [Settings]. Parties refuse jobs of
// other protocols, whose demands are unknown.
func (n Named) Bounded() bool {
	_, states := n.Values.(Settings)
	return states
}

// finishPartition returns a check that refuses a partition whose direction the protocol does not
// support, and a source of test rows in a partition by columns.
func (r *Reader) finishPartition(j *Job) func(*section.Place) error {
	return func(in *section.Place) error {
		name, want, by := j.Protocol.Name(), j.Traits().Partition(), cmp.Or(j.Data.Partition.By, Rows)
		switch {
		case want == by && by == Columns && j.Data.Test.Source != "":
			return in.Refuse("data.test.source", "protocol %s takes no test source in this version; use \"test: {fraction: 0.25}\" or \"{every: 10}\"", name)
		case want == by:
			return nil
		case by == Devices:
			return in.Refuse("data.partition.by", "protocol %s has no devices; write \"partition: {by: rows, parties: [north, south]}\"", name)
		case want == Rows:
			return in.Refuse("data.partition.by", "%s needs \"partition: {by: rows}\"; this job has \"by: columns\", which is for %s", name, joinNames(r.protocolNames(Columns)))
		}
		return in.Refuse("data.partition.by", "%s needs \"partition: {by: %s}\"; this job has \"by: %s\"", name, want, by)
	}
}

// Limit returns the number in Demands.Limits for a key; 0 if there is none.
func (n Named) Limit(key string) int { return n.Demands().Limits[key] }

// protocolNames lists the names of the protocols with the given direction of the partition.
func (r *Reader) protocolNames(d Direction) (names []string) {
	for _, k := range r.Protocols {
		if k.Traits().Partition() == d {
			names = append(names, k.Name())
		}
	}
	return names
}

// joinNames joins names as in "a, b and c".
func joinNames(names []string) string {
	last := len(names) - 1
	if last < 1 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:last], ", ") + " and " + names[last]
}
