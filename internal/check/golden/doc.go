// Package golden holds tests that compare the program's behaviour with its stored earlier
// behaviour: results, pages, job files, refusals. It has no code of its own. A change of structure
// leaves every file in testdata unchanged. A change of behaviour rewrites files in testdata, in a
// separate commit that gives the reason:
//
//	MERCER_GOLDEN=write go test ./internal/check/golden
//
// The slow tier runs the other examples, some of which take minutes or need data outside the
// program (MERCER_DATA). Another program can write its results, like all results: one that was
// built from an earlier commit, if results must not change.
//
//	git worktree add ../earlier COMMIT && (cd ../earlier && go build -o /tmp/mercer ./cmd/mercer)
//	MERCER_GOLDEN=/tmp/mercer go test -tags slow -timeout 2h -run TestSlowResults ./internal/check/golden
package golden
