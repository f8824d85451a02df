package stage

import (
	"testing"

	"github.com/mercer-fl/mercer/internal/method/fdskl"
	"github.com/mercer-fl/mercer/internal/method/fedcfk"
	"github.com/mercer-fl/mercer/internal/method/gram"
	"github.com/mercer-fl/mercer/internal/method/moments"
	"github.com/mercer-fl/mercer/internal/method/okra"
	"github.com/mercer-fl/mercer/internal/method/pooled"
	"github.com/mercer-fl/mercer/internal/method/secvm"

	"github.com/mercer-fl/mercer/internal/job"
)

// reader reads job files of all methods. Package method/all, which lists them for
// the program, may import this one.
func reader() *job.Reader {
	return &job.Reader{Protocols: []job.Kind{okra.Method{}, moments.Method{}, gram.Method{}, fdskl.Method{}, fedcfk.Method{}, secvm.Method{}, pooled.Method{}}}
}

// read reads a job file that has no mistake.
func read(t testing.TB, text string) *job.Job {
	t.Helper()
	j, err := reader().Parse("job.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return j
}
