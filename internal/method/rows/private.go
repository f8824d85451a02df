package rows

import (
	"errors"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/linalg"
)

// In a job with differential privacy, the numbers that a party adds for a row depend only on this row and on public
// numbers. No refusal depends on values of a row that the job and its dictionary allow.

// uncommon returns all rows of a split in a job with differential privacy, not scaled.
func uncommon(s method.Split) (linalg.Rows, error) { return cut{dataset.RowsOf(s.Set.X)}, nil }

// greatest is the magnitude to which numbers are cut with differential privacy. Features of the largest numbers
// would not be finite. Phases of such numbers have no meaning anyway, because neighbouring float64 values
// are at least 0.25 apart.
const greatest = 1 << 50

// cut reads rows whose numbers are cut to a magnitude of at most greatest.
type cut struct{ linalg.Rows }

// ReadRow implements [linalg.Rows].
func (c cut) ReadRow(i int, dst []float64) {
	c.Rows.ReadRow(i, dst)
	for k, v := range dst {
		dst[k] = min(max(v, -greatest), greatest)
	}
}

// checkPrivate refuses a table with groups in a job with privacy, because one person can have several rows in such a
// table. The check depends on no value of a row.
func checkPrivate(j *job.Job, set *dataset.Set) error {
	if j.Data.Private && set.Groups != nil {
		return errors.New(`the job's privacy protects a person with one row, but the catalogue's entry has "group", so one person can have several rows; use a table without "group"`)
	}
	return nil
}

// checkPrivateSizes refuses a table with too few rows. It counts rows alone: how many rows a class
// has depends on single rows, and the noise protects a class of one row, too.
func checkPrivateSizes(f method.Limits, j *job.Job, s sizes) error {
	training, held, protocol := s.count(false), s.count(true), j.Protocol.Name()
	switch {
	case training < f.TrainingRows:
		return method.TooFew("protocol %s needs at least %d training rows from each party, and this table has %d (training_rows in the limits of its policy)", protocol, f.TrainingRows, training)
	case j.Data.Test != (job.Test{}) && held < f.HeldOutRows:
		return method.TooFew("protocol %s needs at least %d held-out rows from each party, and this table has %d (held_out_rows in the limits of its policy)", protocol, f.HeldOutRows, held)
	}
	return nil
}
