// Package generated makes tables of random numbers, to try and to measure
// things at any size without a file.
//
//	set, err := generated.Clouds(1_000_000, 100) // 400 MB
//
// A table is a function of its size alone, ratings of a seed too: everybody who
// generates them has the same ones.
package generated
