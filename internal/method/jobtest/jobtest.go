// Package jobtest reads job files in tests and knows all methods of the program.
package jobtest

import (
	"testing"

	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method/all"
)

// Parse reads a valid job file.
func Parse(t testing.TB, text string) *job.Job {
	t.Helper()
	j, err := all.Reader().Parse("job.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return j
}

// Protocol returns a protocol without any settings.
func Protocol(t testing.TB, name string) job.Named {
	t.Helper()
	return find(t, all.Reader().Protocols, name)
}

// Learner returns a learner without any settings.
func Learner(t testing.TB, name string) job.Named {
	t.Helper()
	return find(t, all.Reader().Learners, name)
}

func find[K job.Kind](t testing.TB, kinds []K, name string) job.Named {
	t.Helper()
	for _, k := range kinds {
		if k.Name() == name {
			return job.Named{Kind: k, Values: k.New()}
		}
	}
	t.Fatalf("there is no %s", name)
	return job.Named{}
}

// With returns a copy of a job with changed settings, see [job.Reader.With].
func With(t testing.TB, j *job.Job, settings map[string]string) *job.Job {
	t.Helper()
	j, err := all.Reader().With(j, settings)
	if err != nil {
		t.Fatal(err)
	}
	return j
}
