package kernel

import (
	"fmt"

	"github.com/mercer-fl/mercer/linalg"
)

// Centring holds the means of a centred kernel matrix. They are enough to centre the kernel values
// of new rows in the same way.
type Centring struct {
	Means []float64 // mean of each row of the matrix before centring
	Mean  float64   // mean of the whole matrix before centring
}

// Center moves the origin of the feature space to the mean of the rows. It replaces K in place by K
// - 1K - K1 + 1K1, where 1 is the n x n matrix whose entries are 1/n (Schölkopf, Smola, Müller
// 1998, appendix A). The matrix k is n x n and stays exactly symmetric; n is at least 1.
func Center(k linalg.Matrix[float64]) Centring {
	if k.Rows != k.Cols || k.Rows == 0 {
		panic(fmt.Sprintf("kernel: cannot centre %d x %d values", k.Rows, k.Cols))
	}
	c := Centring{Means: rowMeans(k)}
	c.Mean = linalg.Mean(c.Means)
	c.shift(k, c.Means)
	return c
}

// Apply centres, in place, the kernel values of m new rows with the n rows of the centred matrix.
// cross is m x n. It panics if n differs.
func (c Centring) Apply(cross linalg.Matrix[float64]) {
	if cross.Cols != len(c.Means) {
		panic(fmt.Sprintf("kernel: %d columns to centre by %d means", cross.Cols, len(c.Means)))
	}
	c.shift(cross, rowMeans(cross))
}

// shift centres k, given the means of its rows.
func (c Centring) shift(k linalg.Matrix[float64], means []float64) {
	linalg.Each(k.Rows, mapRows, func(i int) {
		for j, v := range k.Row(i) {
			k.Row(i)[j] = v - (means[i] + c.Means[j]) + c.Mean
		}
	})
}

func rowMeans(k linalg.Matrix[float64]) []float64 {
	means := make([]float64, k.Rows)
	linalg.Each(k.Rows, mapRows, func(i int) {
		means[i] = linalg.Mean(k.Row(i))
	})
	return means
}
