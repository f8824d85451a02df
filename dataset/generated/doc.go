// Package generated makes tables of random numbers. Programs can be tried and measured with them at
// any size, without a file.
//
//	set, err := generated.Clouds(1_000_000, 100) // 400 MB
//
// A table depends only on the arguments of the function that makes it: everyone who calls the function with
// the same arguments gets the same table.
package generated
