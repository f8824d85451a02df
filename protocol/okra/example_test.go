package okra_test

import (
	"fmt"

	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/protocol/okra"
)

// Encoded rows have the inner products of the rows.
func ExampleNewEncoder() {
	params, err := okra.NewParams(okra.Spec{Encoder: okra.Haar})
	if err != nil {
		fmt.Println(err)
		return
	}
	rows := linalg.Matrix[float64]{Rows: 2, Cols: 3, Stride: 3, Data: []float64{1, 2, 3, 4, 5, 6}}
	encoder, err := okra.NewEncoder(params, okra.Seed{1}, rows.Cols, okra.Padding(rows.Cols))
	if err != nil {
		fmt.Println(err)
		return
	}
	encoded, gram := linalg.New[float64](2, encoder.Width()), linalg.New[float64](2, 2)
	encoder.Encode(encoded, rows)
	linalg.Syrk(gram, encoded)
	fmt.Printf("%d features become %d\n%.6f\n", rows.Cols, encoder.Width(), gram.Data)
	// Output:
	// 3 features become 72
	// [14.000000 32.000000 32.000000 77.000000]
}

// What the server learns depends on the job.
func ExampleLeakage() {
	lines := okra.Leakage(okra.Facts{Parties: 3, TotalRows: 1200, Features: 36608, Grid: true, Encoder: okra.Haar})
	fmt.Println(lines["party"][0])
	// Output:
	// A party learns who takes part, the epoch's seed, which all parties share, and the total number of rows. The protocol itself gives it nothing that depends on another party's values.
}
