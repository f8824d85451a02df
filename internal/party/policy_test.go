package party

import (
	"fmt"
	"testing"

	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/session"
)

const jobFile = `apiVersion: mercer/v1
kind: Job
metadata: {name: tumours}
spec:
  data:
    source: tumours
    label: label
    partition: {parties: [north, south, east]}
    scale: %s
  protocol: %s
  kernel: {name: rbf, gamma: 0.5}
  learner: {name: svc, C: 10}
  prediction: %s
  timeout: {join: 5s, round: 5s}
`

func parse(t testing.TB, scale, protocol, prediction string) *job.Job {
	t.Helper()
	j, err := job.Parse("job.yaml", fmt.Appendf(nil, jobFile, scale, protocol, prediction))
	if err != nil {
		t.Fatal(err)
	}
	return j
}

func TestPolicy(t *testing.T) {
	hardened := parse(t, "minmax", "{name: okra}", "closed")
	paper := parse(t, "minmax", "{name: okra, mode: paper}", "closed")
	open := parse(t, "minmax", "{name: okra}", "open")
	grid := parse(t, "minmax", "{name: okra}", "closed")
	grid.Grid = job.Grid{Kernels: []job.Kernel{grid.Kernel, {Name: job.Linear}}, Learners: []job.Learner{grid.Learner}}
	vertical := parse(t, "minmax", "{name: okra}", "closed")
	vertical.Data.Partition.By, vertical.Protocol = job.Columns, job.Protocol{Name: job.Gram}
	if err := vertical.Validate(); err != nil {
		t.Fatal(err)
	}
	wide := parse(t, "minmax", "{name: okra}", "closed")
	wide.Protocol = job.Protocol{Name: job.Moments, Mode: job.Hardened, Directions: 64}
	tests := []struct {
		name    string
		policy  Policy
		job     *job.Job
		parties int
		want    string // "" allows
	}{
		{"nothing said", Policy{}, hardened, 3, ""},
		{"as many ids as the job says", Policy{}, vertical, 3, ""},
		{"enough ids", Policy{MaxIDs: 1 << 20}, vertical, 3, ""},
		{"fewer ids", Policy{MaxIDs: 1000}, vertical, 3, "the job lets each party look for 1048576 ids, this party allows 1000; lower the protocol's max_ids"},
		{"ids of rows", Policy{MaxIDs: 1000}, hardened, 3, ""},
		{"protocol in the list", Policy{Protocols: []string{"moments", "okra"}}, hardened, 3, ""},
		{"protocol", Policy{Protocols: []string{"moments"}}, hardened, 3, `protocol "okra" is not among those this party allows`},
		{"mode, nothing said", Policy{}, paper, 3, `mode "paper" is not among those this party allows`},
		{"mode in the list", Policy{Modes: []string{"hardened", "paper"}}, paper, 3, ""},
		{"mode", Policy{Modes: []string{"paper"}}, hardened, 3, `mode "hardened" is not among those this party allows`},
		{"kernel in the list", Policy{Kernels: []string{"rbf"}}, hardened, 3, ""},
		{"kernel", Policy{Kernels: []string{"linear"}}, hardened, 3, `kernel "rbf" is not among those this party allows`},
		{"all kernels of a grid", Policy{Kernels: []string{"linear", "rbf"}}, grid, 3, ""},
		{"a kernel of a grid", Policy{Kernels: []string{"rbf"}}, grid, 3, `kernel "linear" is not among those this party allows`},
		{"learner in the list", Policy{Learners: []string{"svc"}}, hardened, 3, ""},
		{"learner", Policy{Learners: []string{"svr"}}, hardened, 3, `learner "svc" is not among those this party allows`},
		{"parties, nothing said", Policy{}, hardened, 2, ""},
		{"one party", Policy{}, hardened, 1, "the job has 1 parties, this party asks for 2 or more"},
		{"parties", Policy{MinParties: 4}, hardened, 3, "the job has 3 parties, this party asks for 4 or more"},
		{"parties are enough", Policy{MinParties: 3}, hardened, 3, ""},
		{"directions", Policy{MaxDirections: 62}, wide, 3, "the job has 64 directions, this party allows 62 (max_directions in its policy)"},
		{"few directions", Policy{MaxDirections: 64}, wide, 3, ""},
		{"open predictions", Policy{}, open, 3, "the job keeps predictions open, which this party does not allow (open_prediction in its policy)"},
		{"open predictions allowed", Policy{OpenPrediction: true}, open, 3, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := tt.policy.Check(tt.job, tt.parties)
			switch {
			case tt.want == "" && err != nil:
				t.Errorf("refused: %v", err)
			case tt.want != "" && (err == nil || err.Error() != tt.want):
				t.Errorf("error %v, want %q", err, tt.want)
			case err != nil && session.CodeOf(err) != session.CodePolicy:
				t.Errorf("code %d, want %d", session.CodeOf(err), session.CodePolicy)
			}
		})
	}
}

// A word that no job can say is a mistake of the operator's.
func TestPolicyOfUnknownWords(t *testing.T) {
	for _, c := range []struct {
		policy Policy
		want   string // "" is valid
	}{
		{Policy{}, ""},
		{Policy{Protocols: []string{"okra", "moments"}, Modes: []string{"paper"}, Kernels: []string{"rbf"}, Learners: []string{"svc"}}, ""},
		{Policy{Protocols: []string{"okra", "momnts"}}, `protocols in the policy names "momnts"; did you mean "moments"?`},
		{Policy{Modes: []string{"anything"}}, `modes in the policy names "anything"; this version has hardened, paper`},
		{Policy{Kernels: []string{"rfb"}}, `kernels in the policy names "rfb"; did you mean "rbf"?`},
		{Policy{Learners: []string{"svm"}}, `learners in the policy names "svm"; did you mean "svc"?`},
	} {
		got := ""
		if err := c.policy.Validate(); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%+v: %q, want %q", c.policy, got, c.want)
		}
	}
}
