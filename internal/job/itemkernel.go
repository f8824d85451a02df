package job

import (
	"github.com/mercer-fl/mercer/internal/job/section"
)

// The Boolean kernels between items, of a recommender only: they compare items
// by the formulas over people that are true of both. See learn/komd.
const (
	Conjunctive KernelName = "conjunctive" // degree people who all like it
	Disjunctive KernelName = "disjunctive" // degree people, one of whom likes it
	DNF         KernelName = "dnf"         // degree conjunctions of clause people, one of which holds
	CNF         KernelName = "cnf"         // degree disjunctions of clause people, which all hold
)

// BooleanKernels returns the kernels between items.
func BooleanKernels() []KernelName { return []KernelName{Conjunctive, Disjunctive, DNF, CNF} }

// MaxItemDegree bounds the size of formulas, as learn/komd does.
const MaxItemDegree = 20

// degree refuses a size of formulas that learn/komd does not have.
func degree(in *section.Place, key string, kernel KernelName, v int) error {
	switch {
	case !in.Given(key):
		return in.Refuse(key, "the %s kernel needs %s; add one such as %s: 2", kernel, key, key)
	case v < 1 || v > MaxItemDegree:
		return in.Refuse(key, "%s is %d; write 1 to %d", key, v, MaxItemDegree)
	}
	return nil
}
