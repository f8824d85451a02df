package stage

import (
	"crypto/sha256"
	"fmt"
	"slices"

	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/session"
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
const MaxCatalogue = job.MaxItems

// Crowd is what is public about a FedCFK job before it starts (Polato, Gallinaro
// and Aiolli, "Privacy-preserving kernel computation for vertically partitioned
// data"; two sums for one, and adding every list once only, are ours): two secure
// sums over many clients. The first counts how many like each item. The second
// counts, for items that enough people like, how many like both of two.
type Crowd struct {
	Job    *job.Job
	ID     session.JobID
	Roster [sha256.Size]byte // of all clients' keys
	Server string
	Items  int // of the catalogue
}

// Minimum is the least number of clients that any of a number of them lets its
// vector be summed with: all but those that may vanish.
func (c Crowd) Minimum(clients int) int {
	return max(2, clients-Share(c.Job.Protocol.Dropped, clients))
}

// Cut is how many must like an item so that it takes part. Of the clients of a
// session, the corrupted ones may pretend to like whatever they want to see
// counted: they are not relied upon (rule 13).
func (c Crowd) Cut(clients int) int64 {
	cut := c.Job.Protocol.Threshold
	if c.Job.Protocol.Margin == job.MarginCorrupted {
		cut += Share(c.Job.Protocol.Corrupted, clients)
	}
	return int64(cut)
}

// Popularity describes the first sum, over the listed clients.
func (c Crowd) Popularity(clients []string) (Summation, error) {
	if err := c.checkCatalogue(); err != nil {
		return Summation{}, err
	}
	return c.sum(0, c.counting(), clients, c.Items)
}

// counting is the first session, whoever takes part.
func (c Crowd) counting() Session { return Session{Purpose: PurposePopularity} }

func (c Crowd) checkCatalogue() error {
	if c.Items < 1 || c.Items > MaxCatalogue {
		return session.BadInput(fmt.Errorf("stage: a catalogue of %d items; this version takes 1 to %d", c.Items, MaxCatalogue))
	}
	return nil
}

// Kept returns the items that enough of the first session's clients like,
// ascending. Every client computes it again.
func (c Crowd) Kept(first Summation, sums []int64) []int {
	cut := c.Cut(len(first.Session.Members) - 1)
	var kept []int
	for i, d := range sums {
		if d >= cut {
			kept = append(kept, i)
		}
	}
	return kept
}

// Triangle describes the second sum, over the listed clients: which they are,
// what the first one was, its result and the items that follow from it are all
// part of the session's name (rule 12).
func (c Crowd) Triangle(first Summation, sums []int64, clients []string) (Summation, []int, error) {
	pairing, kept, err := c.pairing(first, sums)
	if err != nil {
		return Summation{}, nil, err
	}
	s, err := c.sum(1, pairing, clients, triangle(len(kept)))
	return s, kept, err
}

// pairing is the second session, whoever takes part.
func (c Crowd) pairing(first Summation, sums []int64) (Session, []int, error) {
	kept := c.Kept(first, sums)
	if len(kept) == 0 {
		return Session{}, nil, session.BadInput(fmt.Errorf("stage: no item has the %d likes that are needed; lower threshold, or gather more people", c.Cut(len(first.Session.Members)-1)))
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

func (c Crowd) spec(clients, entries int) secagg.Spec {
	return secagg.Spec{
		Adversary: secagg.Adversary(c.Job.Protocol.Adversary), Corrupted: c.Job.Protocol.Corrupted, Dropped: c.Job.Protocol.Dropped,
		Minimum: c.Minimum(clients), Epoch: onceForEver, Groups: []secagg.Group{{Entries: entries, Bound: 1}},
	}
}

// subset reports the first of the names that is not among all.
func subset(names, all []string) (missing string, ok bool) {
	known := make(map[string]bool, len(all))
	for _, name := range all {
		known[name] = true
	}
	i := slices.IndexFunc(names, func(name string) bool { return !known[name] })
	if i < 0 {
		return "", true
	}
	return names[i], false
}
