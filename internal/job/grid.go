package job

import (
	"reflect"
	"slices"
	"strconv"

	"go.yaml.in/yaml/v3"

	"github.com/mercer-fl/mercer/internal/job/section"
)

// Grid holds the kernels and learners whose combinations a job compares, by cross-validation or by the
// protocol's own rule. Each combination is a cell. Cells are numbered by kernel and, for each kernel, by
// learner, in the order of the file. If a map has several lists, the list whose key is last in the canonical
// file changes fastest.
type Grid struct {
	Kernels  []Kernel
	Learners []Named // copies of one learner with different hyperparameters
}

// MaxCells is the greatest number of cells in a grid.
const MaxCells = 1024

// Cells returns the number of cells in the job's grid; 1 without a grid.
func (j *Job) Cells() int { return len(j.Kernels()) * len(j.Learners()) }

// Kernels returns the kernels of the grid, or the job's single kernel.
func (j *Job) Kernels() []Kernel {
	if j.Grid.Kernels == nil {
		return []Kernel{j.Kernel}
	}
	return j.Grid.Kernels
}

// Learners returns the learners of the grid, or the job's single learner.
func (j *Job) Learners() []Named {
	if j.Grid.Learners == nil {
		return []Named{j.Learner}
	}
	return j.Grid.Learners
}

// At returns the job with the given cell in place of its grid.
func (j *Job) At(cell int) *Job {
	one := *j
	learners := j.Learners()
	one.Kernel, one.Learner = j.Kernels()[cell/len(learners)], learners[cell%len(learners)]
	one.Grid = Grid{}
	return &one
}

// sweep reads and writes a section in which some numbers can be lists. The section gives one T for
// each combination of numbers from the lists.
type sweep[T any] struct {
	dst *[]T
	// declare returns the section of one T. The node is the map to be read, or nil if the section
	// only writes.
	declare func(*T, *yaml.Node) (*section.Section, error)
}

// sectionOf returns the section that writes one value of the sweep.
func (v sweep[T]) sectionOf(one *T) *section.Section {
	s, _ := v.declare(one, nil) // declare cannot fail without a map to read
	return s
}

func (v sweep[T]) Form() string { return v.sectionOf(new(T)).Form() + "; lists of numbers make a grid" }

func (v sweep[T]) Decode(key string, n *yaml.Node) error {
	*v.dst = nil
	return v.add(key, n)
}

// add decodes one map and appends a value for each combination of its lists.
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
			return section.At(n, "%s stands for more than %d choices; give shorter lists", key, MaxCells)
		}
		*v.dst = append(*v.dst, one)
	}
	return nil
}

// Encode writes all values as one map, in which a key has a list if the values differ.
func (v sweep[T]) Encode() *yaml.Node {
	return mergeMaps(v.maps(), v.sectionOf(&(*v.dst)[0]).Lists())
}

// maps returns one YAML map for each value.
func (v sweep[T]) maps() []*yaml.Node {
	maps := make([]*yaml.Node, len(*v.dst))
	for i := range maps {
		if maps[i] = v.sectionOf(&(*v.dst)[i]).Encode(); maps[i] == nil {
			maps[i] = section.Map()
		}
	}
	return maps
}

// sweeps reads and writes a sweep or a list of sweeps.
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

func (v sweeps[T]) Form() string { return v.sweep.Form() + "; or a list of such maps" }

// Encode writes one map for each T, in a list if there are several. No map has a list of choices.
func (v sweeps[T]) Encode() *yaml.Node {
	maps := v.maps()
	if len(maps) == 1 {
		return maps[0]
	}
	return &yaml.Node{Kind: yaml.SequenceNode, Content: maps}
}

// choicesOf returns one map for each combination of entries from a map's lists. It returns any
// other value unchanged.
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

// valueOf returns the index of a key's value in the content of a map, or -1.
func valueOf(n *yaml.Node, key string) int {
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return i + 1
		}
	}
	return -1
}

// checkList refuses an empty list, a repeated number, and a list that makes too many combinations.
func checkList(key string, list *yaml.Node, before int) error {
	switch {
	case len(list.Content) == 0:
		return section.At(list, "%s is an empty list; give one number or several", key)
	case before*len(list.Content) > MaxCells:
		return section.At(list, "the lists up to %s stand for more than %d choices; give shorter lists", key, MaxCells)
	}
	seen := make(map[float64]bool)
	for _, item := range list.Content {
		x, err := strconv.ParseFloat(item.Value, 64)
		if err != nil {
			continue // the decoder of the number will report the mistake
		}
		if seen[x] {
			return section.At(item, "%s lists %s twice; keep one", key, section.Quote(item.Value))
		}
		seen[x] = true
	}
	return nil
}

// mergeMaps joins maps that differ only in the values of the keys in lists. It is the inverse of choicesOf.
func mergeMaps(maps []*yaml.Node, lists []string) *yaml.Node {
	out := maps[0]
	for _, key := range lists {
		list := section.Flow()
		for _, m := range maps {
			item := section.Bare("0") // the value is 0 if the map omits the key
			if at := valueOf(m, key); at >= 0 {
				item = m.Content[at]
			}
			if !slices.ContainsFunc(list.Content, func(n *yaml.Node) bool { return n.Value == item.Value }) {
				list.Content = append(list.Content, item)
			}
		}
		if len(list.Content) > 1 {
			putValue(out, key, list)
		}
	}
	return out
}

// putValue sets the value of a key in a map.
func putValue(n *yaml.Node, key string, value *yaml.Node) {
	if at := valueOf(n, key); at >= 0 {
		n.Content[at] = value
		return
	}
	n.Content = append(n.Content, section.Word(key), value)
}
