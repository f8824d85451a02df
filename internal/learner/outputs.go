package learner

import (
	"fmt"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/linalg"
)

// Outputs holds the targets of a linear model on training rows. Numbers are centred; each class has
// one output, +1 for its rows and -1 for the others. Two classes share one output, which is
// positive for the second class.
type Outputs struct {
	Classes []string               // classes in the order of the outputs; nil for numbers
	Mean    float64                // mean of the numbers
	Y       linalg.Matrix[float64] // targets, outputs x rows

	order []string // order of the classes; nil: the order of package dataset
}

// OutputsOf converts the labels of a job's training rows to targets, as classes or as numbers.
func OutputsOf(j *job.Job, labels []string) (*Outputs, error) {
	if j.Task().Numbers {
		y, err := parseNumbers(labels)
		if err != nil {
			return nil, err
		}
		o := &Outputs{Y: linalg.New[float64](1, len(y))}
		o.Mean, _ = standardise(y)
		for i, v := range y {
			o.Y.Row(0)[i] = v - o.Mean
		}
		return o, nil
	}
	classes, _ := dataset.ClassesIn(j.Data.Order, labels)
	o, err := OutputsFor(classes, labels)
	if err == nil {
		o.order = j.Data.Order
	}
	return o, err
}

// OutputsFor converts the labels of training rows to targets. classes lists all classes in the
// order of the outputs.
func OutputsFor(classes, labels []string) (*Outputs, error) {
	if len(classes) < 2 {
		return nil, ErrOneClass
	}
	code := make(map[string]int)
	for c, class := range classes {
		code[class] = c
	}
	first := 0
	if len(classes) == 2 {
		first = 1
	}
	o := &Outputs{Classes: classes, order: classes, Y: linalg.New[float64](len(classes)-first, len(labels))}
	for k := range o.Y.Rows {
		for i, label := range labels {
			o.Y.Row(k)[i] = -1
			if code[label] == k+first {
				o.Y.Row(k)[i] = 1
			}
		}
	}
	return o, nil
}

// Measure returns the metrics of decisions (outputs x rows) on rows with these labels. The metrics
// are those of ridge for numbers and of svc for classes.
func (o *Outputs) Measure(u linalg.Matrix[float64], labels []string) (Metrics, error) {
	f := &Fitted{Truth: labels, Decisions: o.scores(u), order: o.order}
	f.Head.Classes = o.Classes
	if o.Classes != nil {
		f.Predicted = o.predict(f.Decisions)
	}
	return o.measure(f)
}

func (o *Outputs) measure(f *Fitted) (Metrics, error) {
	m, err := Metrics{}, error(nil)
	if o.Classes == nil {
		err = f.measureNumbers(m)
	} else {
		err = f.measureClasses(m)
	}
	if err != nil {
		return nil, fmt.Errorf("learner: %w", err)
	}
	return m, nil
}

// Judge computes the metrics and the assessment of a learner's decisions (outputs x rows). truth
// holds the labels of these rows, training the labels of the training rows.
func (o *Outputs) Judge(j *job.Job, u linalg.Matrix[float64], truth, training []string) (*Work, error) {
	f := &Fitted{Truth: truth, Decisions: linalg.New[float64](u.Cols, u.Rows), held: len(truth), order: o.order}
	f.Head.Output = OutputOf(j, o.Classes)
	if err := f.Head.Check(u.Rows); err != nil {
		return nil, fmt.Errorf("learner: %w", err)
	}
	for i := range f.Decisions.Rows {
		for k := range f.Decisions.Cols {
			f.Decisions.Row(i)[k] = u.Row(k)[i] + o.Mean
		}
	}
	f.Predicted = f.Head.Predict(f.Decisions)
	w := &Work{Fitted: f}
	var err error
	if w.Metrics, err = o.measure(f); err == nil {
		w.Assessment, err = f.Assess(training, j.Seed)
	}
	return w, err
}

// Predict returns the predicted class for each row of decisions (outputs x rows).
func (o *Outputs) Predict(u linalg.Matrix[float64]) []string { return o.predict(o.scores(u)) }

// predict returns, for each row, the class with the largest score. Among equal scores it returns
// the last class.
func (o *Outputs) predict(scores linalg.Matrix[float64]) []string {
	predicted := make([]string, scores.Rows)
	for i := range predicted {
		row, best := scores.Row(i), 0
		for c, v := range row {
			if v >= row[best] {
				best = c
			}
		}
		predicted[i] = o.Classes[best]
	}
	return predicted
}

// scores returns a matrix of scores (rows x classes), or one column of predicted numbers. A
// decision of 0 favours the second of two classes.
func (o *Outputs) scores(u linalg.Matrix[float64]) linalg.Matrix[float64] {
	s := linalg.New[float64](u.Cols, max(1, len(o.Classes)))
	for i := range s.Rows {
		row := s.Row(i)
		for c := range row {
			row[c] = u.Row(min(c, u.Rows-1))[i] + o.Mean
		}
		if u.Rows < len(row) {
			row[0] = -row[1]
		}
	}
	return s
}
