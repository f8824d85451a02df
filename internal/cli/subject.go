package cli

import (
	"cmp"
	"fmt"

	"github.com/mercer-fl/mercer/internal/base/humanize"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/local/partition"
	"github.com/mercer-fl/mercer/internal/method"
)

// jobIn returns the job of a result. It returns nil if the job or its dictionary is unknown here.
func jobIn(reader *job.Reader, r *method.Result) *job.Job {
	if r.About == nil {
		return nil
	}
	j, err := reader.Parse(r.Job, []byte(r.About.Job))
	if err != nil {
		return nil
	}
	return j
}

// subject describes in one sentence the model's answers, its columns and the holders of the rows. It
// returns "" if the job is unknown or has no labels, or if its classes are unknown.
func (o outcome) subject() string {
	if o.job == nil || o.job.Data.Label == job.NoLabel {
		return ""
	}
	_, number := o.Metrics["rmse"]
	answers := "a number"
	if !number {
		answers = answersText(o.answers())
	}
	if answers == "" {
		return ""
	}
	return fmt.Sprintf("Predicted: %s (%s), from %s.", cmp.Or(o.job.Data.Label, "the label"), answers, o.inputText())
}

// answers lists the classes among which the model chooses, by the names that people read.
func (o outcome) answers() (classes []string) {
	for _, class := range o.job.Data.Order {
		classes = append(classes, o.titles().Of(class))
	}
	if classes == nil {
		for _, c := range o.classCounts() {
			classes = append(classes, c.Class)
		}
	}
	return classes
}

// mostAnswers is the largest number of classes that the first line of a result lists.
const mostAnswers = 4

func answersText(classes []string) string {
	if len(classes) == 2 {
		return classes[0] + " or " + classes[1]
	}
	list := humanize.Names(classes, mostAnswers)
	if n := len(classes); n > mostAnswers {
		return fmt.Sprintf("one of %d classes: %s", n, list)
	}
	return list
}

// mostParties is the largest number of parties that the first line of a result names.
const mostParties = 5

// inputText describes the columns and the members that hold them.
func (o outcome) inputText() string {
	columns, of, parties := "the columns", "", o.job.Parties()
	if n := cmp.Or(len(o.job.Data.Schema), o.columns); n > 0 {
		columns = humanize.Count(n, "column") + o.columnNames()
		of = columns + " of "
	}
	holders := fmt.Sprintf("%d parties (%s)", len(parties), humanize.Names(parties, mostParties))
	switch {
	case o.job.Data.Partition.By == job.Devices:
		return of + "each device's record"
	case o.job.Data.Partition.By == job.Columns:
		return columns + " that " + holders + " hold about the same rows"
	case len(parties) == 0:
		return of + "one table"
	}
	return of + "the rows of " + holders
}

// mostColumns is the largest number of columns that the first line of a result names.
const mostColumns = 8

// columnNames lists the dictionary's columns in brackets. It returns "" if they are unknown, or too
// many for one line.
func (o outcome) columnNames() string {
	names := o.job.Data.Schema.Names()
	if len(names) == 0 || len(names) > mostColumns {
		return ""
	}
	return fmt.Sprintf(" (%s)", humanize.Names(names, mostColumns))
}

// columnsOf returns the number of columns from which a job with the given tables learns. All parties
// that hold rows have the same columns.
func columnsOf(j *job.Job, shares []partition.Share) (n int) {
	if j.Data.Partition.By != job.Columns {
		shares = shares[:1]
	}
	for _, s := range shares {
		n += s.Table.Set.X.Cols()
	}
	return n
}
