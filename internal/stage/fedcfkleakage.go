package stage

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mercer-fl/mercer/internal/job"
)

// semiHonestServer is said of every sum that trusts its server.
const semiHonestServer = "adversary: semi-honest trusts the server to tell everybody the same; one that does not can read a single device's vector. Use adversary: active."

// CrowdFacts are what a FedCFK job's statement is computed from.
type CrowdFacts struct {
	People        int      // who began the first sum
	First, Second []string // whose lists are in each sum
	Sums          []int64  // of the first
	Kept          []int
	Pairs         []int64 // of the second
}

// absent are those whose lists are in the first sum only.
func (f CrowdFacts) absent() []string {
	in := make(map[string]bool, len(f.Second))
	for _, name := range f.Second {
		in[name] = true
	}
	return slices.DeleteFunc(slices.Clone(f.First), func(name string) bool { return in[name] })
}

// maxAbsent bounds the names in a statement.
const maxAbsent = 20

// absence says who is in the first sum only, and what the sums tell of them.
func (f CrowdFacts) absence() string {
	absent := f.absent()
	if len(absent) == 0 {
		return fmt.Sprintf("Both sums are over the same %d people.", len(f.First))
	}
	names := strings.Join(absent[:min(len(absent), maxAbsent)], ", ")
	if more := len(absent) - maxAbsent; more > 0 {
		names += fmt.Sprintf(" and %d more", more)
	}
	return fmt.Sprintf("The first sum is over %d people, the second over %d; in the first only: %s. The second counts no single item, and has %d items for %d people, so that how many like one does not follow from its pairs: no difference of the sums is the list of those who are absent. Statistics may find a trace of it. Of attacks that use that lists hold whole numbers, one simple form alone was tried.",
		len(f.First), len(f.Second), names, len(f.Kept), len(f.Second))
}

// Leakage says in plain words what each role learns, computed for this job.
func (c Crowd) Leakage(f CrowdFacts) map[string][]string {
	corrupted := Share(job.As[*fedcfkKeys](c.Job.Protocol).Corrupted, f.People)
	lines := map[string][]string{
		"server": {
			fmt.Sprintf("The server learns how many people like each of %d items (%d of them have a single one), and who takes part. It sees no list.", c.Items, count(f.Sums, 1)),
			fmt.Sprintf("For every pair of the %d items with at least %d likes it learns how many of %d people like both: %d pairs have a single one. Whoever knows that a certain person likes both of such a pair knows that this person takes part, and that nobody else who does likes both.",
				len(f.Kept), c.Cut(f.People, f.Sums), len(f.Second), count(f.Pairs, 1)),
			f.absence(),
			"The limit holds against a server that follows the protocol. One that lies about the first sum, or invents people, has any item counted, and the row of an item that one person alone likes is that person's list.",
		},
		"party": {
			fmt.Sprintf("Every device learns who takes part, how many people like each item, and the kernel between %d items (16 bits a value), from which it can work out how many like both of two: what the server learns. What it is recommended stays with it.", len(f.Kept)),
		},
		"coalition": {
			fmt.Sprintf("The server with up to %d of the %d devices learns the sums of the others, of at least %d people; with more, nothing is promised.", corrupted, f.People, c.Remaining(f.People)-corrupted),
			"Any device can lie about what it likes, and nobody can tell.",
		},
		"broker": {"Whoever carries the messages learns who sends, when and how much."},
	}
	if job.As[*fedcfkKeys](c.Job.Protocol).Margin == noMargin {
		lines["server"] = append(lines["server"], fmt.Sprintf("margin: none counts everybody: %d devices of the server's make an item count that one person alone likes, and lay that person's list open. Use margin: corrupted.", job.As[*fedcfkKeys](c.Job.Protocol).Threshold-1))
	}
	if job.As[*fedcfkKeys](c.Job.Protocol).Adversary == semiHonest {
		lines["server"] = append(lines["server"], semiHonestServer)
	}
	return lines
}

func count(list []int64, value int64) int {
	n := 0
	for _, v := range list {
		if v == value {
			n++
		}
	}
	return n
}
