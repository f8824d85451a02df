package linalg_test

import (
	"fmt"

	"github.com/mercer-fl/mercer/linalg"
)

func ExampleSyrk() {
	x := linalg.Matrix[float64]{Rows: 3, Cols: 2, Stride: 2, Data: []float64{1, 0, 0, 1, 1, 1}}
	g := linalg.New[float64](3, 3)
	linalg.Syrk(g, x)
	z := linalg.Matrix[float64]{Rows: 1, Cols: 2, Stride: 2, Data: []float64{2, 3}}
	c := linalg.New[float64](1, 3)
	linalg.MulTransB(c, z, x)
	fmt.Println(g.Data, c.Data)
	// Output: [1 0 1 0 1 1 1 1 2] [2 3 5]
}

func ExampleFor() {
	squares := make([]int, 6)
	linalg.For(len(squares), 4, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			squares[i] = i * i
		}
	})
	fmt.Println(squares)
	// Output: [0 1 4 9 16 25]
}
