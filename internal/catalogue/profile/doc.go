// Package profile describes the columns of a table to a person who will write its schema. From the
// cells it derives types, gaps and categories, and it lists all problems at once.
package profile
