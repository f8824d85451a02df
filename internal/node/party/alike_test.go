package party

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/all"
	"github.com/mercer-fl/mercer/internal/method/jobtest"
	"github.com/mercer-fl/mercer/internal/method/methodtest"
	"github.com/mercer-fl/mercer/internal/node/control"
	"github.com/mercer-fl/mercer/internal/node/disclosure"
	"github.com/mercer-fl/mercer/linalg"
)

// releaseID is a name under a key of the home's own ledger.
var releaseID = regexp.MustCompile("[0-9a-f]{16}")

// said returns what north tells anybody from now until it has nothing more to say, in order: whom, the
// kind, the size and the bytes of the body before it is sealed. Names of releases are masked.
func (s *fixture) said() (list []string) {
	s.t.Helper()
	c := &control.Closing{Job: job.ID{0xff}} // an unknown job, whose closing north answers behind all else
	s.tell("hub", control.Topic(c.Job), control.KindClosing, c.Encode())
	for {
		in := <-s.others["hub"].Control()
		if err := in.Ack(); err != nil {
			s.t.Fatal(err)
		}
		if in.Message.Kind == control.KindClosed {
			s.silent("south", "east")
			return list
		}
		list = append(list, fmt.Sprintf("%s, %d bytes: %q", in.Message.Kind, len(in.Message.Body), releaseID.ReplaceAll(in.Message.Body, []byte("ID"))))
	}
}

// other is a table with the columns of another one, and other people, cells, labels and numbers of all.
func other(set *dataset.Set) *dataset.Set {
	m := linalg.New[float64](set.X.Rows()-3, set.X.Cols())
	out := &dataset.Set{Name: set.Name, Columns: set.Columns}
	for i := range m.Rows {
		for c := range m.Cols {
			m.Row(i)[c] = float64((7*i+3*c)%11) + 0.25
		}
		out.IDs = append(out.IDs, fmt.Sprint("q", i))
		out.Labels = append(out.Labels, set.Labels[(i*i)%len(set.Labels)])
	}
	out.X = dataset.NewDense(m)
	return out
}

// The messages of a home for a job that it accepts with its first session, and for one that awaits
// approval, depend on the job, the approvals and the jobs before: two homes with other rows answer
// alike, byte for byte, in each protocol that parties run. For a job that awaits approval nothing but
// its refusal is sent.
func TestHomesWithOtherRowsAnswerAlike(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	byRows := func(protocol, learner, scale, parties string) string {
		kernel := "{name: rbf, gamma: 0.5}"
		if strings.Contains(protocol, "fd-svrg") || strings.Contains(protocol, "secureboost") {
			kernel = "{name: linear}"
		}
		return fmt.Sprintf("apiVersion: mercer/v1\nkind: Job\nmetadata: {name: alike}\nspec:\n  data:\n    source: patients\n    label: label\n    scale: %s\n    partition: {parties: %s}\n  protocol: %s\n  kernel: %s\n  learner: %s\n", scale, parties, protocol, kernel, learner)
	}
	byColumns := func(protocol, learner, _, parties string) string {
		return strings.Replace(byRows(protocol, learner, "none", parties), "partition: {", "id: id\n    partition: {by: columns, ", 1)
	}
	byDictionary := func(protocol, _, _, parties string) string { // which fits nothing
		return modelled("range", strings.TrimSuffix(strings.TrimPrefix(protocol, "{name: sealed, "), "}"), parties)
	}
	const three, two = "[north, south, east]", "[north, south]"
	tests := map[string]struct {
		file              func(protocol, learner, scale, parties string) string
		protocol, learner string
		scale, parties    string // of the second job
	}{
		"okra":        {byRows, "{name: okra}", "{name: svc}", "standard", three},
		"flake":       {byRows, "{name: flake}", "{name: svc}", "standard", three},
		"escaped":     {byRows, "{name: escaped, mode: paper}", "{name: svc}", "standard", three},
		"moments":     {byRows, "{name: moments, directions: 8}", "{name: kpca, n_components: 2}", "minmax", two},
		"sealed":      {byDictionary, "{name: sealed, features: 150}", "{name: ridge-classifier}", "", three},
		"gram":        {byColumns, "{name: gram}", "{name: svc}", "", two},
		"pp-svmv":     {byColumns, "{name: pp-svmv, mode: paper}", "{name: svc}", "", two},
		"fd-svrg":     {byColumns, "{name: fd-svrg, mode: paper}", "{name: logistic}", "", two},
		"fdskl":       {byColumns, "{name: fdskl}", "{name: logistic}", "", two},
		"secureboost": {byColumns, "{name: secureboost, mode: paper}", "{name: boosted-trees}", "", two},
	}
	for _, p := range all.Reader().Protocols {
		_, tested := tests[p.Name()]
		j := &job.Job{Protocol: job.Named{Kind: p, Values: p.New()}}
		// fedcfk has claims in the ledger's place.
		if want := method.Federated(j) && p.Name() != "fedcfk"; tested != want {
			t.Errorf("%s: parties run it: %t; tested here: %t", p.Name(), want, tested)
		}
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			first := jobtest.Parse(t, tt.file(tt.protocol, tt.learner, "minmax", three))
			second := jobtest.Parse(t, tt.file(tt.protocol, tt.learner, tt.scale, tt.parties))
			home := func(set *dataset.Set, patients string) (list []string) {
				policy := usual()
				policy.Modes = all.Reader().Known().Modes
				s := newFixture(t, policy)
				s.serve(set)
				first, second := s.dictionaries.Approve(first), s.dictionaries.Approve(second)
				if first.Data.Dictionary != nil {
					s.patients(first, patients)
				}
				s.propose(s.proposal(first, job.ID{1}, 0))
				list = append(s.said(), "then")
				s.letOut()
				s.end(job.ID{1})
				before := s.ledger()[disclosure.Released]
				s.propose(s.proposal(second, job.ID{2}, 0))
				list = append(list, s.said()...)
				if n := s.ledger(); n[disclosure.Held] != 1 || n[disclosure.Released] != before || n[disclosure.Admitted] != 0 {
					t.Errorf("the second job is not held: %v, %q", n, list)
				}
				return list
			}
			one := home(people(20), methodtest.Patients("north", 240))
			another := home(other(people(20)), methodtest.Patients("others", 237))
			if !slices.Equal(one, another) {
				t.Errorf("one home says %q, and one with other rows %q", one, another)
			}
			if len(one) != 3 || !strings.HasPrefix(one[0], control.KindAcceptance) || !strings.HasPrefix(one[2], control.KindRefusal) {
				t.Errorf("north says %q", one)
			}
		})
	}
}
