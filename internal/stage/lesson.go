package stage

import (
	"fmt"
	"math"

	"github.com/mercer-fl/mercer/internal/evaluate"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/wire"
	"github.com/mercer-fl/mercer/kernel/feature"
	"github.com/mercer-fl/mercer/learn/moments"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/model"
)

// lesson is what a learner makes of sums.
type lesson interface {
	// targets go into the sums with rows that have these labels, width of them
	// with each; totals of them come with their own sums.
	targets(labels []string, rows int) (moments.Targets, error)
	width() int
	totals() int
	// solve makes what the parties are told of the sums: solutions with a number
	// of outputs, and further numbers.
	solve(s *moments.Sums) (*taught, error)
	outputs() int
	further(features int) int
	// measure sums up errors over held-out rows; there are so many figures, none
	// beyond moments.SquaredBound.
	measure(m feature.Map, t *taught, rows linalg.Rows, labels []string) ([]int64, error)
	figures() int
	// judge chooses a solution by the figures of so many rows of all parties.
	judge(s *moments.Sums, t *taught, rows int64, figures []int64) (*verdict, error)
	// describe fills in what a model has of one solution.
	describe(t *taught, r *model.RandomSpec)
}

// taught is what the parties are told.
type taught struct {
	path    []moments.Solution // one for each value in the job's list
	further []float64
}

// verdict is what the held-out rows say.
type verdict struct {
	best    int
	cells   []Cell // of each solution: score, mean and rows decided rightly; nil where there is no choice
	metrics evaluate.Metrics
	values  []float64 // eigenvalues
}

// lessonOf returns the lesson of a job's learner.
func lessonOf(j *job.Job) lesson {
	switch j.Learner.Name {
	case job.Ridge, job.GP:
		r := moments.Range{Least: j.Protocol.Targets[0], Greatest: j.Protocol.Targets[1]}
		if j.Learner.Name == job.GP {
			return processLesson{numberLesson{r, regularisers(j)}}
		}
		return numberLesson{r, regularisers(j)}
	case job.KPCA:
		return componentLesson(j.Learner.NComponents)
	}
	return classLesson{j.Protocol.Classes, regularisers(j)}
}

// regularisers of a job, in the order of its grid.
func regularisers(j *job.Job) []float64 {
	var list []float64
	for _, l := range j.Learners() {
		list = append(list, l.Alpha+l.Noise) // a learner has one of them
	}
	return list
}

// taughtBytes is the length of what is told.
func taughtBytes(j *job.Job, features int) int {
	l := lessonOf(j)
	return 8 * (len(j.Learners())*l.outputs()*(features+1) + l.further(features))
}

func (t *taught) encode() []byte {
	var w wire.Writer
	for _, s := range t.path {
		w.Float64s(s.Weights.Data)
		w.Float64s(s.Offset)
	}
	w.Float64s(t.further)
	return w.Bytes()
}

// decodeTaught reads what encode wrote.
func decodeTaught(j *job.Job, features int, b []byte) (*taught, error) {
	r, l := wire.NewReader(b), lessonOf(j)
	t := &taught{}
	read := func(dst []float64) {
		r.Float64s(dst)
		for _, v := range dst {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				r.Fail(fmt.Errorf("a number is %v", v))
			}
		}
	}
	for _, alpha := range regularisers(j) {
		s := moments.Solution{Alpha: alpha, Weights: linalg.New[float64](l.outputs(), features), Offset: make([]float64, l.outputs())}
		read(s.Weights.Data)
		read(s.Offset)
		t.path = append(t.path, s)
	}
	t.further = make([]float64, l.further(features))
	read(t.further)
	return t, r.Close("solutions")
}
