// Package profile describes the columns of a table to a person who will write its schema. From the
// cells it derives types, gaps and categories, and it lists up to [MaxProblems] problems at once. It also
// drafts dictionaries, catalogue entries and job files.
package profile
