// Package bhttp encodes and decodes HTTP messages as bytes: Binary HTTP, RFC 9292.
// A message is independent of a connection, and can be sealed as a whole.
//
//	b, err := (&bhttp.Request{Method: "GET", Scheme: "https", Authority: "example.com", Path: "/"}).Encode()
//	r, err := bhttp.ParseRequest(b)
//
// The package decodes both forms, of known and of indeterminate length, and encodes
// the first. Trailing parts that are empty can be missing, and zeros can follow as
// padding (section 3.8). [Request.EncodeTo] pads, so that messages with different
// content have one size.
package bhttp
