package partition

import (
	"fmt"

	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/columns"
	"github.com/mercer-fl/mercer/internal/method/rows"
)

// SizesOf counts the tables of a job's parties, for a plan of the job.
func SizesOf(j *job.Job, shares []Share) (method.Sizes, error) {
	s := method.Sizes{Tables: make(map[string]method.TableSize)}
	count := rows.SizeOf
	if j.Data.Partition.By == job.Columns {
		count = columns.SizeOf
		s.Common = commonRows(shares)
	}
	for _, one := range shares {
		size, err := count(j, one.Party, one.Table)
		if err != nil {
			return method.Sizes{}, fault.BadInput(fmt.Errorf("%s: %w", one.Party, err))
		}
		s.Tables[one.Party] = size
	}
	return s, nil
}

// commonRows counts the ids that all parties have.
func commonRows(shares []Share) int {
	parties := make(map[string]int)
	for _, s := range shares {
		for _, id := range s.Table.Set.IDs {
			parties[id]++
		}
	}
	n := 0
	for _, having := range parties {
		if having == len(shares) {
			n++
		}
	}
	return n
}
