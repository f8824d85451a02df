package bhttp_test

import (
	"fmt"

	"github.com/mercer-fl/mercer/ohttp/bhttp"
)

// Requests with different content have one size on the wire.
func Example() {
	for _, path := range []string{"/", "/a/longer/path"} {
		q := bhttp.Request{Method: "GET", Scheme: "https", Authority: "example.com", Path: path}
		b, err := q.EncodeTo(64)
		if err != nil {
			fmt.Println(err)
			return
		}
		r, err := bhttp.ParseRequest(b)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(len(b), r.Method, r.Authority+r.Path)
	}
	// Output:
	// 64 GET example.com/
	// 64 GET example.com/a/longer/path
}
