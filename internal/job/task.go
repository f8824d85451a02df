package job

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/job/section"
	"github.com/mercer-fl/mercer/model"
)

// Task describes a learner's use of labels. The zero value is the task of a learner that needs no
// labels.
type Task struct {
	Labels  string // what the label column holds, such as "the classes"; "" if the learner needs no labels
	Classes bool   // whether labels are classes; folds and simulated shares of rows are then stratified
	Numbers bool   // whether labels are numbers
	Score   string // the metric that chooses a grid's cell; "" for none
	// Shape is the form of the numbers that a model computes for a row. Older kinds of package
	// model need not set it.
	Shape model.OutputShape
	// Check refuses labels that do not fit the task. Nil accepts all labels.
	Check func(set *dataset.Set) error
}

// Learner is a learner of a job file, a Kind with a Task.
type Learner interface {
	Kind
	Task() Task
}

// Task returns the task of the job's learner.
func (j *Job) Task() Task {
	l, is := j.Learner.Kind.(Learner)
	if !is {
		return Task{}
	}
	t := l.Task()
	if j.Scoring != "" {
		t.Score = string(j.Scoring)
	}
	return t
}

// Scoring names the metric that chooses a cell of a grid; "" means the task's default metric.
type Scoring string

// Scorings returns the metrics that can choose a grid's cell, for classes and for numbers.
func Scorings() (classes, numbers []Scoring) {
	return []Scoring{"accuracy", "balanced_accuracy", "f1_macro", "auc"}, []Scoring{"r2", "rmse", "mae"}
}

// finishScoring refuses a scoring metric in a job without folds, or one that the learner does not
// have.
func (j *Job) finishScoring(in *section.Place) error {
	if j.Scoring == "" {
		return nil
	}
	classes, numbers := Scorings()
	task := j.Task()
	switch {
	case j.Data.Folds == 0:
		return in.Refuse("scoring", "\"scoring\" needs folds to choose a cell of a grid, and \"data\" has none; add \"folds: 5\" to \"data\", or remove \"scoring\"")
	case task.Classes && !slices.Contains(classes, j.Scoring):
		return in.Refuse("scoring", "learner %s predicts classes, which have no %s; use %s", j.Learner.Name(), j.Scoring, section.Join(classes))
	case task.Numbers && !slices.Contains(numbers, j.Scoring):
		return in.Refuse("scoring", "learner %s predicts numbers, which have no %s; use %s", j.Learner.Name(), j.Scoring, section.Join(numbers))
	}
	return nil
}

// Classes returns the task of classification.
func Classes() Task {
	return Task{Labels: "the classes", Classes: true, Score: "accuracy", Check: func(set *dataset.Set) error {
		classes, _ := dataset.Classes(set.Labels)
		if err := cmp.Or(dataset.CheckClasses(classes, len(set.Labels)), dataset.CheckSpelling(classes)); err != nil {
			return fmt.Errorf("%s: %w", set.Name, err)
		}
		return nil
	}}
}

// Numbers returns the task of regression, whose labels are numbers.
func Numbers() Task {
	return Task{Labels: "the numbers to predict", Numbers: true, Score: "r2", Check: func(set *dataset.Set) error {
		_, err := set.Targets()
		return err
	}}
}
