package local

import (
	"fmt"

	"github.com/mercer-fl/mercer/internal/method/fedcfk"
	"github.com/mercer-fl/mercer/protocol"
)

// warnings returns a job's warnings about the published attacks on FedCFK's mode paper.
func warnings(k *fedcfk.Keys) []string {
	list := []string{
		"mode paper of fedcfk is for reproduction only: it exposes people's lists; mode hardened does not",
		"sole raters: an item that only one person likes in a round exposes that person's whole list",
	}
	if !k.Once {
		list = append(list,
			"differencing: the same people take part in many rounds, and sums over differing groups of them expose single lists",
			"max-merge: the maximum of a count over all rounds is not a sum; the kernel is biased and not positive semidefinite")
	}
	return append(list,
		"decoy intersection: the rows that a device requests repeatedly belong to items that its owner likes")
}

// leakage describes in plain words what each role learns in a job in mode paper.
func leakage(c fedcfk.Devices, people int, r fedcfk.PaperFigures) map[string][]string {
	lines := map[string][]string{
		"server": {
			fmt.Sprintf("In each of %d rounds the server learns, for every pair of items, exactly how many participants like both. %s It can attribute %d of these lists: only one person was in all rounds in which the list appeared.",
				r.Rounds, solesRead(people, r), r.ListsNamed),
			differencing(c, r),
			fmt.Sprintf("Decoy intersection: from how often each device requests each row, the server guesses %.1f %% of all likes, and %.1f %% of its guesses are right.", 100*r.GuessRecall, 100*r.GuessPrecision),
			"Secure aggregation works as promised and prevents none of this. Use mode: hardened.",
		},
		"party": {
			deviceLearns + " Its recommendations stay on the device.",
			mergedText(c, r),
		},
		"coalition": {noAccomplice + " Any device can lie about its owner's likes, and nobody can detect it."},
		"broker":    {"The carriers of the messages learn who sends, when and how much."},
	}
	c.Keys().ServerLeakage(lines)
	return lines
}

// exposures returns how much of others' lists each role can reconstruct.
func exposures(c fedcfk.Devices, people int, r fedcfk.PaperFigures) map[string]protocol.Exposure {
	reads := protocol.Exposure{Reach: protocol.ReachPart, Why: solesRead(people, r)}
	if r.Solved > r.ListsRead {
		reads.Why = differencing(c, r)
	}
	if r.ListsRead+r.Solved >= people { // the two attacks can read different people's lists
		reads.Reach = protocol.ReachAll
	}
	reads = c.Keys().ServerExposure(reads)
	return map[string]protocol.Exposure{
		"server":    reads,
		"party":     {Reach: protocol.ReachPart, Why: deviceLearns},
		"coalition": {Reach: reads.Reach, Why: noAccomplice},
	}
}

// Sentences of the leakage statement that say who can reconstruct lists.
const (
	deviceLearns = "Every device learns who takes part in its rounds, the mean of each item's row, and the rows that it requests."
	noAccomplice = "The server needs no accomplice: it learns all of the above alone."
)

// solesRead counts in words the lists that the server reads from items that one participant likes.
func solesRead(people int, r fedcfk.PaperFigures) string {
	return fmt.Sprintf("Sole raters: from items that only one participant of a round likes it reads %d of %d people's lists.", r.ListsRead, people)
}

// differencing describes in words what the sums of several rounds reveal together.
func differencing(c fedcfk.Devices, r fedcfk.PaperFigures) string {
	if c.Keys().Once {
		return "Differencing: nobody is in two rounds, so sums and differences of rounds reveal no more than single rounds."
	}
	return fmt.Sprintf("Differencing: by adding and subtracting the sums of several rounds the server isolates %d people's lists. With as many rounds as people it isolates nearly all of them.", r.Solved)
}

// mergedText describes in words the quality of the kernel estimate that devices use.
func mergedText(c fedcfk.Devices, r fedcfk.PaperFigures) string {
	if c.Keys().Once {
		return "The estimate is the kernel over all people who have been in a round."
	}
	return fmt.Sprintf("Max-merge: for %d people the estimated kernel between the items that they like is not positive definite, so their weights are a stationary point and possibly not the optimum.", r.Indefinite)
}
