// Package golden holds tests that compare what the program does today with what it did
// before: results, pages, job files, refusals. It has no code of its own. A change of
// structure leaves every file of its testdata alone; a change of behaviour writes them
// anew, in a commit of their own that says why:
//
//	MERCER_GOLDEN=write go test ./internal/check/golden
//
// The slow tier runs the other examples, some of which take minutes or want data that are no
// part of the program (MERCER_DATA). Its results, like all of a run, can be written by another
// program: by one that was built from an earlier commit, where results must stay.
//
//	git worktree add ../earlier COMMIT && (cd ../earlier && go build -o /tmp/mercer ./cmd/mercer)
//	MERCER_GOLDEN=/tmp/mercer go test -tags slow -timeout 2h -run TestSlowResults ./internal/check/golden
package golden
