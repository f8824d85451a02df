package fedcfk

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mercer-fl/mercer/internal/method/sums"
)

// facts hold the inputs of a job's statement.
type facts struct {
	people        int      // who began the first sum
	first, second []string // whose lists are in each sum
	likes         []int64  // of each item, in the first
	kept          []int
	pairs         []int64 // in the second
}

// absent lists the people whose lists are in the first sum only.
func (f facts) absent() []string {
	in := make(map[string]bool, len(f.second))
	for _, name := range f.second {
		in[name] = true
	}
	return slices.DeleteFunc(slices.Clone(f.first), func(name string) bool { return in[name] })
}

// maxAbsent bounds the names in a statement.
const maxAbsent = 20

// absence names the people who are in the first sum only, and describes what the sums tell of
// them.
func (f facts) absence() string {
	absent := f.absent()
	if len(absent) == 0 {
		return fmt.Sprintf("Both sums are over the same %d people.", len(f.first))
	}
	names := strings.Join(absent[:min(len(absent), maxAbsent)], ", ")
	if more := len(absent) - maxAbsent; more > 0 {
		names += fmt.Sprintf(" and %d more", more)
	}
	return fmt.Sprintf("The first sum is over %d people, the second over %d; in the first only: %s. The second counts no single item, and has %d items for %d people, so that how many like one does not follow from its pairs: no difference of the sums is the list of those who are absent. Statistics may find a trace of it. Of attacks that use that lists hold whole numbers, one simple form alone was tried.",
		len(f.first), len(f.second), names, len(f.kept), len(f.second))
}

// leakage describes in plain words what each role learns, computed for this job.
func (c Crowd) leakage(f facts) map[string][]string {
	k := c.Keys()
	corrupted := sums.Share(k.Corrupted, f.people)
	lines := map[string][]string{
		"server": {
			fmt.Sprintf("The server learns how many people like each of %d items (%d of them have a single one), and who takes part. It sees no list.", c.Items, sums.Count(f.likes, 1)),
			fmt.Sprintf("For every pair of the %d items with at least %d likes it learns how many of %d people like both: %d pairs have a single one. Whoever knows that a certain person likes both of such a pair knows that this person takes part, and that nobody else who does likes both.",
				len(f.kept), c.Cut(f.people, f.likes), len(f.second), sums.Count(f.pairs, 1)),
			f.absence(),
			"The limit holds against a server that follows the protocol. One that lies about the first sum, or invents people, has any item counted, and the row of an item that one person alone likes is that person's list.",
		},
		"party": {
			fmt.Sprintf("Every device learns who takes part, how many people like each item, and the kernel between %d items (16 bits a value), from which it can work out how many like both of two: what the server learns. What it is recommended stays with it.", len(f.kept)),
		},
		"coalition": {
			fmt.Sprintf("The server with up to %d of the %d devices learns the sums of the others, of at least %d people; with more, nothing is promised.", corrupted, f.people, c.Remaining(f.people)-corrupted),
			"Any device can lie about what it likes, and nobody can tell.",
		},
		"broker": {"Whoever carries the messages learns who sends, when and how much."},
	}
	if k.Ratings > 0 {
		c.tellRatings(lines, f)
	}
	if k.Margin == MarginNone {
		lines["server"] = append(lines["server"], fmt.Sprintf("margin: none counts everybody: %d devices of the server's make an item count that one person alone likes, and lay that person's list open. Use margin: corrupted.", k.Threshold-1))
	}
	if k.Adversary == sums.SemiHonest {
		lines["server"] = append(lines["server"], sums.SemiHonestServer)
	}
	return lines
}

// tellRatings changes the statement for sums of ratings: squares beside the counts of likes, products
// in place of the numbers of people who like two items.
func (c Crowd) tellRatings(lines map[string][]string, f facts) {
	server := lines["server"]
	server[0] += " It learns the sum of the squared ratings of each item too: where one person alone likes an item, that tells the person's rating, and where few do, often each rating, but not whose. No limit holds for this: a party takes part only if its policy allows it (ratings: true)."
	server[1] = fmt.Sprintf("For every pair of the %d items with at least %d likes it learns the sum of the products of %d people's ratings: %d pairs have the sum 1, of one person who rates both with 1. A product of two ratings often tells both.",
		len(f.kept), c.Cut(f.people, f.likes), len(f.second), sums.Count(f.pairs, 1))
	lines["party"][0] = fmt.Sprintf("Every device learns who takes part, how many people like each item, the sum of its squared ratings, and the kernel between %d items (16 bits a value), from which it can work out the sums of products: what the server learns. What it is recommended stays with it.", len(f.kept))
}
