package job

import (
	"slices"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/job/section"
	"github.com/mercer-fl/mercer/model"
)

// Task describes the labels of a table as a learner sees them. The zero value is the task of
// a learner that needs no labels.
type Task struct {
	Labels  string // what the column of labels holds, in messages: "the classes"; "": no labels are needed
	Classes bool   // labels are classes, of which every part of a table gets its share
	Numbers bool   // labels are numbers
	Score   string // the metric by which a cell of a grid is chosen; "": there is none
	// Shape is of the numbers that a model gives for a row; the kinds of package model, which are older,
	// need not say it.
	Shape model.OutputShape
	// Check refuses labels that do not fit the task. Nil accepts all labels.
	Check func(labels []string) error
}

// Learner is a Kind that declares its task.
type Learner interface {
	Kind
	Task() Task
}

// Task returns the meaning of labels to the job's learner.
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

// Scoring names the metric by which a cell of a grid is chosen; "" is the task's own.
type Scoring string

// Scorings returns the metrics that choose: first those for classes, then those for numbers.
func Scorings() (classes, numbers []Scoring) {
	return []Scoring{"accuracy", "balanced_accuracy", "f1_macro", "auc"}, []Scoring{"r2", "rmse", "mae"}
}

// finishScoring refuses a metric that chooses nothing, or that the learner has not.
func (j *Job) finishScoring(in *section.Place) error {
	if j.Scoring == "" {
		return nil
	}
	classes, numbers := Scorings()
	task := j.Task()
	switch {
	case j.Data.Folds == 0:
		return in.Refuse("scoring", "scoring needs folds to choose a cell of a grid, and data has none; add folds: 5 to data, or remove scoring")
	case task.Classes && !slices.Contains(classes, j.Scoring):
		return in.Refuse("scoring", "learner %s predicts classes, which have no %s; use %s", j.Learner.Name(), j.Scoring, section.Join(classes))
	case task.Numbers && !slices.Contains(numbers, j.Scoring):
		return in.Refuse("scoring", "learner %s predicts numbers, which have no %s; use %s", j.Learner.Name(), j.Scoring, section.Join(numbers))
	}
	return nil
}

// Classes returns the task of classification.
func Classes() Task {
	return Task{Labels: "the classes", Classes: true, Score: "accuracy", Check: func(labels []string) error {
		classes, _ := dataset.Classes(labels)
		return dataset.CheckSpelling(classes)
	}}
}

// Numbers returns the task of predicting numbers.
func Numbers() Task {
	return Task{Labels: "the numbers to predict", Numbers: true, Score: "r2", Check: func(labels []string) error {
		_, err := dataset.Targets(labels)
		return err
	}}
}
