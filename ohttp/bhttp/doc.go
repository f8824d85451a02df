// Package bhttp writes and reads HTTP messages as bytes: Binary HTTP, RFC 9292.
// A message stands alone, without a connection, and can be sealed whole.
//
//	b, err := (&bhttp.Request{Method: "GET", Scheme: "https", Authority: "example.com", Path: "/"}).Encode()
//	r, err := bhttp.ParseRequest(b)
//
// Both forms, of known and of indeterminate length, are read; the first is
// written. Trailing parts that are empty may be missing, and zeros may follow as
// padding (section 3.8). [Request.EncodeTo] pads, so that messages of different
// content have one size.
package bhttp
