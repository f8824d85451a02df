package generated

import (
	"encoding/binary"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/crypto/prg"
	"github.com/mercer-fl/mercer/linalg"
)

// These constants set the distance of the classes and the noise. Within a class, every column has the variance 1.
const (
	apart = .25 // mean of each column in class "1"; in class "0" it is -apart
	wrong = .02 // share of wrong labels
)

// Clouds returns random float32 rows that belong in turn to two overlapping classes. The numbers
// are normal around the mean of their class, and about one label in fifty is wrong. With 100 columns, six
// rows in 1,000 are on the wrong side of the plane between the clouds, besides those with wrong
// labels.
func Clouds(rows, columns int) (*dataset.Set, error) {
	if err := check(rows, columns, columns); err != nil {
		return nil, err
	}
	x := linalg.New[float32](rows, columns)
	drawPanels(rows, func(from, to int, s *prg.Stream) { draw(x.Panel(from, to), s) }, "generated/clouds")
	return &dataset.Set{X: dataset.NewDense32(x), Labels: labels(rows)}, nil
}

// draw fills rows of both classes in turn, beginning with class "0".
func draw(x linalg.Matrix[float32], s *prg.Stream) {
	values := make([]float64, x.Cols)
	for i := range x.Rows {
		s.Normals(values)
		mean, row := apart*float64(2*(i%2)-1), x.Row(i)
		for j, v := range values {
			row[j] = float32(v + mean)
		}
	}
}

func labels(rows int) []string {
	list, s := make([]string, rows), prg.New([32]byte{}, "generated/labels")
	for i := range list {
		class := i % 2
		if s.Float64() < wrong {
			class = 1 - class
		}
		list[i] = [...]string{"0", "1"}[class]
	}
	return list
}

func number(n int) []byte { return binary.LittleEndian.AppendUint64(nil, uint64(n)) }
