package sealed

import (
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/kernel/feature"
	"github.com/mercer-fl/mercer/learn/moments"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/protocol/sealed"
)

// addRows adds the features and targets of some rows, in panels that bound the memory.
func addRows(all *sealed.Accumulator, j *job.Job, m feature.Mapping, to target, rows linalg.Rows, labels []string) error {
	n, _ := rows.Shape()
	unit := unitOf(j, m.Len())
	for lo := 0; lo < n; lo += moments.MaxBlock {
		hi := min(lo+moments.MaxBlock, n)
		y, err := to.values(labels[lo:hi])
		if err != nil {
			return err
		}
		x := linalg.New[float64](hi-lo, m.Width())
		linalg.Gather(x, rows, lo)
		phi := linalg.New[float64](m.Len(), hi-lo)
		m.Columns(phi, x)
		for k := range phi.Data {
			phi.Data[k] *= unit
		}
		if err := all.Add(phi, y); err != nil {
			return err
		}
	}
	return nil
}
