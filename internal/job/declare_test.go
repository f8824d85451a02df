package job

import (
	"testing"

	"github.com/mercer-fl/mercer/internal/job/section"
	"github.com/mercer-fl/mercer/internal/job/section/sectiontest"
)

// specOf and fileOf let a test see the sections that are made of a job.
type (
	specOf struct{ *Job }
	fileOf struct{ *Job }
)

func (s specOf) Section() *section.Section { return s.spec(some()) }
func (f fileOf) Section() *section.Section { return f.file(some()) }

// some is a reader of a protocol and a learner without keys.
func some() *Reader { return &Reader{Protocols: []Protocol{keyless{}}, Learners: []Learner{keyless{}}} }

type keyless struct{}

func (keyless) Name() string              { return "okra" }
func (keyless) Traits() Traits            { return Traits{} }
func (keyless) Task() Task                { return Task{} }
func (keyless) New() section.Values       { return keyless{} }
func (keyless) Section() *section.Section { return &section.Section{} }

func TestDeclarations(t *testing.T) {
	const spec = "{data: {source: a.csv}, protocol: {name: okra}, kernel: {name: rbf, gamma: 0.5}, learner: {name: okra}}"
	sectiontest.Declared(t, func() section.Values { return fileOf{new(Job)} }, "{apiVersion: mercer/v1, kind: Job, metadata: {name: a}, spec: "+spec+"}")
	sectiontest.Declared(t, func() section.Values { return specOf{new(Job)} }, spec)
	sectiontest.Declared(t, func() section.Values { return new(Data) }, "{source: a.csv}")
	sectiontest.Declared(t, func() section.Values { return new(Partition) }, "{parties: [north, south]}")
	sectiontest.Declared(t, func() section.Values { return new(Test) }, "{every: 2}")
	sectiontest.Declared(t, func() section.Values { return new(Timeout) }, "{}")
	for _, k := range kernelNames() {
		sectiontest.Declared(t, func() section.Values { return new(Kernel) }, "{name: "+string(k)+needed(k)+"}")
	}
}

// needed are the keys that a kernel cannot be without.
func needed(k KernelName) string {
	switch k {
	case RBF, Laplacian, LaplacianProduct, Polynomial:
		return ", gamma: 2"
	case DotProduct:
		return ", coefficients: [0, 1]"
	case Conjunctive, Disjunctive:
		return ", degree: 2"
	case DNF, CNF:
		return ", degree: 2, clause: 2"
	}
	return ""
}
