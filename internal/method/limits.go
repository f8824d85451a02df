package method

import (
	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/job"
)

// Limits are a party's conditions for taking part in a job. They include minimum row counts,
// because a result over few rows reveals much about single rows, and upper limits on a job's
// requests. Only the party's operator can change them. A zero field sets no condition, except Cohort.
type Limits struct {
	Directions int // greatest number of random features in released sums, and in models of protocol sealed

	// The next three limits are minimum counts of the party's own rows for protocols moments and sealed,
	// and for figures over the party's rows alone. The first two are also for every job by rows that holds out the
	// rows from a bound on. Held-out rows reveal as much as training rows, and a sum over a class with few rows exposes
	// these rows.
	TrainingRows int
	HeldOutRows  int
	ClassRows    int // rows of each class that occurs at the party: training rows, and for figures and histograms held-out rows
	// Share is the largest share of all training rows that one party may hold. In a job with two
	// parties, the limit is halfway between Share and 1.
	Share float64
	// Rows is the minimum number of the party's rows, including held-out rows. It is for okra,
	// flake, escaped, jobs of kind Fit and all methods that divide the data by columns.
	Rows int

	// The next four limits are for fedcfk. The last three of them are also for secvm with secure sums.
	Threshold int     // least number of likes that an item needs to take part
	Active    bool    // the protocol must withstand clients and servers that break the rules
	Corrupted float64 // least share of colluding people that the protocol must withstand
	Dropped   float64 // greatest share of dropped-out people that a job may tolerate

	// Cohort is the minimum number of participants of a step of secvm. If it is 0, the default limit of
	// devices applies.
	Cohort int
}

// DefaultLimits returns the limits of a party whose operator sets none.
func DefaultLimits() Limits {
	return Limits{
		TrainingRows: 100, HeldOutRows: 50, ClassRows: 10, Share: 0.5, Rows: 100,
		Threshold: 10, Active: true, Corrupted: 0.05, Dropped: 0.2, Cohort: 100,
	}
}

// CheckJob refuses a job outside the limits before any data is read. It also refuses a protocol
// that does not define how the limits apply to it.
func (f Limits) CheckJob(j *job.Job) error {
	m, ok := j.Protocol.Kind.(*Protocol)
	if !ok {
		return fault.Forbiddenf("protocol %s does not apply this party's limits; this party refuses all jobs of this protocol", j.Protocol.Name())
	}
	return m.minimums(f, j)
}

// CheckRows refuses a table with fewer rows than the limit Rows. The argument method is the protocol's
// name.
func (f Limits) CheckRows(method string, rows int) error {
	if rows < f.Rows {
		return TooFew(`protocol %s needs at least %d rows from each party, and this table has %d ("rows" in the limits of its policy)`, method, f.Rows, rows)
	}
	return nil
}

// TooFew returns the refusal of a table with too few rows. Peers do not learn the number of rows.
func TooFew(format string, args ...any) error {
	return fault.TooFewRows.Errorf(format, args...)
}

// LargestShare returns the largest share of all training rows that one of several parties may hold.
func (f Limits) LargestShare(parties int) float64 {
	if parties == 2 {
		return f.Share + (1-f.Share)/2
	}
	return f.Share
}

// CheckShares refuses a job in which one party's share of the training rows exceeds the limit.
func (f Limits) CheckShares(rows []int64) error {
	most, total := int64(0), int64(0)
	for _, n := range rows {
		most, total = max(most, n), total+n
	}
	share := f.LargestShare(len(rows))
	if f.Share > 0 && float64(most) > share*float64(total) {
		return fault.Forbiddenf(`one party has %d of %d training rows; this party accepts at most %.0f %% ("share" in the limits of its policy)`, most, total, 100*share)
	}
	return nil
}
