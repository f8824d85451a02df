package stage

import (
	"crypto/sha256"
	"fmt"
	"slices"

	"github.com/mercer-fl/mercer/internal/fault"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method/fedcfk"
	"github.com/mercer-fl/mercer/internal/wire"
	"github.com/mercer-fl/mercer/protocol/secagg"
)

// The purposes of FedCFK's two sessions. They are part of what a client claims in
// its ledger, so neither may depend on anything that a server chooses.
const (
	PurposePopularity = "fedcfk/popularity"
	PurposeTriangle   = "fedcfk/triangle"
	// onceForEver stands where other jobs name a period: a client's profile goes
	// into one sum of each kind, ever (Mercer's rule 14).
	onceForEver = "once"
)

// MaxCatalogue bounds the items of a job: a device holds a kernel between all of
// them.
const MaxCatalogue = fedcfk.MaxItems

// Crowd is what is public about a FedCFK job before it starts (Polato, Gallinaro
// and Aiolli, "Privacy-preserving kernel computation for vertically partitioned
// data"; two sums for one, and adding every list once only, are ours): two secure
// sums over many clients. The first counts how many like each item. The second
// counts, among those in the first and for items that enough people like, how many
// like both of two.
type Crowd struct {
	Job    *job.Job
	ID     job.ID
	Roster [sha256.Size]byte // of all clients' keys
	Server string
	Items  int // of the catalogue
}

// Minimum is the least number of clients that any of a number of them lets its
// first vector be summed with: all but those that may vanish.
func (c Crowd) Minimum(clients int) int {
	return max(2, clients-Share(job.As[*fedcfkKeys](c.Job.Protocol).Dropped, clients))
}

// Remaining is the least number of clients in the second sum, of those who began
// the first: as many may vanish again.
func (c Crowd) Remaining(people int) int {
	return max(2, people-2*Share(job.As[*fedcfkKeys](c.Job.Protocol).Dropped, people))
}

// minItems is the least number of items of a second sum: who wants fewer counts
// too little to recommend from, and knows too much of the few who take part.
const minItems = 10

// MaxKept bounds the items of the second sum. A sum of outer products over fewer
// people than items has low rank, so that its diagonal, the likes among the people
// in it, follows from the rest; less the first sum's, that is the list of whoever is
// missing. With two thirds as many items as people the diagonal is free (Ledermann,
// "On the rank of the reduced correlational matrix", 1937; Mercer's rule 12).
// Corrupted people may bring lists that add nothing to the rank: where the job
// counts with many of them, the others are what there must be enough of.
func (c Crowd) MaxKept(people int) int {
	least := c.Remaining(people)
	honest := max(0, least-Share(job.As[*fedcfkKeys](c.Job.Protocol).Corrupted, people))
	return min(2*least/3, 3*honest/4)
}

// least is how many must like an item at least. Of the clients of a session, the
// corrupted ones may pretend to like whatever they want to see counted: they are
// not relied upon (rule 13).
func (c Crowd) least(people int) int64 {
	cut := job.As[*fedcfkKeys](c.Job.Protocol).Threshold
	if job.As[*fedcfkKeys](c.Job.Protocol).Margin == corruptedMargin {
		cut += Share(job.As[*fedcfkKeys](c.Job.Protocol).Corrupted, people)
	}
	return int64(cut)
}

// Cut is how many must like an item so that it takes part, among the people who
// began the first sum: the least number with which no more items take part than
// [Crowd.MaxKept] admits.
func (c Crowd) Cut(people int, sums []int64) int64 {
	cut, most := c.least(people), c.MaxKept(people)
	if len(sums) <= most {
		return cut
	}
	ascending := slices.Sorted(slices.Values(sums))
	return max(cut, ascending[len(sums)-1-most]+1)
}

// Popularity describes the first sum, over the listed clients.
func (c Crowd) Popularity(clients []string) (Summation, error) {
	if err := c.check(len(clients)); err != nil {
		return Summation{}, err
	}
	return c.sum(0, c.counting(), clients, c.Items)
}

// counting is the first session, whoever takes part.
func (c Crowd) counting() Session { return Session{Purpose: PurposePopularity} }

// check refuses a crowd before it gives anything, if its second sum could not be.
func (c Crowd) check(people int) error {
	if err := c.checkCatalogue(); err != nil {
		return err
	}
	if most := c.MaxKept(people); most < minItems {
		return fault.BadInput(fmt.Errorf("stage: %d people, of whom %d may vanish from each of two sums, can learn about %d items at most, and %d are the fewest; gather more people or lower dropped",
			people, Share(job.As[*fedcfkKeys](c.Job.Protocol).Dropped, people), most, minItems))
	}
	if _, err := secagg.NewParams(c.pairSpec(people, people, triangle(minItems-1)), people); err != nil {
		return fault.BadInput(fmt.Errorf("stage: the second sum, from which as many may be missing again as from the first: %w; lower dropped", err))
	}
	return nil
}

func (c Crowd) checkCatalogue() error {
	if c.Items < 1 || c.Items > MaxCatalogue {
		return fault.BadInput(fmt.Errorf("stage: a catalogue of %d items; this version takes 1 to %d", c.Items, MaxCatalogue))
	}
	return nil
}

// Kept returns the items that enough of the first session's clients like,
// ascending. Every client computes it again.
func (c Crowd) Kept(first Summation, sums []int64) []int {
	cut := c.Cut(first.people(), sums)
	var kept []int
	for i, d := range sums {
		if d >= cut {
			kept = append(kept, i)
		}
	}
	return kept
}

// Pairs describes the second sum, over all whose vectors are in the first, gone or
// not: nobody chooses whom to leave out. Who they are, what the first one was, its
// result and the items that follow from it are all part of the session's name
// (rule 12).
func (c Crowd) Pairs(first Summation, survivors []string, sums []int64) (Summation, []int, error) {
	pairing, kept, err := c.pairing(first, sums)
	if err != nil {
		return Summation{}, nil, err
	}
	spec := c.pairSpec(first.people(), len(survivors), triangle(len(kept)-1))
	s, err := newSummation(c.ID, 1, c.Roster, pairing, c.Server, survivors, spec)
	return s, kept, err
}

// pairing is the second session, whoever takes part.
func (c Crowd) pairing(first Summation, sums []int64) (Session, []int, error) {
	kept := c.Kept(first, sums)
	if len(kept) < minItems {
		return Session{}, nil, fault.BadInput(fmt.Errorf("stage: %d items have the %d likes that are needed, and %d such items are the fewest to learn from; lower threshold, or gather more people",
			len(kept), c.Cut(first.people(), sums), minItems))
	}
	var salt wire.Writer
	salt.Fixed(hashSums(sums))
	for _, i := range kept {
		salt.Uint32(uint32(i))
	}
	return Session{Purpose: PurposeTriangle, Parent: first.Session.ID(), Salt: salt.Bytes()}, kept, nil
}

func hashSums(sums []int64) []byte {
	var w wire.Writer
	for _, d := range sums {
		w.Uint64(uint64(d))
	}
	hash := sha256.Sum256(w.Bytes())
	return hash[:]
}

// triangle is how many pairs i <= j there are.
func triangle(items int) int { return items * (items + 1) / 2 }

// sum describes one secure sum of entries that are 0 or 1.
func (c Crowd) sum(stage int, s Session, clients []string, entries int) (Summation, error) {
	return newSummation(c.ID, stage, c.Roster, s, c.Server, clients, c.spec(len(clients), entries))
}

// people is how many began the sum.
func (s Summation) people() int { return len(s.Session.Members) - 1 }

// pairSpec is that of the second sum: its clients give way to as many as may be
// missing from both sums together, less those who already are.
func (c Crowd) pairSpec(people, clients, entries int) secagg.Spec {
	s, least := c.spec(clients, entries), c.Remaining(people)
	s.Minimum, s.Dropped = least, max(0, float64(clients-least)/float64(clients))
	return s
}

func (c Crowd) spec(clients, entries int) secagg.Spec {
	return secagg.Spec{
		Adversary: secagg.Adversary(job.As[*fedcfkKeys](c.Job.Protocol).Adversary), Corrupted: job.As[*fedcfkKeys](c.Job.Protocol).Corrupted, Dropped: job.As[*fedcfkKeys](c.Job.Protocol).Dropped,
		Minimum: c.Minimum(clients), Epoch: onceForEver, Groups: []secagg.Group{{Entries: entries, Bound: 1}},
	}
}
