package cli

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/job/section"
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/internal/method"
)

// teller is a method whose results have a number under its name.
type teller string

func (m teller) Name() string      { return string(m) }
func (teller) New() section.Values { return nil }

func (m teller) Present(_ *job.Job, r *method.Result) (*method.Presentation, error) {
	d, err := method.DetailsOf[map[string]json.RawMessage](r)
	if err != nil || (*d)[string(m)] == nil {
		return nil, err
	}
	var n int
	if err := json.Unmarshal((*d)[string(m)], &n); err != nil {
		return nil, err
	}
	return &method.Presentation{Unit: string(m)}, nil
}

// A reader of a stored result finds the method that knows it, whatever the other methods make
// of it; with the job at hand no other method is asked.
func TestPresentedByItsMethod(t *testing.T) {
	r := &job.Reader{Protocols: []job.Kind{teller("first"), teller("second")}, Learners: learner.Table()}
	of := func(details string, j *job.Job) string {
		shown, err := presented(r, j, &method.Result{Details: json.RawMessage(details)})
		switch {
		case err != nil:
			return err.Error()
		case shown == nil:
			return "nothing"
		}
		return shown.Unit
	}
	first := &job.Job{Protocol: job.Named{Kind: teller("first")}}
	for _, tt := range []struct {
		details string
		j       *job.Job
		want    string
	}{
		{`{"first": 1}`, nil, "first"},
		{`{"second": 1}`, nil, "second"},
		{`{"first": "a text", "second": 1}`, nil, "second"},
		{`{"first": "a text"}`, nil, "json: cannot unmarshal"},
		{`{"third": 1}`, nil, "nothing"},
		{`{"second": 1}`, first, "nothing"},
		{`{"first": 1}`, first, "first"},
	} {
		if got := of(tt.details, tt.j); !strings.HasPrefix(got, tt.want) {
			t.Errorf("%s: %s, want %s", tt.details, got, tt.want)
		}
	}
}
