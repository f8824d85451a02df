package ristretto_test

import (
	"bytes"
	"crypto/sha512"
	"fmt"

	"github.com/mercer-fl/mercer/internal/crypto/ristretto"
)

// Two secrets lead to the same element in either order.
func Example() {
	a, b := sha512.Sum512([]byte("secret of a")), sha512.Sum512([]byte("secret of b"))
	blind := func(uniform *[64]byte, e ristretto.Element) []byte {
		encoding := make([]byte, ristretto.Size)
		ristretto.NewKey(uniform).Multiply(encoding, []ristretto.Element{e})
		return encoding
	}
	id := ristretto.Hash("example", []byte("a customer"))
	first, _ := ristretto.Decode(blind(&a, id))
	second, _ := ristretto.Decode(blind(&b, id))
	fmt.Println(bytes.Equal(blind(&b, first), blind(&a, second)))
	// Output: true
}
