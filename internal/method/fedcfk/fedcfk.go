// Package fedcfk binds protocol FedCFK to learners. Every person has a list of ratings on a device.
// The device recommends new items from counts of people who like two items together. The
// coordinator sees only sums. See protocol/secagg.
//
//	popularity -> triangle -> learn -> broadcast (each party recommends to itself)
//
// The first two steps are secure sums; the last step broadcasts the kernel. Package local runs all but the last in
// one process for federations with too many members for one process each. It also runs mode paper,
// whose steps are different, and in which devices request rows of the kernel.
package fedcfk

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"math"

	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/sums"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/collective"
	"github.com/mercer-fl/mercer/protocol/secagg"
)

// Protocol returns the binding of FedCFK.
func Protocol() *method.Protocol { return itself }

var itself = method.New(method.Binding[Party, Server, public]{
	Name: "fedcfk", Keys: func() job.Settings { return new(Keys) },
	Traits: job.Traits{
		Cuts: job.Devices, Rated: true, Undeployable: undeployable, Grid: job.ByItself,
		Learns: func(j *job.Job) bool { return learner.ProfileOf(j) != nil },
		NoGrid: "fedcfk cannot choose a cell, because held-out ratings stay in the devices",
	},
	Steps: steps, NewParty: newParty, NewServer: func(c method.Instance) (*Server, error) { return devicesOf(c).Server(), nil },
	Public: (*Party).values, PublicServer: (*Server).values, Facts: method.NoFacts[Party], Minimums: minimums,
	Result: (*Server).Result, Ended: method.IgnoresEnds[Server],
	Model:   &method.ModelOf[Server]{Write: (*Server).WriteModel},         // every device receives the model
	Outcome: func(*Server) *method.Outcome { return &method.Outcome{} },   // decisions on held-out ratings stay with each device
	Hands:   &method.HandsOf[Party]{Recommended: (*Party).recommendation}, // each party recommends to its own person
	Present: present,
})

// undeployable returns the reason why a job can run only in command simulate, or "" if the job can
// be deployed.
func undeployable(j *job.Job) string {
	switch k := job.As[*Keys](j.Protocol); {
	case k.Mode == job.Paper:
		return `mode paper of fedcfk gives lists away and runs in simulate only; remove "mode: paper"`
	case len(k.Items) == 0:
		return `parties that each have their own list need one catalogue; add "items" with all items there are to protocol`
	case k.Margin == MarginNone:
		return `"margin: none" relies on clients that a server could have invented and runs in simulate only; remove "margin: none"`
	case k.Adversary == sums.SemiHonest:
		return `"adversary: semi-honest" trusts the server to send the same to every device and runs in simulate only; remove "adversary: semi-honest"`
	case j.Data.Test.By == job.Time:
		return `the newest ratings of all people can be held out in simulate only; use "test: {by: user-time, fraction: 0.1}" or "test: {every: 10}"`
	case j.Data.Partition.Dropout > 0:
		return `"dropout" is for mercer simulate only; remove it`
	}
	return ""
}

// minimums refuses a job whose settings are outside an operator's limits.
func minimums(f method.Limits, j *job.Job) error {
	k := job.As[*Keys](j.Protocol)
	switch {
	case !k.paper() && k.Threshold < f.Threshold:
		return fmt.Errorf("threshold is %d; this party requires at least %d", k.Threshold, f.Threshold)
	case !k.paper() && f.Active && k.Margin != MarginCorrupted:
		return fmt.Errorf("margin is %s; this party requires %s", k.Margin, MarginCorrupted)
	}
	return k.CheckLimits(f, "party")
}

// purposeKernel is the purpose of the session that broadcasts the kernel.
const purposeKernel = "fedcfk/kernel"

// The steps of a job.
const (
	Popularity = "popularity" // first secure sum
	Triangle   = "triangle"   // second secure sum
	Learn      = "learn"
	Broadcast  = "broadcast"
)

type step = method.StepOf[Party, Server, public]

// steps returns the steps of a deployed job.
func steps(c method.Instance) ([]step, error) {
	if err := c.Job.Deployable(); err != nil {
		return nil, err
	}
	return devicesOf(c).steps()
}

// Plan returns the steps of a job for a process that runs all members.
func (c Devices) Plan() ([]method.Step, error) {
	list, err := c.steps()
	if err != nil {
		return nil, err
	}
	return method.PlanOf(c.Instance, list)
}

// steps returns a plan of two sums, a computation and a broadcast. The sums count how many people like
// each item, and how many like both of two popular items. The coordinator computes a kernel between
// items from the sums. The broadcast sends the kernel to every remaining party, which recommends to
// itself. Claims ensure that a person's list enters only one sum of each kind, ever. A party releases
// nothing that the release ledger counts.
func (c Devices) steps() ([]step, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	first, err := c.summing(method.Session{Purpose: PurposePopularity}, c.Parties, c.Spec(len(c.Parties), c.firstEntries()))
	if err != nil {
		return nil, err
	}
	none := method.ReleasesNothing[Party]
	return []step{
		{Name: Popularity, Session: first, Party: (*Party).addLikes, Server: (*Server).addLikes, Releases: none, Ended: (*Server).EndedFirst},
		{Name: Triangle, Session: &method.Session{
			Protocol: secagg.Name, Version: secagg.Version, Members: c.MembersWithoutLeader(), Purpose: PurposeTriangle,
		}, Follow: c.followPairs, Party: (*Party).addPairs, Server: (*Server).addPairs, Releases: none, Announce: (*Server).AnnouncePairs, Ended: (*Server).EndedSecond},
		{Name: Learn, Compute: (*Server).Learn},
		{Name: Broadcast, Session: &method.Session{
			Protocol: collective.BroadcastName, Version: collective.BroadcastVersion, Members: c.MembersWithoutLeader(), Purpose: purposeKernel,
		}, Follow: c.followKernel, Party: (*Party).hear, Server: (*Server).tell, Releases: none, Announce: (*Server).announceKernel},
	}, nil
}

// check refuses a job with too few people for the second sum, before any message is sent.
func (c Devices) check() error {
	if err := c.CheckCatalogue(); err != nil {
		return err
	}
	people := len(c.Parties)
	if most := c.MaxKept(people); most < minItems {
		return fault.BadInputf(`fedcfk: of %d people %d can drop out of each of two sums, so that at most %d items can take part; at least %d are required; gather more people or lower "dropped"`,
			people, sums.Share(c.Keys().Dropped, people), most, minItems)
	}
	if _, err := secagg.NewParams(c.pairSpec(people, people, Entries(minItems-1)), people); err != nil {
		return fault.BadInputf(`fedcfk: too many people can be missing from the second sum, because "dropped" applies to both sums: %w; lower "dropped"`, err)
	}
	return nil
}

// public holds the values that the two sums have made public to their members.
type public struct {
	first, second publicSum
	kept          []int // items in the second sum
}

// publicSum is the part of a finished sum that all its members know.
type publicSum struct {
	sums.Summation
	survivors []string // clients whose vectors are in the sum
}

// summing returns the session of one of the two sums.
func (c Devices) summing(s method.Session, clients []string, spec secagg.Spec) (*method.Session, error) {
	params, err := secagg.NewParams(spec, len(clients))
	if err != nil {
		return nil, fault.BadInput(err)
	}
	s.Absent, s.Claims = len(clients)-params.Cohort(), []string{secagg.Claim(onceForEver, s.Purpose)}
	s.SlowTimers = []protocol.Timer{secagg.TimerServer} // the server waits one round for each client that drops out
	return sums.Aggregating(s, params, c.Coordinator, clients), nil
}

// announcedItems decodes the announced counts and selects the items of the second sum. It refuses
// counts that cannot result from the first sum.
func (c Devices) announcedItems(k public, announced []byte) (likes []int64, kept []int, err error) {
	if k.first.Session == nil {
		return nil, nil, errors.New("fedcfk: the coordinator announces the second sum, but the first sum has not ended at this member")
	}
	if likes, err = decodeCounts(announced); err == nil {
		err = c.checkCounts(k.first.survivors, likes)
	}
	if err != nil {
		return nil, nil, c.blame("%w", err)
	}
	kept, err = c.keptItems(k.first.People(), c.Popularity(likes))
	return likes, kept, err
}

// keptItems returns the items that take part in the second sum, or an error if there are too few
// such items.
func (c Devices) keptItems(people int, likes []int64) ([]int, error) {
	kept := c.Kept(people, likes)
	if len(kept) < minItems {
		return nil, fault.BadInputf(`fedcfk: only %d items have the required %d likes; at least %d such items are required; lower "threshold", or gather more people`,
			len(kept), c.Cut(people, likes), minItems)
	}
	return kept, nil
}

// followPairs returns the session of the second sum, which continues the session of the first sum.
// It includes all clients whose vectors are in the first sum, even absent ones, so that the server
// cannot choose whom to omit. The names of these clients, the first sum's session and result, and
// the kept items determine the session's ID (rule 12).
func (c Devices) followPairs(_ method.Session, k public, announced []byte) (*method.Session, error) {
	likes, kept, err := c.announcedItems(k, announced)
	if err != nil {
		return nil, err
	}
	s := method.Session{Purpose: PurposeTriangle, Parent: k.first.Session.ID(), Salt: salt(likes, kept)}
	return c.summing(s, k.first.survivors, c.pairSpec(k.first.People(), len(k.first.survivors), Entries(len(kept)-1)))
}

// announcedNotice decodes the announcement of the kernel. It refuses an announcement that cannot
// follow from the second sum.
func (c Devices) announcedNotice(k public, announced []byte) (notice, error) {
	if k.second.Session == nil {
		return notice{}, errors.New("fedcfk: the coordinator announces the kernel, but the second sum has not ended at this member")
	}
	n, err := decodeNotice(announced)
	if err != nil {
		return notice{}, c.blame("%w", err)
	}
	if name, ok := containsAll(n.clients, k.second.survivors); !ok {
		return notice{}, c.blame("%s is to be told the kernel, and is not in the second sum", name)
	}
	if most := kernelBytes(len(k.kept)); n.bytes > most {
		return notice{}, c.blame("the announced kernel has %d bytes; a kernel between %d items has at most %d", n.bytes, len(k.kept), most)
	}
	return n, nil
}

// followKernel returns the session that broadcasts the kernel. The kernel's hash is part of the
// session's ID, so that all receive the same kernel.
func (c Devices) followKernel(_ method.Session, k public, announced []byte) (*method.Session, error) {
	n, err := c.announcedNotice(k, announced)
	if err != nil {
		return nil, err
	}
	return &method.Session{
		Protocol: collective.BroadcastName, Version: collective.BroadcastVersion, Params: collective.EncodeBroadcast(n.bytes), Members: sums.Served(c.Coordinator, n.clients),
		Purpose: purposeKernel, Parent: k.second.Session.ID(), Salt: n.hash[:], Absent: len(n.clients),
	}, nil
}

// containsAll reports whether the list contains all wanted names. If not, it returns the first
// missing name.
func containsAll(wanted, list []string) (missing string, ok bool) {
	public := make(map[string]bool, len(list))
	for _, name := range list {
		public[name] = true
	}
	for _, name := range wanted {
		if !public[name] {
			return name, false
		}
	}
	return "", true
}

// encodeCounts encodes the first sum as the announcement of the second sum.
func encodeCounts(likes []int64) []byte {
	var w wire.Writer
	w.Uint32(uint32(len(likes)))
	for _, n := range likes {
		w.Uint64(uint64(n))
	}
	return w.Bytes()
}

// decodeCounts decodes the output of encodeCounts.
func decodeCounts(b []byte) ([]int64, error) {
	r := wire.NewReader(b)
	likes := make([]int64, r.Count(2*MaxItems, 8))
	for i := range likes {
		n := r.Uint64()
		if n > math.MaxInt64 {
			r.Fail(fmt.Errorf("the announcement has a count of %d, which is out of range", n))
		}
		likes[i] = int64(n)
	}
	return likes, r.Close("fedcfk: proposal of a second sum")
}

// readNames decodes a list of member names. It refuses a repeated name.
func readNames(r *wire.Reader) []string {
	names := make([]string, r.Count(protocol.MaxMembers, 2))
	public := make(map[string]bool, len(names))
	for i := range names {
		names[i] = r.String(protocol.MaxNameBytes)
		if r.Err() == nil && public[names[i]] {
			r.Fail(fmt.Errorf("the announcement names %q twice", names[i]))
		}
		public[names[i]] = true
	}
	return names
}

// notice is the announcement of a kernel before its broadcast.
type notice struct {
	clients []string // receivers of the broadcast
	bytes   int
	hash    [sha256.Size]byte
}

func (n notice) encode() []byte {
	var w wire.Writer
	w.Strings(n.clients)
	w.Uint32(uint32(n.bytes))
	w.Fixed(n.hash[:])
	return w.Bytes()
}

// decodeNotice decodes the output of encode.
func decodeNotice(b []byte) (notice, error) {
	r := wire.NewReader(b)
	n := notice{clients: readNames(r), bytes: int(r.Uint32())}
	r.Fixed(n.hash[:])
	if r.Err() == nil && (n.bytes < 1 || n.bytes > collective.MaxBroadcastBytes) {
		r.Fail(fmt.Errorf("the announced kernel has %d bytes; 1 to %d are allowed", n.bytes, collective.MaxBroadcastBytes))
	}
	return n, r.Close("fedcfk: notice of a kernel")
}
