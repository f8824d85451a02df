package party

import (
	"slices"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/job/section"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/gram"
	"github.com/mercer-fl/mercer/internal/node/control"
	"github.com/mercer-fl/mercer/internal/node/disclosure"
)

// wrapped is a party that a method has put into another one, to log or to measure: whatever a
// successor embeds [method.Party] in has its Disclose, too.
type wrapped struct{ method.Party }

// wrapping is method gram with such parties.
type wrapping struct{ *method.Protocol }

func (m wrapping) Party(c method.Case, self string, t method.Table) (method.Party, error) {
	p, err := m.Protocol.Party(c, self, t)
	return wrapped{p}, err
}

// reading has north read job files of a method in the place of the method of its name.
func (s *stand) reading(k job.Kind) {
	r := *s.party.Reader
	r.Protocols = slices.Clone(r.Protocols)
	r.Protocols[slices.IndexFunc(r.Protocols, func(o job.Kind) bool { return o.Name() == k.Name() })] = k
	s.party.Reader = &r
}

// A party that is wrapped in another one is asked for its releases as the bare one is.
func TestAWrappedPartyIsInTheLedger(t *testing.T) {
	for name, wrap := range map[string]bool{"bare": false, "wrapped": true} {
		t.Run(name, func(t *testing.T) {
			s := newStand(t, usual())
			if wrap {
				s.reading(wrapping{gram.Protocol()})
			}
			s.serve(people(20))
			s.propose(s.proposal(aligning(t), job.ID{1}, 0))
			s.hear(control.KindAcceptance)
			if n := s.ledger(); n[disclosure.Admitted] != 1 || len(n) != 1 {
				t.Errorf("accepted, and the ledger is %v", n)
			}
			s.serve(people(19))
			s.propose(s.proposal(aligning(t), job.ID{2}, 0))
			s.refuses(fault.CodePolicy, "its ledger holds the job")
		})
	}
}

// boundless is a method whose keys state no limits, whatever gram's do, and floorless one that does
// not say what floors are to it.
type (
	boundless struct{ *method.Protocol }
	keys      struct {
		section.Values
		job.Moded
	}
	floorless struct{ job.Kind }
)

// A method that forgets to state its limits, or its floors, is refused: a policy's bounds would hold
// for none of its jobs.
func TestMethodsWithoutBoundsAreRefused(t *testing.T) {
	bare := byColumns(t, "none")
	if got := opened().Refusals(bare, 3); got != nil {
		t.Fatalf("gram is refused: %q", got)
	}
	unbounded, unfloored := *bare, *bare
	unbounded.Protocol = job.Named{Kind: boundless{gram.Protocol()}, Values: &keys{bare.Protocol.Values, job.Moded{Mode: job.Hardened}}}
	unfloored.Protocol = job.Named{Kind: floorless{bare.Protocol.Kind}, Values: bare.Protocol.Values}
	for want, j := range map[string]*job.Job{
		"protocol gram states no limits, and what states none is refused":              &unbounded,
		"protocol gram states no floors, and a job that no floor holds for is refused": &unfloored,
	} {
		if got := opened().Refusals(j, 3); len(got) != 1 || got[0] != want {
			t.Errorf("refused because %q, want %q", got, want)
		}
		if err := opened().Check(j, 3); fault.CodeOf(err) != fault.CodePolicy || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v", err)
		}
	}
}
