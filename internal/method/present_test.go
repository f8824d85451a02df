package method_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/methodtest"
)

// teller is a protocol whose results have a number under its name.
func teller(name string) *method.Protocol {
	b := methodtest.Bare(name)
	b.Present = func(_ *job.Job, r *method.Result) (*method.Presentation, error) {
		d, err := method.DetailsOf[map[string]json.RawMessage](r)
		if err != nil || (*d)[name] == nil {
			return nil, err
		}
		var n int
		if err := json.Unmarshal((*d)[name], &n); err != nil {
			return nil, err
		}
		return &method.Presentation{Unit: name}, nil
	}
	return method.New(b)
}

// A reader of a stored result finds the method that knows it, whatever the other methods make
// of it; with the job at hand no other method is asked.
func TestPresentedByItsMethod(t *testing.T) {
	list := []job.Protocol{teller("first"), teller("second")}
	of := func(details string, j *job.Job) string {
		shown, err := method.Presented(list, j, &method.Result{Details: json.RawMessage(details)})
		switch {
		case err != nil:
			return err.Error()
		case shown == nil:
			return "nothing"
		}
		return shown.Unit
	}
	first := &job.Job{Protocol: job.Named{Kind: list[0]}}
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
