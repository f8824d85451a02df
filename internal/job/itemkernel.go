package job

import (
	"slices"

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

func booleanNames() []KernelName { return []KernelName{Conjunctive, Disjunctive, DNF, CNF} }

// maxItemDegree is learn/komd's.
const maxItemDegree = 20

// degree refuses a size of formulas that learn/komd does not have.
func degree(in *section.Place, key string, kernel KernelName, v int) error {
	switch {
	case !in.Given(key):
		return in.Refuse(key, "the %s kernel needs %s; add one such as %s: 2", kernel, key, key)
	case v < 1 || v > maxItemDegree:
		return in.Refuse(key, "%s is %d; write 1 to %d", key, v, maxItemDegree)
	}
	return nil
}

// finishItemKernel refuses kernels between items that learn/komd does not have.
func (j *Job) finishItemKernel(in *section.Place) error {
	known := append([]KernelName{Linear, Polynomial, Tanimoto, RBF}, booleanNames()...)
	switch k := j.Kernel; {
	case !slices.Contains(known, k.Name):
		return in.Refuse("kernel", "learner cf-komd has no kernel %s; it has %s", k.Name, section.Join(known))
	case k.GammaUnit != "":
		return in.Refuse("kernel", "fedcfk has no gamma_unit; give gamma as a number")
	case k.Name == Polynomial && k.Gamma != 1:
		return in.Refuse("kernel", "gamma of a kernel between items is %g; it is (C + coef0)^degree, so write gamma: 1", k.Gamma)
	case k.Name == Polynomial && k.Degree > maxItemDegree:
		return in.Refuse("kernel", "degree of a kernel between items is %d; write 1 to %d", k.Degree, maxItemDegree)
	}
	return nil
}

// finishRowKernels refuses kernels between items where there are rows.
func (j *Job) finishRowKernels(in *section.Place) error {
	for _, k := range j.Kernels() {
		if slices.Contains(booleanNames(), k.Name) {
			return in.Refuse("kernel", "the %s kernel is one between items, of protocol fedcfk; protocol %s has rows", k.Name, j.Protocol.Name)
		}
	}
	return nil
}
