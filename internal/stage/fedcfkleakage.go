package stage

import (
	"fmt"

	"github.com/mercer-fl/mercer/internal/job"
)

// semiHonestServer is said of every sum that trusts its server.
const semiHonestServer = "adversary: semi-honest trusts the server to tell everybody the same; one that does not can read a single device's vector. Use adversary: active."

// CrowdFacts are what a FedCFK job's statement is computed from.
type CrowdFacts struct {
	First, Second Summation
	Sums          []int64 // of the first
	Kept          []int
	Pairs         []int64 // of the second
	Added         int     // people in the second sum
	Broadcast     *ItemKernel
}

// Leakage says in plain words what each role learns, computed for this job.
func (c Crowd) Leakage(f CrowdFacts) map[string][]string {
	people := len(f.First.Session.Members) - 1
	corrupted := Share(c.Job.Protocol.Corrupted, people)
	last := len(f.Second.Session.Members) - 1
	lines := map[string][]string{
		"server": {
			fmt.Sprintf("The server learns how many people like each of %d items (%d of them have a single one), and who takes part. It learns nobody's list.", c.Items, count(f.Sums, 1)),
			fmt.Sprintf("For every pair of the %d items with at least %d likes it learns how many of %d people like both: %d pairs have a single one. Whoever knows that a certain person likes both of such a pair knows that this person takes part, and that nobody else who does likes both.",
				len(f.Kept), c.Cut(people), f.Added, count(f.Pairs, 1)),
			"The limit holds against a server that follows the protocol. One that lies about the first sum, or invents people, has any item counted, and the row of an item that one person alone likes is that person's list.",
		},
		"party": {
			fmt.Sprintf("Every device learns who takes part, how many people like each item, and the kernel between %d items (16 bits a value), from which it can work out about how many like both of two. What it is recommended stays with it.", len(f.Broadcast.Kept)),
		},
		"coalition": {
			fmt.Sprintf("The server with up to %d of the %d devices learns the sums of the others, of at least %d people; with more, nothing is promised.", corrupted, people, c.Minimum(last)-Share(c.Job.Protocol.Corrupted, last)),
			"Any device can lie about what it likes, and nobody can tell.",
		},
		"broker": {"Whoever carries the messages learns who sends, when and how much."},
	}
	if c.Job.Protocol.Margin == job.MarginNone {
		lines["server"] = append(lines["server"], fmt.Sprintf("margin: none counts everybody: %d devices of the server's make an item count that one person alone likes, and lay that person's list open. Use margin: corrupted.", c.Job.Protocol.Threshold-1))
	}
	if c.Job.Protocol.Adversary == job.SemiHonest {
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
