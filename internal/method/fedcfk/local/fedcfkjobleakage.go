package local

import (
	"fmt"

	"github.com/mercer-fl/mercer/internal/method/fedcfk"
	"github.com/mercer-fl/mercer/internal/method/sums"
)

// warnings names the published attacks to which FedCFK's mode paper is open.
func warnings(k *fedcfk.Keys) []string {
	list := []string{
		"mode paper of fedcfk is for reproduction only: it gives lists away, and hardened does not",
		"sole raters: an item that one person alone likes in a round lays that person's whole list open",
	}
	if !k.Once {
		list = append(list,
			"differencing: the same people are added again and again, and sums over groups of people that differ give single lists",
			"max-merge: the largest count of all rounds is no sum; the kernel is biased and not positive semidefinite")
	}
	return append(list,
		"decoy intersection: rows that a device asks for again and again are those of what its owner likes")
}

// leakage describes in plain words what each role learns of a number of people, computed for
// this job.
func leakage(c fedcfk.Devices, people int, r fedcfk.PaperFigures) map[string][]string {
	lines := map[string][]string{
		"server": {
			fmt.Sprintf("For every pair of items and each of %d rounds the server learns exactly how many of those in it like both. Sole raters: off items that one person alone liked in a round it reads %d of %d people's lists, and for %d of them one person alone was in all the rounds where the list showed.",
				r.Rounds, r.ListsRead, people, r.ListsNamed),
			differencing(c, r),
			fmt.Sprintf("Decoy intersection: from how often each device asks for each row, it guesses %.1f %% of all that people like, and %.1f %% of its guesses are right.", 100*r.GuessRecall, 100*r.GuessPrecision),
			"Nothing above is prevented by secure aggregation, which works as promised. Use mode: hardened.",
		},
		"party": {
			"Every device learns who takes part in its rounds, the mean of each item's row, and the rows that it asks for. What it is recommended stays with it.",
			merged(c, r),
		},
		"coalition": {"The server needs nobody: alone it learns what is said above. Any device can lie about what it likes, and nobody can tell."},
		"broker":    {"Whoever carries the messages learns who sends, when and how much."},
	}
	if c.Keys().Adversary == sums.SemiHonest {
		lines["server"] = append(lines["server"], sums.SemiHonestServer)
	}
	return lines
}

// differencing tells what sums over several rounds show together.
func differencing(c fedcfk.Devices, r fedcfk.PaperFigures) string {
	if c.Keys().Once {
		return "Differencing: nobody is in two rounds, so that sums and differences of rounds show nothing that one round does not."
	}
	return fmt.Sprintf("Differencing: sums over several rounds, added and subtracted, leave %d people's lists alone; once there are as many rounds as people, it is nearly all of them.", r.Solved)
}

// merged tells how good the estimate is for a device.
func merged(c fedcfk.Devices, r fedcfk.PaperFigures) string {
	if c.Keys().Once {
		return "The estimate is the kernel of all who have been in a round."
	}
	return fmt.Sprintf("Max-merge: for %d people the estimate among the items that they like is not positive definite; their weights are a stationary point, which need not be the best.", r.Indefinite)
}
