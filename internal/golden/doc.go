// Package golden holds tests that compare what the program does today with what it did
// before: results, pages, job files, refusals. It has no code of its own. A change of
// structure leaves every file of its testdata alone; a change of behaviour writes them
// anew, in a commit of their own that says why:
//
//	MERCER_GOLDEN=write go test ./internal/golden
package golden
