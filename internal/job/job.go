package job

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"

	"go.yaml.in/yaml/v3"
)

// APIVersion is the version of the job file that this package reads.
const APIVersion = "mercer/v1"

// Job is a job with every default filled in. It is plain data: [Job.Validate]
// checks one that was not parsed.
type Job struct {
	Name       string // lower-case letters, digits and dashes
	Seed       uint64 // of the partition and the split; never of secrets
	Data       Data
	Protocol   Protocol
	Kernel     Kernel       // of a grid, the first
	Learner    Learner      // of a grid, the first
	Grid       Grid         // empty unless the file has lists to choose from
	Compare    []Comparison // in the order of [Comparisons]
	Prediction Prediction
	Timeout    Timeout
}

// Comparison is a baseline that the launching process computes beside the job,
// because it owns the data; deployed jobs have none.
type Comparison string

// The comparisons.
const (
	Pooled Comparison = "pooled" // the same learner on all data: what privacy cost
	Alone  Comparison = "alone"  // each party by itself: what joining gained
	Curve  Comparison = "curve"  // other numbers of directions (moments) or bins (secvm), what they gain and what they show
	// ExactKernel is a machine with the kernel that fdskl's random features stand
	// for: what they cost.
	ExactKernel Comparison = "exact-kernel"
)

// Comparisons returns all comparisons in canonical order.
func Comparisons() []Comparison { return []Comparison{Pooled, Alone, Curve, ExactKernel} }

// Prediction says what becomes of the encoder's secret after the result.
type Prediction string

// Closed destroys every encoder's secret with the result. Open keeps it at the
// parties, so that they can encode new rows for the model later.
const (
	Closed Prediction = "closed"
	Open   Prediction = "open"
)

// Owned returns the job as its parties see it: each has a table of its own, which
// all call by one name.
func (j *Job) Owned(name string) *Job {
	d := *j
	d.Data.Source, d.Data.Sources = name, nil
	d.Data.Partition = Partition{By: Rows, Parties: j.Parties()}
	if p := j.Data.Partition; p.By == Columns {
		d.Data.Partition.By, d.Data.Partition.Columns, d.Data.Partition.Aligned = Columns, p.Columns, p.Aligned
	}
	return &d
}

// Compares reports whether the job asks for c.
func (j *Job) Compares(c Comparison) bool {
	for _, have := range j.Compare {
		if have == c {
			return true
		}
	}
	return false
}

// initial holds the defaults that do not depend on other keys.
func initial() *Job {
	return &Job{
		Seed:       1,
		Data:       Data{Scale: MinMax},
		Compare:    []Comparison{Pooled, Alone},
		Prediction: Closed,
		Timeout:    defaultTimeout(),
	}
}

// Parse reads a job file. The name is what errors call the file. Every error
// is an [*Error] and names a line.
func Parse(name string, data []byte) (*Job, error) {
	j := initial()
	root, err := document(data)
	if err == nil {
		err = j.file().decode("", root)
	}
	if err != nil {
		return nil, inFile(name, err)
	}
	return j, nil
}

// Encode returns the canonical job file: Parse(Encode(j)) equals j, and equal
// jobs have equal bytes.
func (j *Job) Encode() []byte {
	var b bytes.Buffer
	e := yaml.NewEncoder(&b)
	e.SetIndent(2)
	if err := errors.Join(e.Encode(j.file().encode()), e.Close()); err != nil {
		panic(fmt.Sprintf("job: %v", err)) // scalars and maps into memory: no such case
	}
	return b.Bytes()
}

// Hash is the SHA-256 of the canonical job file.
func (j *Job) Hash() [sha256.Size]byte { return sha256.Sum256(j.Encode()) }

// Validate checks a job that was built or changed by a program and fills the
// defaults of what it leaves out, as Parse does. Lines in its error count in
// the canonical file.
func (j *Job) Validate() error {
	valid, err := Parse("job", j.Encode())
	if err != nil {
		return err
	}
	*j = *valid
	return nil
}

// Simulable reports why the job cannot run in one process that plays every
// party, or nil.
func (j *Job) Simulable() error {
	if j.Parties() != nil && j.Data.Partition.By == Devices {
		return errors.New("job: to simulate, the people are those of the ratings; remove parties")
	}
	if j.Data.Label == "" {
		return fmt.Errorf("job: data has no label; to simulate, add label: and the name of the column that holds %s", j.Learner.Name.predicted())
	}
	if j.Parties() == nil && j.Data.Partition.By != Devices {
		return errors.New("job: the data is not shared out; to simulate, add partition: {parties: [north, south]} or sources: to data")
	}
	return nil
}

// Deployable reports why the job cannot run between real parties, or nil.
func (j *Job) Deployable() error {
	switch j.Protocol.Name {
	case FedCFK:
		return j.deployableCrowd()
	case SecVM:
		return errors.New("job: protocol secvm has devices that nobody knows by name, and so no parties to submit a job to; mercer gateway serves it")
	case PooledData:
		return errors.New("job: protocol pooled has no privacy and runs in simulate only; use okra")
	}
	if err := j.Data.LeavesRows(); err != nil {
		return fmt.Errorf("job: %w", err)
	}
	return nil
}

// file is the declaration of the whole job file.
func (j *Job) file() *section {
	return &section{name: "the job file", fields: []field{
		{key: "apiVersion", value: fixed(APIVersion), need: "write apiVersion: " + APIVersion + " as the first line"},
		{key: "kind", value: fixed("Job"), need: "write kind: Job"},
		{key: "metadata", value: &section{name: "metadata", fields: []field{
			{key: "name", value: dnsLabel{&j.Name}, need: "add name: and a short name of lower-case letters, digits and dashes"},
		}}, need: "add metadata: {name: my-job}"},
		{key: "spec", value: j.spec(), need: "add spec: with data, protocol, kernel and learner"},
	}}
}

func (j *Job) spec() *section {
	kernels, learners := j.Kernels(), j.Learners()
	return &section{name: "spec", fields: []field{
		{key: "seed", value: seed{&j.Seed}},
		{key: "data", value: j.Data.section(), need: "add data: with source and label"},
		{key: "protocol", value: j.Protocol.section(), need: "add protocol: {name: okra}"},
		{key: "kernel", value: sweeps[Kernel]{sweep[Kernel]{&kernels, (*Kernel).section, kernelLists()}}, need: "add kernel: {name: rbf, gamma: 0.5}"},
		{key: "learner", value: sweep[Learner]{&learners, (*Learner).section, learnerLists()}, need: "add learner: {name: svc, C: 10}"},
		{key: "compare", value: choices[Comparison]{"comparison", &j.Compare, Comparisons()}},
		{key: "prediction", value: choice[Prediction]{"prediction", &j.Prediction, []Prediction{Closed, Open}, nil}},
		{key: "timeout", value: j.Timeout.section()},
	}, finish: func(in *place) error {
		if err := j.finishGrid(in, kernels, learners); err != nil {
			return err
		}
		if err := j.finishRecommender(in); err != nil {
			return err
		}
		if err := j.finishTest(in); err != nil {
			return err
		}
		if err := j.finishMoments(in); err != nil {
			return err
		}
		if err := j.finishSecVM(in); err != nil {
			return err
		}
		if err := j.finishVertical(in); err != nil {
			return err
		}
		if err := j.finishFDSKL(in); err != nil {
			return err
		}
		return j.finishLabels(in)
	}}
}

// finishLabels checks what the learner asks of the data.
func (j *Job) finishLabels(in *place) error {
	needs := j.Learner.Name.Classifies() || j.Learner.Name.Regresses()
	owned := j.Data.Sources == nil && j.Protocol.Name != SecVM && j.Protocol.Name != PooledData // parties' catalogues can say
	switch {
	case needs && j.Data.Label == "" && !owned:
		return in.refuse("data", "data has no label; add label: and the name of the column that holds %s", j.Learner.Name.predicted())
	case needs && j.Data.Label == "":
	case needs && j.Data.Label == NoLabel:
		return in.refuse("data", "learner %s needs labels; give label: the name of their column", j.Learner.Name)
	case j.Data.Label == "":
		j.Data.Label = NoLabel
	}
	if j.Data.Folds > 0 && !needs {
		return in.refuse("data", "folds go by accuracy or r2, and learner %s has neither; use test: {fraction: 0.25}", j.Learner.Name)
	}
	if j.Data.Partition.Skew > 0 && (j.Learner.Name.Regresses() || j.Data.Label == NoLabel) {
		return in.refuse("data", "skew divides classes unevenly, and there are none here; remove it")
	}
	return nil
}
