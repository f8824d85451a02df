package launch

import (
	"fmt"

	"github.com/mercer-fl/mercer/internal/job"
)

// exactRows is for how many rows a comparison with the exact kernel holds a Gram
// matrix: 2 GiB.
const exactRows = 1 << 14

// affordable says whether the comparisons that a job asks for can be made.
func affordable(j *job.Job, shares []Share) error {
	for _, s := range shares {
		if n := s.Table.Rows(); j.Compares(job.ExactKernel) && n > exactRows {
			return fmt.Errorf("%s has %d rows; the exact kernel is compared with up to %d, since its matrix has the square of them: remove exact-kernel from compare", s.Party, n, exactRows)
		}
	}
	return nil
}
