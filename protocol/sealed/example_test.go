package sealed_test

import "fmt"

// A number in three parts, in the ring of bytes. Each keeper has two of them, which are uniform without the third.
func Example() {
	ua, ub := byte(200), byte(99) // drawn by the data party
	e := 42 - ua - ub
	fmt.Println("server a: ", e, ua)
	fmt.Println("server b: ", e, ub)
	fmt.Println("dealer c: ", ua, ub)
	fmt.Println("number:   ", e+ua+ub)
	// Output:
	// server a:  255 200
	// server b:  255 99
	// dealer c:  200 99
	// number:    42
}
