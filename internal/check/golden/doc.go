// Package golden holds tests that compare the program's behaviour with its stored earlier
// behaviour: results, pages, job files, refusals. It also tests the linter's rules on imports. It has no
// code of its own. A change of structure
// leaves every file in testdata unchanged. A change of behaviour rewrites files in testdata, in a
// separate commit that gives the reason:
//
//	MERCER_GOLDEN=write go test ./internal/check/golden
//
// The slow tier runs the other examples, some of which take minutes or need data outside the
// program (MERCER_DATA). MERCER_GOLDEN can also hold the path of a program; the tests then store the
// results of that program. To show that a change leaves results as they are, name a program that was
// built from an earlier commit:
//
//	git worktree add ../earlier COMMIT && (cd ../earlier && go build -o /tmp/mercer ./cmd/mercer)
//	MERCER_GOLDEN=/tmp/mercer go test -tags slow -timeout 2h -run TestSlowResults ./internal/check/golden
package golden
