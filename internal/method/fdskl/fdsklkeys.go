package fdskl

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"math"
	"slices"

	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/crypto/prg"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/job/section"
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/internal/method/columns"
	"github.com/mercer-fl/mercer/kernel/feature"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/protocol/fdskl"
)

// Keys holds the settings of protocol fdskl in a job file; see protocol/fdskl.
type Keys struct {
	job.Moded
	Directions int // the number of random directions; each gives a row one phase, and so two features
	columns.Keys
	Training Training
	Bits     int // the number of bits of a phase
	Tree     Tree
	Active   int // how many parties, counted from the first, have the labels and learn
	Labels   Placing
}

var _ job.Settings = (*Keys)(nil)

// Placing names how labels are distributed among the active parties.
type Placing string

// Spread means that each active party has the labels of only some rows. By default each active
// party has all labels.
const Spread Placing = "spread"

// Training names the order in which the party with the labels requests phases and learns from them.
type Training string

// Cached is the training that requests all phases once and learns locally. The other trainings are
// the published algorithm and its practical variants, which request new directions in each
// iteration.
const (
	Cached   Training = "cached"
	Faithful Training = "faithful" // the training with one row and one direction in each iteration
	Blocks   Training = "block"    // the training with a batch of rows and a block of directions in each iteration
	Precond  Training = "precond"  // the same as Blocks, but with Newton steps
)

// Tree names the shape of the tree along which parties add up phases.
type Tree string

// The shapes of the tree. Mode paper has trees of its own.
const (
	BinaryTree Tree = "binary"
	StarTree   Tree = "star"
	ChainTree  Tree = "chain"
)

// Default values of the trainings' settings, and the limits of settings.
const (
	defaultBatch        = 256
	defaultBlocks       = 64
	defaultRate         = 4 // the default learning rate of gradient steps; Newton steps use 1
	maxPhases           = 1 << 20
	maxWorkerDirections = 1 << 16 // the largest number of directions of each active worker, if there are several
)

// Section declares the keys of protocol fdskl in a job file.
func (k *Keys) Section() *section.Section {
	return &section.Section{Doc: "Parties that hold different columns of the same people add up phases of random features. The holder of the labels learns from the sums.",
		Fields: []section.Field{
			k.ModeKey(),
			{Key: "directions", Value: section.Whole{Dst: &k.Directions}, Default: "1024", Doc: "The number of random features, 1 to 1048576."},
			k.IDsKey(),
			{Key: "training", Value: section.Choice[Training]{Noun: "training", Dst: &k.Training, Known: []Training{Cached, Faithful, Blocks, Precond}}, Default: string(Cached),
				Doc: "How the label holder requests phases: once for all, by single rows, by blocks, or by blocks with Newton steps."},
			{Key: "bits", Value: section.Whole{Dst: &k.Bits}, Default: "16", Doc: "The number of bits of a phase: 8, 16 or 32."},
			{Key: "tree", Value: section.Choice[Tree]{Noun: "tree", Dst: &k.Tree, Known: []Tree{BinaryTree, StarTree, ChainTree}}, Default: string(BinaryTree),
				Doc: "The shape in which phases are added up; mode paper has trees of its own."},
			{Key: "active", Value: section.Whole{Dst: &k.Active}, Default: "1",
				Doc: "The number of parties, from the first on, that have the labels and learn. More than one needs training faithful."},
			{Key: "labels", Value: section.Choice[Placing]{Noun: "placing of labels", Dst: &k.Labels, Known: []Placing{Spread}}, Else: "each active party has all labels",
				Doc: "Spread says that each active party has labels of a part of the rows. A row without a label has an empty cell in its column."},
		}, Finish: k.finish}
}

func (k *Keys) finish(in *section.Place) error {
	if err := k.CheckIDs(in); err != nil {
		return err
	}
	switch err := in.Some("directions", k.Directions); {
	case err != nil:
		return err
	case k.Directions > maxPhases:
		return in.Refuse("directions", "directions is %d; write up to %d", k.Directions, maxPhases)
	case !slices.Contains([]int{8, 16, 32}, k.Bits):
		return in.Refuse("bits", "bits is %d; write 8, 16 or 32", k.Bits)
	case k.Mode == job.Paper && in.Given("tree") && k.Tree != BinaryTree:
		return in.Refuse("tree", `mode paper prescribes its trees; remove "tree"`)
	}
	return k.checkActive(in)
}

// checkActive checks the number of active workers and the settings that several active workers
// require. Several active workers take turns in the iterations of the published algorithm. If they
// ran at the same time, as in the paper, the model would depend on timing, and a job that resumes
// after a crash would give another model.
func (k *Keys) checkActive(in *section.Place) error {
	switch err := in.Some("active", k.Active); {
	case err != nil:
		return err
	case k.Active == 1 && k.Labels == Spread:
		return in.Refuse("labels", `"labels: spread" needs several active parties, but only one is active; add "active: 2" and "training: faithful", or remove "labels"`)
	case k.Active > 1 && k.Training != Faithful:
		return in.Refuse("active", `training %s does not work with several active workers, which take turns at one row and one direction; write "training: faithful", or remove "active"`, k.Training)
	case k.Active > 1 && k.Directions%k.Active != 0:
		return in.Refuse("directions", "directions is %d; write a multiple of %d, the number of active workers", k.Directions, k.Active)
	case k.Active > 1 && k.Directions/k.Active > maxWorkerDirections:
		return in.Refuse("directions", "directions is %d; write at most %d for each active worker", k.Directions, maxWorkerDirections)
	}
	return nil
}

// Demands returns what the settings demand of a job; it implements [job.Settings].
func (k *Keys) Demands() job.Demands {
	return job.Demands{
		Mode: k.Mode, Check: k.check, Limits: map[string]int{"max_ids": k.MaxIDs, "directions": k.Directions},
		Labelled: k.Active, Spreads: k.Labels == Spread,
	}
}

// check refuses a job whose learner, kernel, data, parties or open predictions do not suit the protocol.
func (k *Keys) check(j *job.Job, in *section.Place) error {
	_, optimizer := learner.OptimizerParamsOf(j)
	switch {
	case optimizer == nil:
		return in.Refuse("learner", "protocol fdskl does not run learner %s; it runs %s", j.Learner.Name(), learner.Able(", ", learner.On[learner.LossLearner]))
	case len(j.Kernels()) > 1 || !slices.Contains([]job.KernelName{job.RBF, job.Laplacian, job.LaplacianProduct, job.RationalQuadratic, job.Matern}, j.Kernel.Name):
		return in.Refuse("kernel", "protocol fdskl needs one kernel with random features: rbf, laplacian, laplacian-product, rational-quadratic or matern")
	case j.Kernel.Amplitude != 0:
		return in.Refuse("kernel", `protocol fdskl has random features, which have no amplitude in this version; remove "amplitude"`)
	case k.Active > len(j.Parties()):
		return in.Refuse("protocol", "active is %d, but the job has only %d parties; write at most %d", k.Active, len(j.Parties()), len(j.Parties()))
	case k.Labels == Spread && j.Task().Numbers:
		return in.Refuse("protocol", `"labels: spread" needs two classes, but learner %s predicts numbers; use learner logistic or smooth-hinge, or remove "labels"`, j.Learner.Name())
	case k.Active > 1 && j.Prediction == job.Open:
		return in.Refuse("prediction", `"prediction: open" does not work with several active workers in this version; remove "prediction" or "active"`)
	case k.Mode == job.Paper && j.Prediction == job.Open: // the offsets that mode paper adds to phases end with their session
		return in.Refuse("prediction", `"prediction: open" does not work with "mode: paper" in this version; remove "prediction" or "mode"`)
	case j.Compares(job.ExactKernel) && j.Kernel.Name == job.LaplacianProduct:
		return in.Refuse("compare", "the exact laplacian-product kernel is not available, only its random features; remove \"exact-kernel\"")
	case j.Data.Folds > 0:
		return in.Refuse("data.folds", `protocol fdskl has no folds; use "test: {fraction: 0.25}"`)
	}
	return k.checkTraining(optimizer, in)
}

// checkTraining refuses learner settings that the training does not use. It sets the defaults of
// the settings that the training uses.
func (k *Keys) checkTraining(l *learner.Descent, in *section.Place) error {
	switch {
	case k.Training == Cached && (l.Rate != 0 || l.Batch != 0 || l.Iterations != 0):
		return in.Refuse("learner", `"training: cached" uses no "rate", "batch" or "iterations"; remove all three, or add "training: block" to protocol`)
	case k.Training == Cached:
		return nil
	case k.Training == Faithful && (l.Batch > 1 || l.Iterations != 0):
		return in.Refuse("learner", `"training: faithful" uses one row and one direction in each iteration; remove "batch" and "iterations"`)
	case l.Iterations > k.Directions:
		return in.Refuse("learner", "iterations is %d, but directions is only %d; each iteration needs at least one direction", l.Iterations, k.Directions)
	}
	if l.Rate == 0 && k.Training == Precond {
		l.Rate = 1
	}
	l.Rate = cmp.Or(l.Rate, defaultRate)
	if k.Training != Faithful {
		l.Batch = cmp.Or(l.Batch, defaultBatch)
		l.Iterations = cmp.Or(l.Iterations, min(defaultBlocks, k.Directions))
	}
	if l.Rate*l.Lambda >= 1 {
		return in.Refuse("learner", "rate %g times lambda %g must be below 1; write a smaller rate", l.Rate, l.Lambda)
	}
	return nil
}

// Directions holds the seeds and the kernel from which the random directions of columns are drawn.
type Directions struct {
	columns.Directions
	Kernel job.Kernel // the kernel, with gamma as a number without a unit
}

// DirectionsOf combines a job's kernel with the seeds and the gamma of d. This gamma has no unit.
func DirectionsOf(j *job.Job, d columns.Directions) Directions {
	k := j.Kernel
	k.Gamma, k.GammaUnit = d.Gamma, ""
	return Directions{d, k}
}

// Phases returns the source of the phases of rows, with the given number of bits in each phase.
func (d Directions) Phases(rows linalg.Rows, bits int) (fdskl.Source, error) {
	spectrum, err := spectrumOf(d.Kernel)
	if err != nil {
		return nil, err
	}
	_, width := rows.Shape()
	return feature.NewPhases(rows, feature.Directions{
		Spectrum: spectrum, Columns: width,
		Entries: func(block, column int) feature.Numbers {
			return prg.New(d.Key, "fdskl/entries", number(block), number(d.Before+column))
		},
		Scales: func(block int) feature.Numbers { return prg.New(d.Common, "fdskl/scales", number(block)) },
	}, bits), nil
}

func number(n int) []byte { return binary.LittleEndian.AppendUint64(nil, uint64(n)) }

// hash returns a digest of the key and the rows from which the phases are computed.
func (d Directions) hash(rows linalg.Rows) [sha256.Size]byte {
	h := sha256.New()
	h.Write(d.Key[:])
	n, width := rows.Shape()
	row, line := make([]float64, width), make([]byte, 0, 8*width)
	for i := range n {
		rows.ReadRow(i, row)
		line = line[:0]
		for _, v := range row {
			line = binary.LittleEndian.AppendUint64(line, math.Float64bits(v))
		}
		h.Write(line)
	}
	return [sha256.Size]byte(h.Sum(nil))
}

// spectrumOf returns the distribution from which a kernel's random directions are drawn.
func spectrumOf(k job.Kernel) (feature.Spectrum, error) {
	if k.Name == job.LaplacianProduct {
		return feature.Manhattan(k.Gamma), nil
	}
	return feature.SpectrumOf(k.Spec())
}

// answeredAtOnce is the largest number of rows that [AnswerAll] passes to a schedule at once.
const answeredAtOnce = 1 << 12

// AnswerAll passes a schedule all phases that it requests, until ctx ends. The source computes the
// phases. Each phase is a word of size bytes.
func AnswerAll(ctx context.Context, s fdskl.Schedule, source fdskl.Source, size int) error {
	for q, more := s.Next(); more; q, more = s.Next() {
		var rows []int
		for _, span := range q.Rows {
			rows = append(rows, linalg.Range(span.First, span.First+span.Count)...)
		}
		words := make([]byte, min(len(rows), answeredAtOnce)*q.Directions.Count*size)
		for len(rows) > 0 {
			if err := ctx.Err(); err != nil {
				return err
			}
			n := min(len(rows), answeredAtOnce)
			part := words[:n*q.Directions.Count*size]
			source.Block(part, rows[:n], q.Directions.First, q.Directions.Count)
			s.Answer(rows[:n], part)
			rows = rows[n:]
		}
	}
	return nil
}

// unitPairs is the largest number of row pairs from which the median distance is computed.
const unitPairs = 1 << 13

// Unit returns the unit of gamma, measured over the given columns of training rows. The mean squared
// norm is exact. The median squared distance is taken over pairs of rows that are near each other in the
// common order, which no party chose.
func Unit(rows linalg.Rows, unit job.GammaUnit) float64 {
	n, _ := rows.Shape()
	if unit == job.Norm {
		sum := 0.0
		eachRow(rows, func(row []float64) { sum += linalg.Dot(row, row) })
		return sum / float64(max(1, n))
	}
	var distances []float64
	for step := 1; step <= n/2 && len(distances) < unitPairs; step++ {
		distances = appendDistances(distances, rows, step)
	}
	if len(distances) == 0 {
		return 0
	}
	slices.Sort(distances)
	return distances[len(distances)/2]
}

// appendDistances appends, for each row i, its squared distance to row i+step, until the list has
// unitPairs distances.
func appendDistances(list []float64, rows linalg.Rows, step int) []float64 {
	n, width := rows.Shape()
	a, b := make([]float64, width), make([]float64, width)
	for i := 0; i+step < n && len(list) < unitPairs; i++ {
		rows.ReadRow(i, a)
		rows.ReadRow(i+step, b)
		sum := 0.0
		for k, v := range a {
			sum += (v - b[k]) * (v - b[k])
		}
		list = append(list, sum)
	}
	return list
}

func eachRow(rows linalg.Rows, use func(row []float64)) {
	n, width := rows.Shape()
	row := make([]float64, width)
	for i := range n {
		rows.ReadRow(i, row)
		use(row)
	}
}

// jointUnit adds up the units of gamma that the parties declare. It returns 0 if the job has no
// unit.
func jointUnit(d columns.Declared) float64 {
	unit := 0.0
	for _, one := range d.List {
		unit += one.Unit
	}
	return unit
}

// Gamma returns the gamma of the job's kernel as a number without a unit. unit is the unit of
// gamma, measured over all columns.
func Gamma(j *job.Job, unit float64) (float64, error) {
	if j.Kernel.GammaUnit == "" {
		return j.Kernel.Gamma, nil
	}
	if !(unit > 0) {
		return 0, fault.BadInputf("fdskl: gamma_unit %s is %v: too many training rows are equal, or zero; give gamma without a unit", j.Kernel.GammaUnit, unit)
	}
	return j.Kernel.Over(unit).Gamma, nil
}
