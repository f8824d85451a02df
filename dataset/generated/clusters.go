package generated

import (
	"fmt"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/crypto/prg"
	"github.com/mercer-fl/mercer/linalg"
)

// scatter is the standard deviation of the clusters' means in each column. The rows' own
// deviation is 1, so the means of two clusters are about as far apart as the means of the clouds.
const scatter = .35

// MaxClasses bounds the number of classes of [Clusters].
const MaxClasses = 1024

// Clusters returns random float32 rows that belong in turn to the classes "0", "1" and so on. The
// numbers are normal, with variance 1 around the mean of their class. About one label in fifty is
// drawn anew.
func Clusters(rows, columns, classes int) (*dataset.Set, error) {
	if err := check(rows, columns, columns); err != nil {
		return nil, err
	}
	if classes < 2 || classes > MaxClasses || classes > dataset.MaxCells/columns {
		return nil, fmt.Errorf("dataset/generated: the table has %d classes; choose 2 to %d", classes, min(MaxClasses, dataset.MaxCells/columns))
	}
	x, centres := linalg.New[float32](rows, columns), centresOf(classes, columns)
	drawPanels(rows, func(from, to int, s *prg.Stream) {
		values := make([]float64, columns)
		for i := from; i < to; i++ {
			s.Normals(values)
			mean, row := centres.Row(i%classes), x.Row(i)
			for j, v := range values {
				row[j] = float32(v + mean[j])
			}
		}
	}, "generated/clusters")
	return &dataset.Set{X: dataset.NewDense32(x), Labels: inTurn(rows, classes)}, nil
}

func centresOf(classes, columns int) linalg.Matrix[float64] {
	centres := linalg.New[float64](classes, columns)
	for c := range classes {
		row := centres.Row(c)
		prg.New([32]byte{}, "generated/centres", number(c)).Normals(row)
		for j := range row {
			row[j] *= scatter
		}
	}
	return centres
}

// inTurn repeats the labels "0", "1" and so on, and replaces some of them by random labels.
func inTurn(rows, classes int) []string {
	list, s := make([]string, rows), prg.New([32]byte{}, "generated/classes")
	for i := range list {
		class := i % classes
		if s.Float64() < wrong {
			class = int(s.Uint64n(uint64(classes)))
		}
		list[i] = fmt.Sprint(class)
	}
	return list
}
