package fdskl

import (
	"slices"

	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method/columns"
	"github.com/mercer-fl/mercer/linalg"
)

// unitPairs limits the pairs of rows over which a median distance is taken, where there are
// that many.
const unitPairs = 1 << 13

// Unit returns the unit of gamma over some columns of training rows. A mean of norms is
// exact; the median squared distance is taken over neighbours in the common order, which
// nobody chose.
func Unit(rows linalg.Rows, unit job.GammaUnit) float64 {
	n, _ := rows.Shape()
	if unit == job.Norm {
		sum := 0.0
		eachRow(rows, func(row []float64) { sum += linalg.Dot(row, row) })
		return sum / float64(max(1, n))
	}
	var distances []float64
	for step := 1; step <= n/2 && len(distances) < unitPairs; step++ {
		distances = appendDistances(distances, rows, step)
	}
	if len(distances) == 0 {
		return 0
	}
	slices.Sort(distances)
	return distances[len(distances)/2]
}

// appendDistances adds the squared distances of rows that are step places apart.
func appendDistances(list []float64, rows linalg.Rows, step int) []float64 {
	n, width := rows.Shape()
	a, b := make([]float64, width), make([]float64, width)
	for i := 0; i+step < n && len(list) < unitPairs; i++ {
		rows.ReadRow(i, a)
		rows.ReadRow(i+step, b)
		sum := 0.0
		for k, v := range a {
			sum += (v - b[k]) * (v - b[k])
		}
		list = append(list, sum)
	}
	return list
}

func eachRow(rows linalg.Rows, use func(row []float64)) {
	n, width := rows.Shape()
	row := make([]float64, width)
	for i := range n {
		rows.ReadRow(i, row)
		use(row)
	}
}

// jointUnit returns the unit of gamma by the parties' declarations, 0 where nobody has asked for
// one.
func jointUnit(d columns.Declared) float64 {
	unit := 0.0
	for _, one := range d.List {
		unit += one.Unit
	}
	return unit
}

// Gamma returns the gamma of the job's kernel in plain numbers, by the unit over all
// columns.
func Gamma(j *job.Job, unit float64) (float64, error) {
	if j.Kernel.GammaUnit == "" {
		return j.Kernel.Gamma, nil
	}
	if !(unit > 0) {
		return 0, fault.BadInputf("fdskl: gamma_unit %s is %v: too many training rows are equal, or zero; give gamma without a unit", j.Kernel.GammaUnit, unit)
	}
	return j.Kernel.Over(unit).Gamma, nil
}
