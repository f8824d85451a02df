// Package generated makes tables of random numbers. Programs can be tried and measured with them at
// any size, without a file.
//
//	set, err := generated.Clouds(1_000_000, 100) // 400 MB
//
// A table is a function of its size alone, and ratings also of a seed: everyone who generates
// them gets the same ones.
package generated
