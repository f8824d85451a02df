package job

import "github.com/mercer-fl/mercer/dataset"

// Task describes the labels of a table as a learner sees them. The zero value is the task of
// a learner that needs no labels.
type Task struct {
	Labels  string // what the column of labels holds, in messages: "the classes"; "": no labels are needed
	Classes bool   // labels are classes, of which every part of a table gets its share
	Numbers bool   // labels are numbers
	Score   string // the metric by which a cell of a grid is chosen; "": there is none
	// Check refuses labels that do not fit the task. Nil accepts all labels.
	Check func(labels []string) error
}

// Tasked is a learner that declares its task.
type Tasked interface{ Task() Task }

// Task returns the meaning of labels to the job's learner.
func (j *Job) Task() Task {
	if l, is := j.Learner.Kind.(Tasked); is {
		return l.Task()
	}
	return Task{}
}

// Classes returns the task of telling classes apart.
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
