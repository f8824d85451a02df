package job

import "github.com/mercer-fl/mercer/internal/job/section"

// Names are the words by which a policy speaks of jobs.
type Names struct{ Protocols, Modes, Kernels, Learners []string }

// Known returns all that a job file may name.
func (r *Reader) Known() Names {
	return Names{
		Protocols: named{kinds: kindsOf(r.Protocols)}.names(), Modes: section.Texts(modes()),
		Kernels: section.Texts(kernelNames()), Learners: named{kinds: kindsOf(r.Learners)}.names(),
	}
}
