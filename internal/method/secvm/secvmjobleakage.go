package secvm

import (
	"fmt"

	"github.com/mercer-fl/mercer/internal/method/sums"
	"github.com/mercer-fl/mercer/protocol/secvm"
)

// Facts hold the inputs of a job's statement of leakage.
type Facts struct {
	Params       secvm.Params
	Published    bool // as published: devices send only what they have to say
	Network      bool // real packages through a relay, paid for with tokens
	OwnIssuer    bool // the gateway gave the tokens itself, and nobody countersigned
	Participants int
	Rare         int // bins and signs that a single package of the first window was for
}

// Rare counts the bins and signs for which a window has a single package.
func Rare(t *secvm.Tally) int {
	rare := 0
	for _, side := range [][]uint64{t.Minus, t.Plus} {
		for _, n := range side {
			if n == 1 {
				rare++
			}
		}
	}
	return rare
}

// unit names the things that a model has a weight for.
func unit(p secvm.Params) string {
	if p.Spec().Columns {
		return "column"
	}
	return "bin"
}

const unhashed = "features: columns: nothing is hashed. The list of columns is public, every device has it, and each count is for one column by name: no other feature can be meant."

// Leakage describes in plain words what each role learns, computed for this job.
func Leakage(f Facts) map[string][]string {
	spec, unit := f.Params.Spec(), unit(f.Params)
	lines := map[string][]string{
		"server": {
			fmt.Sprintf("In every window the gateway learns how often each of %d %ss was sent with each sign, and how many took part, and not which packages come from one device.", spec.Bins, unit),
			fmt.Sprintf("%d %ss were sent once only with a sign in the first window: somebody of %d has this feature, and the label that the sign says.", f.Rare, unit, f.Participants),
			"From two windows between which one person came or left it may learn what that person has; weights of its own choice can silence the people of one " + unit + ", to the same end. Nothing is noisy: there is no formal guarantee.",
			"Cover packages are known to it as such once they are opened: how many devices lie beyond the margin is no secret from it.",
		},
		"party": {"Every device learns the weights. Its role, for training or for tests, is its own secret."},
		"coalition": {
			"Relay and gateway together know who sent what: they learn whole records with labels.",
			"Issuer and gateway together can serve one device alone, say that there are many, and read its record. Relay, issuer and gateway together can tell one device other weights than all others.",
		},
		"broker": {fmt.Sprintf("The relay learns which devices take part and when; every device sends %d packages of one size whatever it has to say.", spec.Packages)},
	}
	if f.OwnIssuer {
		lines["server"] = append(lines["server"], "mode: paper: the gateway gave the tokens itself, and nobody vouched for what it told devices. It could serve one device alone, or tell it other weights, and read its record.")
	}
	if f.Published {
		lines["broker"] = []string{"mode: paper sends only what there is to say: whoever counts a device's packages learns how many features it has, whether it lies beyond the margin, and whether it trains or tests."}
	}
	if !f.Network {
		lines["server"] = append(lines["server"], "This was a simulation: packages went from device to tally in one process, without tokens and relay.")
	}
	if spec.Columns {
		lines["server"] = append(lines["server"], unhashed)
	}
	if spec.Hashes > 1 {
		lines["server"] = append(lines["server"], fmt.Sprintf("With %d hashes the bins of a rare feature can be intersected; devices refuse more than one unless told otherwise.", spec.Hashes))
	}
	return lines
}

// SumFacts hold what the statement of leakage says of the first window, where windows are
// summed.
type SumFacts struct {
	Participants int `json:"participants"`
	Alone        int `json:"alone"` // entries of the sum that are 1 or -1
}

// SumFactsOf takes the facts of a window.
func SumFactsOf(s *secvm.Sum) SumFacts {
	f := SumFacts{Participants: s.Count()}
	for _, block := range s.Blocks[:len(s.Blocks)-1] {
		f.Alone += sums.Count(block, 1) + sums.Count(block, -1)
	}
	return f
}

// Leakage describes what each role learns where windows are summed, computed from the first
// window.
func (c Summed) Leakage(f SumFacts, devices int) map[string][]string {
	p, spec, unit := KeysOf(c.Job), c.Params.Spec(), unit(c.Params)
	corrupted := sums.Share(p.Corrupted, devices)
	apart := "with both signs taken together"
	if spec.Classes {
		apart = "for each label"
	}
	lines := map[string][]string{
		"server": {
			fmt.Sprintf("In every window the server learns how often each of %d %ss was added, %s, how many of the devices train and how many tests were right; and, other than with anonymous packages, which devices take part. It learns nobody's summand.", spec.Bins, unit, apart),
			fmt.Sprintf("%d entries of the first sum are 1 or -1: behind such a %s there may be a single one of %d people, whose label then shows.", f.Alone, unit, f.Participants),
			"Sums of two windows whose devices differ by one tell what that one has, if the weights have hardly changed in between: every time somebody vanishes, and the server can leave out whom it likes. Nothing is noisy: there is no formal guarantee.",
		},
		"party": {"Every device learns the weights, who takes part and who is in each sum. Its role, for training or for tests, is its own secret."},
		"coalition": {
			fmt.Sprintf("The server with up to %d of the %d devices learns the sums of the others, of at least %d; with more, nothing is promised.", corrupted, devices, c.Minimum(devices)-corrupted),
			"A device can add anything to a sum, also far more than its packages would be, and nobody can tell whose it was.",
		},
		"broker": {"Whoever carries the messages learns who sends, when and how much: the same of every device, whatever it has to say."},
	}
	if spec.Columns {
		lines["server"] = append(lines["server"], unhashed)
	}
	if p.Adversary == sums.SemiHonest {
		lines["server"] = append(lines["server"], sums.SemiHonestServer)
	}
	return lines
}
