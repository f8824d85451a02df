package refused_test

import (
	"errors"
	"testing"

	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/job/refused"
	"github.com/mercer-fl/mercer/internal/method/all"
)

func cases(t *testing.T) []refused.Case {
	t.Helper()
	list, err := refused.Cases(all.Reader())
	if err != nil || len(list) < 300 {
		t.Fatalf("%d cases, error %v", len(list), err)
	}
	return list
}

func TestTheReaderRefusesEveryCase(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	for _, c := range cases(t) {
		t.Run(c.Name, func(t *testing.T) {
			if _, err := c.Reader(all.Reader()).Parse("job.yaml", []byte(c.Base)); err != nil {
				t.Errorf("the job has another mistake: %v", err)
			}
			j, err := c.Reader(all.Reader()).Parse("job.yaml", []byte(c.File))
			var bad *job.Error
			switch {
			case !errors.As(err, &bad):
				t.Errorf("accepted, error %v:\n%s", err, c.File)
			case j != nil:
				t.Error("a job beside an error")
			case bad.File != "job.yaml" || bad.Line != c.Line || bad.Problem != c.Says:
				t.Errorf("\n got %q\nwant line %d: %s", err, c.Line, c.Says)
			}
		})
	}
}

func launches(t *testing.T) []refused.Case {
	t.Helper()
	list, err := refused.Launches()
	if err != nil || len(list) < 10 {
		t.Fatalf("%d cases, error %v", len(list), err)
	}
	return list
}

func TestCommandsRefuseEveryLaunch(t *testing.T) {
	for _, c := range launches(t) {
		t.Run(c.Name, func(t *testing.T) {
			if err := launched(t, c.Command, c.Base); err != nil {
				t.Errorf("the job has another mistake: %v", err)
			}
			if err := launched(t, c.Command, c.File); err == nil || err.Error() != "job: "+c.Says {
				t.Errorf("\n got %v\nwant job: %s", err, c.Says)
			}
		})
	}
}

// launched asks a command whether it can run a job.
func launched(t *testing.T, command, file string) error {
	t.Helper()
	j, err := all.Reader().Parse("job.yaml", []byte(file))
	if err != nil {
		t.Fatal(err)
	}
	return map[string]func() error{"simulate": j.Simulable, "job submit": j.Deployable}[command]()
}
