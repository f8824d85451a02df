package chebyshev_test

import (
	"fmt"

	"github.com/mercer-fl/mercer/linalg/chebyshev"
)

// How many products of a matrix solve a ridge regression of 1,347 rows with alpha = n/10,000, and how far
// is the polynomial from 1/(x + 1/10,000)?
func Example() {
	plan := chebyshev.Plan{Steps: chebyshev.Steps(1347, 1e-4, 8), Block: 8}
	p, err := chebyshev.New(1e-4, plan.Steps)
	if err != nil {
		panic(err)
	}
	fmt.Println(plan.Steps, "coefficients,", plan.Squarings(), "squarings and", plan.Products(), "products")
	fmt.Printf("%.6f of %.6f\n", p.At(.3), 1/(.3+1e-4))
	// Output:
	// 592 coefficients, 3 squarings and 80 products
	// 3.332216 of 3.332223
}
