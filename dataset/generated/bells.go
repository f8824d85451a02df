package generated

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/crypto/prg"
	"github.com/mercer-fl/mercer/linalg"
)

// bells is the number of radial basis functions whose sum decides the labels. noise is the share of
// labels that are flipped.
const (
	bells = 20
	noise = .05
	// maxColumns bounds the memory for the centres of the radial basis functions.
	maxColumns = 1 << 20
)

// Bells returns random rows with labels "0" and "1" from a sum of radial basis functions. The label
// "1" means that the sum is not below its median; about one label in twenty is flipped. Each row has
// normal numbers in randomly drawn columns and zeros in the others. The density is the share of
// columns with normal numbers. A table with normal numbers in all columns is dense, any
// other is sparse.
func Bells(rows, columns int, density float64) (*dataset.Set, error) {
	return bellsOver(rows, columns, density, func(values []float64, s *prg.Stream) { s.Normals(values) })
}

// Marks returns random rows like [Bells], with ones in place of the normal numbers. A one stands
// for the presence of a word or a property. The density must leave at least one column of each row without a
// one.
func Marks(rows, columns int, density float64) (*dataset.Set, error) {
	if filled, err := filledOf(rows, columns, density); err == nil && filled == columns {
		return nil, errors.New("dataset/generated: this density fills every column, so all rows would be equal; choose a lower density or more columns")
	}
	return bellsOver(rows, columns, density, func(values []float64, _ *prg.Stream) {
		for j := range values {
			values[j] = 1
		}
	})
}

// bellsOver returns rows like [Bells] whose nonzero numbers come from the function draw.
func bellsOver(rows, columns int, density float64, draw func(values []float64, s *prg.Stream)) (*dataset.Set, error) {
	filled, err := filledOf(rows, columns, density)
	if err != nil {
		return nil, err
	}
	if columns > maxColumns {
		return nil, fmt.Errorf("dataset/generated: the table has %d columns; labels from radial basis functions allow at most %d", columns, maxColumns)
	}
	x, index := linalg.New[float64](rows, filled), []int32(nil)
	if filled < columns {
		index = make([]int32, rows*filled)
	}
	values, centres := make([]float64, rows), bellsOf(columns, filled)
	drawPanels(rows, func(from, to int, s *prg.Stream) {
		for i := from; i < to; i++ {
			draw(x.Row(i), s)
			if index != nil {
				drawColumns(index[i*filled:(i+1)*filled], columns, s)
				values[i] = centres.at(x.Row(i), index[i*filled:(i+1)*filled])
				continue
			}
			values[i] = centres.at(x.Row(i), nil)
		}
	}, "generated/bells")
	set := &dataset.Set{Labels: sides(values)}
	if index == nil {
		set.X = dataset.NewDense(x)
		return set, nil
	}
	set.X, err = dataset.NewCSR(columns, starts(rows, filled), index, x.Data)
	return set, err
}

// centres holds the centres of the radial basis functions. Every second bell has the weight -1.
type centres struct {
	place   linalg.Matrix[float64]
	squares []float64
	gamma   float64
}

// bellsOf draws the centres of the radial basis functions. The centres are about as far from 0 as
// the rows are.
func bellsOf(columns, filled int) centres {
	c := centres{linalg.New[float64](bells, columns), make([]float64, bells), 1 / float64(filled)}
	shrink := math.Sqrt(float64(filled) / float64(columns))
	for b := range bells {
		row := c.place.Row(b)
		prg.New([32]byte{}, "generated/bell", number(b)).Normals(row)
		for j := range row {
			row[j] *= shrink
			c.squares[b] += row[j] * row[j]
		}
	}
	return c
}

// at returns the sum of the radial basis functions at a row with the given values in the given
// columns. Nil columns mean all columns.
func (c centres) at(values []float64, columns []int32) float64 {
	square := 0.0
	for _, v := range values {
		square += v * v
	}
	sum := 0.0
	for b := range bells {
		product, row := 0.0, c.place.Row(b)
		for k, v := range values {
			j := k
			if columns != nil {
				j = int(columns[k])
			}
			product += v * row[j]
		}
		sum += float64(1-2*(b%2)) * math.Exp(-c.gamma*(square-2*product+c.squares[b]))
	}
	return sum
}

// sides returns the label "1" for each value that is not below the median, else "0", and flips some
// labels.
func sides(values []float64) []string {
	sorted := slices.Sorted(slices.Values(values))
	median, s := sorted[len(sorted)/2], prg.New([32]byte{}, "generated/noise")
	list := make([]string, len(values))
	for i, v := range values {
		above := v >= median
		if s.Float64() < noise {
			above = !above
		}
		if list[i] = "0"; above {
			list[i] = "1"
		}
	}
	return list
}
