package secvm

import (
	"fmt"

	"github.com/mercer-fl/mercer/internal/method/sums"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/secvm"
)

// Facts holds the facts about a job from which its leakage statement is computed.
type Facts struct {
	Params       secvm.Params
	Published    bool // mode paper: devices send only packages with content
	Network      bool // devices send real packages through a relay and pay for them with tokens
	OwnIssuer    bool // the gateway issued the tokens itself, and no other party countersigned its announcements
	Participants int
	Rare         int // the number of pairs of bin and sign with a single package in the first window
}

// Rare counts the pairs of bin and sign for which a window has only one package.
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

// unit returns "column" or "bin", because each weight belongs to a column or to a bin.
func unit(p secvm.Params) string {
	if p.Spec().Columns {
		return "column"
	}
	return "bin"
}

const unhashed = "features: columns hashes nothing. The list of columns is public, every device has it, and each count belongs to exactly one named column."

// Sentences of the leakage statements that say who can reconstruct records.
const (
	leaverShown   = "If one person joins or leaves between two windows, the gateway may learn that person's features."
	tokensMade    = "It could serve a single device, or send it other weights, and read its record."
	deviceLearns  = "Every device learns the weights of all windows, and computes from two successive ones, up to a factor, the sums by which the server changed them. An entry of one person reveals that person's label to a device that knows the feature."
	relayTogether = "The relay and the gateway together know who sent what: they learn whole records with labels."
	windowsDiffer = "The sums of two windows whose devices differ by one reveal that device's features if the weights have hardly changed in between."
)

// Exposures returns how much of others' records each role can reconstruct in a job with anonymous
// packages.
func Exposures(f Facts) map[string]protocol.Exposure {
	list := map[string]protocol.Exposure{
		"server":    {Reach: protocol.ReachPart, Why: leaverShown},
		"party":     {Reach: protocol.ReachPart, Why: deviceLearns},
		"coalition": {Reach: protocol.ReachAll, Why: relayTogether},
	}
	if f.OwnIssuer {
		list["server"] = protocol.Exposure{Reach: protocol.ReachAll, Why: tokensMade}
	}
	return list
}

// Leakage describes in plain words what each role learns in a job with anonymous packages.
func Leakage(f Facts) map[string][]string {
	spec, unit := f.Params.Spec(), unit(f.Params)
	lines := map[string][]string{
		"server": {
			fmt.Sprintf("In every window the gateway learns how often each of %d %ss was sent with each sign and how many devices took part. It does not learn which packages come from one device.", spec.Bins, unit),
			fmt.Sprintf("In the first window %d pairs of %s and sign had a single package: one of %d participants has this feature, and the label that the sign stands for.", f.Rare, unit, f.Participants),
			leaverShown + " By choosing the weights it can silence the people of one " + unit + ", to the same end. No noise is added: there is no formal guarantee.",
			"The gateway recognises cover packages when it opens them, so it learns how many devices are beyond the margin.",
		},
		"party": {deviceLearns + " It keeps secret whether it trains or tests."},
		"coalition": {
			relayTogether,
			"The issuer and the gateway together can serve a single device, claim that there are many, and read its record. The relay, the issuer and the gateway together can send one device other weights than all others.",
		},
		"broker": {fmt.Sprintf("The relay learns which devices take part and when; every device sends %d packages of one size, whatever its record.", spec.Packages)},
	}
	if f.OwnIssuer {
		lines["server"] = append(lines["server"], "mode: paper: the gateway issued the tokens itself, and nobody countersigned what it sent to devices. "+tokensMade)
	}
	if f.Published {
		lines["broker"] = []string{"mode: paper sends only packages with content: anyone who counts a device's packages learns how many features it has, whether it is beyond the margin, and whether it trains or tests."}
	}
	if !f.Network {
		lines["server"] = append(lines["server"], "This was a simulation: packages went from device to tally in one process, without tokens and relay.")
	}
	if spec.Columns {
		lines["server"] = append(lines["server"], unhashed)
	}
	if spec.Hashes > 1 {
		lines["server"] = append(lines["server"], fmt.Sprintf("With %d hashes the gateway can intersect the bins of a rare feature; devices refuse more than one hash unless configured otherwise.", spec.Hashes))
	}
	return lines
}

// SumFacts holds facts about the first window of a job with secure sums. The job's leakage
// statement is computed from them.
type SumFacts struct {
	Participants int `json:"participants"`
	Alone        int `json:"alone"` // the number of entries of the sum that are 1 or -1
}

// SumFactsOf returns the facts of a window's sum.
func SumFactsOf(s *secvm.Sum) SumFacts {
	f := SumFacts{Participants: s.Count()}
	for _, block := range s.Blocks[:len(s.Blocks)-1] {
		f.Alone += sums.Count(block, 1) + sums.Count(block, -1)
	}
	return f
}

// Exposures returns how much of others' records each role can reconstruct in a job with secure sums.
func (c Summed) Exposures(devices int) map[string]protocol.Exposure {
	return map[string]protocol.Exposure{
		"server":    KeysOf(c.Job).ServerExposure(protocol.Exposure{Reach: protocol.ReachPart, Why: windowsDiffer}),
		"party":     {Reach: protocol.ReachPart, Why: deviceLearns},
		"coalition": {Reach: protocol.ReachAll, Why: c.coalition(devices)},
	}
}

// coalition describes what the server learns together with devices.
func (c Summed) coalition(devices int) string {
	corrupted := sums.Share(KeysOf(c.Job).Corrupted, devices)
	return fmt.Sprintf("The server with up to %d of the %d devices learns the sums of the others, of at least %d; with more, there is no guarantee. With all devices but one it reads the remaining one's record.", corrupted, devices, c.Minimum(devices)-corrupted)
}

// Leakage describes what each role learns in a job with secure sums. f holds the facts of the first
// window.
func (c Summed) Leakage(f SumFacts, devices int) map[string][]string {
	spec, unit := c.Params.Spec(), unit(c.Params)
	apart := "with both signs taken together"
	if spec.Classes {
		apart = "for each label"
	}
	lines := map[string][]string{
		"server": {
			fmt.Sprintf("In every window the server learns how often each of %d %ss was added, %s, how many of the devices train and how many tests were right. Unlike with anonymous packages, it also learns which devices take part. It learns no single device's summand.", spec.Bins, unit, apart),
			fmt.Sprintf("%d entries of the first sum are 1 or -1: such a %s may come from a single one of %d people, and then reveals that person's label.", f.Alone, unit, f.Participants),
			windowsDiffer + " This happens whenever a device drops out, and the server can leave out any device. No noise is added: there is no formal guarantee.",
		},
		"party": {deviceLearns + " It also learns who takes part and who is in each sum. It keeps secret whether it trains or tests."},
		"coalition": {
			c.coalition(devices),
			"A device can add any values to a sum, also far larger ones than its packages allow, and nobody can detect which device did.",
		},
		"broker": {"The carriers of the messages learn who sends, when and how much. Every device sends the same amount, whatever its record."},
	}
	if spec.Columns {
		lines["server"] = append(lines["server"], unhashed)
	}
	KeysOf(c.Job).ServerLeakage(lines)
	return lines
}
