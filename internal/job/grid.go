package job

import (
	"reflect"
	"slices"
	"strconv"

	"go.yaml.in/yaml/v3"

	"github.com/mercer-fl/mercer/internal/job/section"
)

// Grid holds the candidates among which a job chooses by cross-validation: every kernel with
// every learner. Cells are numbered by kernel and, for each kernel, by learner; both stand in
// the order of the file, and of several lists in one map the one whose key comes last in the
// canonical file changes fastest.
type Grid struct {
	Kernels  []Kernel
	Learners []Named // the same one with other numbers
}

// MaxCells bounds a grid.
const MaxCells = 1024

// Cells returns how many cells the job has: 1 without a grid.
func (j *Job) Cells() int { return len(j.Kernels()) * len(j.Learners()) }

// Kernels returns the kernels of the grid, or the one.
func (j *Job) Kernels() []Kernel {
	if j.Grid.Kernels == nil {
		return []Kernel{j.Kernel}
	}
	return j.Grid.Kernels
}

// Learners returns the learners of the grid, or the one.
func (j *Job) Learners() []Named {
	if j.Grid.Learners == nil {
		return []Named{j.Learner}
	}
	return j.Grid.Learners
}

// At returns the job with one cell in place of its grid.
func (j *Job) At(cell int) *Job {
	one := *j
	learners := j.Learners()
	one.Kernel, one.Learner = j.Kernels()[cell/len(learners)], learners[cell%len(learners)]
	one.Grid = Grid{}
	return &one
}

// sweep is a section in which some numbers may be lists. It means one T for each combination of
// numbers from the lists.
type sweep[T any] struct {
	dst *[]T
	// declare returns the section of one T, into which a map is to be read; nil: from
	// which one is to be written.
	declare func(*T, *yaml.Node) (*section.Section, error)
}

// of returns the section of a T that is written.
func (v sweep[T]) of(one *T) *section.Section {
	s, _ := v.declare(one, nil) // errors are of maps
	return s
}

// Form describes the map.
func (v sweep[T]) Form() string { return v.of(new(T)).Form() + "; lists of numbers make a grid" }

func (v sweep[T]) Decode(key string, n *yaml.Node) error {
	*v.dst = nil
	return v.add(key, n)
}

// add decodes one map.
func (v sweep[T]) add(key string, n *yaml.Node) error {
	s, err := v.declare(new(T), n)
	if err != nil {
		return err
	}
	maps, err := choicesOf(n, s.Lists())
	if err != nil {
		return err
	}
	for _, m := range maps {
		var one T
		if s, err = v.declare(&one, m); err == nil {
			err = s.Decode(key, m)
		}
		if err != nil {
			return err
		}
		same := func(other T) bool { return reflect.DeepEqual(one, other) }
		switch {
		case slices.ContainsFunc(*v.dst, same):
			return section.At(n, "this %s is twice in the list; keep one", key)
		case len(*v.dst) == MaxCells:
			return section.At(n, "%s stands for more than %d choices; that is the most a grid may have", key, MaxCells)
		}
		*v.dst = append(*v.dst, one)
	}
	return nil
}

// Encode writes the one map, or one with lists.
func (v sweep[T]) Encode() *yaml.Node {
	return merged(v.maps(), v.of(&(*v.dst)[0]).Lists())
}

// maps writes each T.
func (v sweep[T]) maps() []*yaml.Node {
	maps := make([]*yaml.Node, len(*v.dst))
	for i := range maps {
		if maps[i] = v.of(&(*v.dst)[i]).Encode(); maps[i] == nil {
			maps[i] = section.Map()
		}
	}
	return maps
}

// sweeps is a sweep, or a list of them.
type sweeps[T any] struct{ sweep[T] }

func (v sweeps[T]) Decode(key string, n *yaml.Node) error {
	if n.Kind != yaml.SequenceNode {
		return v.sweep.Decode(key, n)
	}
	if len(n.Content) == 0 {
		return section.At(n, "%s is an empty list; give one map or several", key)
	}
	*v.dst = nil
	for _, m := range n.Content {
		if err := v.add(key, m); err != nil {
			return err
		}
	}
	return nil
}

// Form describes the map or the list.
func (v sweeps[T]) Form() string { return v.sweep.Form() + "; or a list of such maps" }

// Encode writes one map without lists for each T, in a list if there are several.
func (v sweeps[T]) Encode() *yaml.Node {
	maps := v.maps()
	if len(maps) == 1 {
		return maps[0]
	}
	return &yaml.Node{Kind: yaml.SequenceNode, Content: maps}
}

// choicesOf returns a map for each choice from the lists that a map holds, and returns a
// value that is no map unchanged.
func choicesOf(n *yaml.Node, lists []string) ([]*yaml.Node, error) {
	maps := []*yaml.Node{n}
	if n.Kind != yaml.MappingNode {
		return maps, nil
	}
	for _, key := range lists {
		at := valueOf(n, key)
		if at < 0 || n.Content[at].Kind != yaml.SequenceNode {
			continue
		}
		list := n.Content[at]
		if err := checkList(key, list, len(maps)); err != nil {
			return nil, err
		}
		var more []*yaml.Node
		for _, m := range maps {
			for _, item := range list.Content {
				one := *m
				one.Content = slices.Clone(m.Content)
				one.Content[at] = item
				more = append(more, &one)
			}
		}
		maps = more
	}
	return maps, nil
}

// valueOf returns where in a map the value of the first such key is, or -1.
func valueOf(n *yaml.Node, key string) int {
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return i + 1
		}
	}
	return -1
}

// checkList refuses lists that are empty, too long together, or name a number
// twice.
func checkList(key string, list *yaml.Node, before int) error {
	switch {
	case len(list.Content) == 0:
		return section.At(list, "%s is an empty list; give one number or several", key)
	case before*len(list.Content) > MaxCells:
		return section.At(list, "the lists up to %s stand for more than %d choices; that is the most a grid may have", key, MaxCells)
	}
	seen := make(map[float64]bool)
	for _, item := range list.Content {
		x, err := strconv.ParseFloat(item.Value, 64)
		if err != nil {
			continue // the number's own decoder reports the mistake
		}
		if seen[x] {
			return section.At(item, "%s lists %s twice; keep one", key, section.Quote(item.Value))
		}
		seen[x] = true
	}
	return nil
}

// merged is the inverse of choicesOf: it makes one map with lists from maps with the same keys.
func merged(maps []*yaml.Node, lists []string) *yaml.Node {
	out := maps[0]
	for _, key := range lists {
		list := section.Flow()
		for _, m := range maps {
			item := section.Bare("0") // which sections leave out
			if at := valueOf(m, key); at >= 0 {
				item = m.Content[at]
			}
			if !slices.ContainsFunc(list.Content, func(n *yaml.Node) bool { return n.Value == item.Value }) {
				list.Content = append(list.Content, item)
			}
		}
		if len(list.Content) > 1 {
			put(out, key, list)
		}
	}
	return out
}

// put sets the value of a key.
func put(n *yaml.Node, key string, value *yaml.Node) {
	if at := valueOf(n, key); at >= 0 {
		n.Content[at] = value
		return
	}
	n.Content = append(n.Content, section.Word(key), value)
}
