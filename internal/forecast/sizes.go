package forecast

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
)

// Counts holds the numbers of rows and columns that a person states for each party's table. The key "" stands
// for all parties without an entry.
type Counts struct{ Rows, Columns map[string]int }

// Sizes assumes these values for tables that nobody has read.
const (
	assumedLabelBytes = 8 // bytes of a label if the job does not list the classes
	assumedExponent   = 3 // the values' magnitudes are at most 2^3, as those of most scaled values are
)

// mostRows bounds the rows of all stated tables together. The bytes of a matrix of twice as many rows
// and columns still fit in an int64.
const mostRows = 100_000_000

// Sizes returns the sizes of tables with the stated counts. It reads no table. The columns are those
// after the preparation. The number of held-out rows follows from the job. The common rows, for parties that
// hold different columns of the same people, are as many as the rows of the party with the fewest.
func (c Counts) Sizes(j *job.Job) (method.Sizes, error) {
	if err := c.checkNames(j); err != nil {
		return method.Sizes{}, err
	}
	s := method.Sizes{Tables: make(map[string]method.TableSize)}
	for _, party := range j.Parties() {
		t, err := c.table(j, party)
		if err != nil {
			return method.Sizes{}, err
		}
		s.Tables[party] = t
		if s.Common == 0 || t.Rows < s.Common {
			s.Common = t.Rows
		}
	}
	if n := s.All(func(t method.TableSize) int { return t.Rows }); n > mostRows {
		return method.Sizes{}, fault.BadInputf("--rows states %d rows of all parties together; a plan counts at most %d", n, mostRows)
	}
	return s, nil
}

// checkNames refuses a count of a party that the job does not have.
func (c Counts) checkNames(j *job.Job) error {
	for flag, counts := range map[string]map[string]int{"--rows": c.Rows, "--columns": c.Columns} {
		for _, party := range slices.Sorted(maps.Keys(counts)) {
			if party != "" && !slices.Contains(j.Parties(), party) {
				return fault.BadInputf("%s names %s, which is no party of the job; its parties are %s", flag, party, strings.Join(j.Parties(), " and "))
			}
		}
	}
	return nil
}

func (c Counts) table(j *job.Job, party string) (method.TableSize, error) {
	rows, columns := of(c.Rows, party), of(c.Columns, party)
	switch {
	case rows < 1:
		return method.TableSize{}, fault.BadInputf("--rows gives no number of rows of %s; write one number for all parties, or %s=1000", party, party)
	case columns < 1:
		return method.TableSize{}, fault.BadInputf("--columns gives no number of columns of %s; write one number for all parties, or %s=30", party, party)
	}
	t := method.TableSize{Rows: rows, Columns: columns, Named: true, Stored: 8 * int64(rows) * int64(columns), Exponent: assumedExponent}
	if j.Data.Label != job.NoLabel && j.Labels(party) {
		t.Labels, t.Classes, t.LabelBytes = true, assumedLabels(j, rows), assumedLabelBytes*rows
		if t.Classes != nil {
			t.LabelBytes = int(math.Ceil(meanLength(t.Classes) * float64(rows)))
		}
	}
	if j.Data.Partition.By == job.Columns {
		return t, nil // all parties hold out the same of their common rows
	}
	var err error
	t.HeldOut, err = heldOut(j.Data.Test, party, rows)
	return t, err
}

func of(counts map[string]int, party string) int {
	if n, known := counts[party]; known {
		return n
	}
	return counts[""]
}

// assumedLabels returns the distinct labels of a table that nobody has read: the classes that the job
// lists; or else two classes if the task has classes, and a number for each row if it has none. It returns nil for
// numbers in a partition by rows, where no cost depends on how many numbers are distinct.
func assumedLabels(j *job.Job, rows int) []string {
	if classes := j.Data.Accepted(); classes != nil {
		return classes
	}
	n := 2
	switch {
	case j.Task().Classes:
	case j.Data.Partition.By != job.Columns:
		return nil
	default:
		n = rows
	}
	labels := make([]string, n)
	for i := range labels {
		labels[i] = fmt.Sprintf("%0*d", assumedLabelBytes, i)
	}
	return labels
}

// meanLength returns the mean length of texts, of which there is at least one.
func meanLength(texts []string) float64 {
	sum := 0
	for _, text := range texts {
		sum += len(text)
	}
	return float64(sum) / float64(len(texts))
}

// heldOut returns how many of a party's n rows a job holds out.
func heldOut(t job.Test, party string, n int) (int, error) {
	switch {
	case t.Party == party:
		return n, nil
	case t.Party != "" || t.None || t == (job.Test{}):
		return 0, nil
	case t.Every > 0:
		_, held, err := dataset.Every(n, t.Every)
		return len(held), err
	case t.Fraction > 0:
		return int(math.Round(t.Fraction * float64(n))), nil
	}
	return 0, fault.BadInput(fmt.Errorf(`the job holds out %s, and --rows does not say how many rows these are; write "test: {fraction: 0.25}" for a plan`, t.Chosen()))
}
