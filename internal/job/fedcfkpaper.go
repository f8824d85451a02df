package job

import "github.com/mercer-fl/mercer/internal/job/section"

// Defaults of FedCFK's mode paper. The paper tries rounds in which 1 % to 50 %
// of all people take part; it gives no numbers for requests.
const (
	defaultCrowdRounds   = 100
	defaultParticipation = 0.1
	defaultDecoys        = 3
	defaultOmitted       = 0.2
	maxCrowdRounds       = 10000
)

// paperCrowdKeys are the keys of FedCFK's mode paper.
func paperCrowdKeys() []string { return []string{"rounds", "participation", "decoys", "omitted"} }

func (p *Protocol) isPaperCrowd() bool { return p.Name == FedCFK && p.Mode == Paper }

func (p *Protocol) finishPaperCrowd(in *section.Place) error {
	for _, key := range hardenedCrowdKeys() {
		if in.Given(key) {
			return in.Refuse(key, "mode paper of fedcfk counts every item, however few like it; remove %s, or use mode: hardened", key)
		}
	}
	in.Fallback("participation", &p.Participation, defaultParticipation)
	in.Fallback("omitted", &p.Omitted, defaultOmitted)
	if err := in.Count("decoys", &p.Decoys, defaultDecoys); err != nil {
		return err
	}
	if err := in.Count("rounds", &p.Rounds, defaultCrowdRounds); err != nil {
		return err
	}
	switch {
	case p.Rounds > maxCrowdRounds:
		return in.Refuse("rounds", "rounds is %d; write 1 to %d", p.Rounds, maxCrowdRounds)
	case p.Participation <= 0 || p.Participation > 1:
		return in.Refuse("participation", "participation is %g; write the share of the people in each round, above 0 and up to 1, such as 0.1", p.Participation)
	}
	return in.Share("omitted", "the liked items", p.Omitted)
}
