// Package profile describes the columns of a table of text by its cells, for a person who is
// about to write a schema: types, gaps, different words, and everything that is wrong at once.
package profile
