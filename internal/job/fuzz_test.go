package job_test

import (
	. "github.com/mercer-fl/mercer/internal/job"

	"errors"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/internal/job/refused"
)

func FuzzParse(f *testing.F) {
	for _, text := range variants() {
		f.Add([]byte(text))
	}
	cases, err := refused.Cases(reader())
	if err != nil {
		f.Fatal(err)
	}
	for _, c := range cases {
		if len(c.File) < 4096 {
			f.Add([]byte(c.File))
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		j, err := reader().Parse("job.yaml", data)
		var e *Error
		switch {
		case err == nil:
			checkRoundTrip(t, j)
		case !errors.As(err, &e) || e.Line < 1 || e.Line > strings.Count(string(data), "\n")+strings.Count(string(data), "\r")+2:
			t.Errorf("an error without a line of the file: %q", err)
		}
	})
}
