package party

import (
	"slices"
	"testing"

	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/job/section"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/gram"
	"github.com/mercer-fl/mercer/internal/node/control"
	"github.com/mercer-fl/mercer/internal/node/disclosure"
)

// wrapping is a protocol put into another one, to log or to measure.
type wrapping struct{ *method.Protocol }

// reading has north read job files of a method in the place of the method of its name.
func (s *fixture) reading(k job.Protocol) {
	r := *s.party.Reader
	r.Protocols = slices.Clone(r.Protocols)
	r.Protocols[slices.IndexFunc(r.Protocols, func(o job.Protocol) bool { return o.Name() == k.Name() })] = k
	s.party.Reader = &r
}

// A protocol that is wrapped in another one takes no part, whatever the wrapper hides: a party runs
// functions that a binding states, and finds none by type assertion.
func TestAWrappedProtocolIsRefused(t *testing.T) {
	for name, wrap := range map[string]bool{"bare": false, "wrapped": true} {
		t.Run(name, func(t *testing.T) {
			s := newFixture(t, usual())
			if wrap {
				s.reading(wrapping{gram.Protocol()})
			}
			s.serve(people(20))
			s.propose(s.proposal(aligning(t), job.ID{1}, 0))
			if wrap {
				s.refuses(fault.CodeBadInput, `protocol "gram" cannot be run by a federation`)
				return
			}
			s.hear(control.KindAcceptance)
			if n := s.ledger(); n[disclosure.Admitted] != 1 || len(n) != 1 {
				t.Errorf("accepted, and the ledger is %v", n)
			}
			s.serve(people(19))
			s.propose(s.proposal(aligning(t), job.ID{2}, 0))
			s.refuses(fault.CodePolicy, "the job awaits its operator's approval")
		})
	}
}

// boundless is keys that state no demands, whatever gram's do, and floorless a protocol that does not
// say what limits are to it.
type (
	boundless struct{ section.Values }
	floorless struct{ job.Kind }
)

// A method that forgets to state its limits, or its limits, is refused: a policy's bounds would hold
// for none of its jobs.
func TestMethodsWithoutBoundsAreRefused(t *testing.T) {
	bare := byColumns(t, "none")
	if got := opened().Refusals(bare, 3); got != nil {
		t.Fatalf("gram is refused: %v", got)
	}
	unbounded, unfloored := *bare, *bare
	unbounded.Protocol = job.Named{Kind: bare.Protocol.Kind, Values: &boundless{bare.Protocol.Values}}
	unfloored.Protocol = job.Named{Kind: floorless{bare.Protocol.Kind}, Values: bare.Protocol.Values}
	for want, j := range map[string]*job.Job{
		"protocol gram states no limits, and a protocol without limits is refused":                       &unbounded,
		"protocol gram does not apply this party's limits; this party refuses all jobs of this protocol": &unfloored,
	} {
		if got := opened().Refusals(j, 3); !slices.ContainsFunc(got, func(r Refusal) bool { return r.Text == want }) {
			t.Errorf("refused because %v, want %q", got, want)
		}
		if err := opened().Check(j, 3); fault.CodeOf(err) != fault.CodePolicy {
			t.Errorf("error %v", err)
		}
	}
}
