package fedcfk

import "github.com/mercer-fl/mercer/internal/job/section"

// Defaults of mode paper. The paper tries rounds in which 1 % to 50 % of all
// people take part; it gives no numbers for requests.
const (
	defaultRounds        = 100
	defaultParticipation = 0.1
	defaultDecoys        = 3
	defaultOmitted       = 0.2
	maxRounds            = 10000
)

func (k *Keys) finishPaper(in *section.Place) error {
	for _, key := range []string{"threshold", "margin"} {
		if in.Given(key) {
			return in.Refuse(key, "mode paper of fedcfk counts every item, however few like it; remove %s, or use mode: hardened", key)
		}
	}
	in.Fallback("participation", &k.Participation, defaultParticipation)
	in.Fallback("omitted", &k.Omitted, defaultOmitted)
	if err := in.Count("decoys", &k.Decoys, defaultDecoys); err != nil {
		return err
	}
	if err := in.Count("rounds", &k.Rounds, defaultRounds); err != nil {
		return err
	}
	switch {
	case k.Rounds > maxRounds:
		return in.Refuse("rounds", "rounds is %d; write 1 to %d", k.Rounds, maxRounds)
	case k.Participation <= 0 || k.Participation > 1:
		return in.Refuse("participation", "participation is %g; write the share of the people in each round, above 0 and up to 1, such as 0.1", k.Participation)
	}
	return in.Share("omitted", "the liked items", k.Omitted)
}
