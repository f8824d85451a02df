// Package profile describes the columns of a table of text from its cells, for a person who is
// going to write a schema: types, gaps, different words, and all problems at once.
package profile
