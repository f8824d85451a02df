package bench

import (
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"

	"github.com/mercer-fl/mercer/internal/method/local/dropout"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/memory"
	"github.com/mercer-fl/mercer/protocol/secagg"
)

// devicesRun holds the size of a session of secure aggregation that runs with all its clients. A
// tenth of the clients vanish at the most expensive moment: all other clients have masked their
// vectors with the keys of the vanishing clients, and the vanishing clients have not sent their own
// vectors. Key exchange and share distribution run in full. The field parts is the number of equal
// parts of each vector. Only the first part is processed, because masks are most of the work and
// the masks of each segment cost the same.
type devicesRun struct {
	clients, items int
	liked          int // number of items that each client likes
	parts          int
}

// Devices returns a benchmark that runs one session of secure aggregation with as many clients
// and pairs of items as ml-1m. The likes are generated. The benchmark extrapolates the cost of
// the whole vector.
func Devices() Benchmark {
	return devicesBenchmark(devicesRun{clients: 6040, items: 3706, liked: 166, parts: 16})
}

func devicesBenchmark(c devicesRun) Benchmark {
	return Benchmark{cases: []scene{sceneOf(c.String(), c, raceDevices)}}
}

func (c devicesRun) String() string { return fmt.Sprintf("%d clients, %d items", c.clients, c.items) }

// params returns the parameters for vectors whose entries are 0 or 1. The argument is the number
// of entries.
func (c devicesRun) params(entries int) (secagg.Params, error) {
	return secagg.NewParams(secagg.Spec{
		Corrupted: .05, Dropped: .1, Minimum: 2, Epoch: "bench",
		Groups: []secagg.Group{{Entries: entries, Bound: 1}},
	}, c.clients)
}

func (c devicesRun) entries() int { return c.items * (c.items + 1) / 2 }
func (c devicesRun) kept() int    { return (c.entries() + c.parts - 1) / c.parts }

// vanishes reports whether a client vanishes during the session. Every tenth client does, which
// is the largest number that the parameters allow.
func (c devicesRun) vanishes(client int) bool { return client%10 == 9 }

// liking is the vector of one client, stored as the indices of its ones. It holds, in ascending
// order, the processed pairs of items that the client likes.
type liking []int

// likes draws the items that a client likes, and returns those pairs of these items that are processed. For n
// items, pair (i, j) with i <= j is entry i n - i (i-1)/2 + j - i of the triangle.
func (c devicesRun) likes(client int) liking {
	items := rand.New(rand.NewPCG(1, uint64(client))).Perm(c.items)[:c.liked]
	slices.Sort(items)
	var pairs liking
	for at, i := range items {
		for _, j := range items[at:] {
			if pair := i*c.items - i*(i-1)/2 + j - i; pair < c.kept() {
				pairs = append(pairs, pair)
			}
		}
	}
	return pairs
}

// Read writes the vector's entries into dst, beginning with the entry at index start. It implements
// [secagg.Vector].
func (l liking) Read(_, start int, dst []int64) {
	clear(dst)
	at, _ := slices.BinarySearch(l, start)
	for ; at < len(l) && l[at] < start+len(dst); at++ {
		dst[l[at]-start] = 1
	}
}

// uploads is the number of vectors that the server holds at a time, not counting the sum.
const uploads = 8

// hall holds a session of secure aggregation: the state machines of its members, with meters of their costs.
type hall struct {
	devicesRun
	turns           sync.Mutex
	server          *secagg.Server
	config          dropout.Config
	present, absent spending // total costs of the clients that stay, and of those that vanish
	serving         spending
	masks           timedMasks // the server's cost of expanding masks, which serving includes
	peak            float64    // peak memory in bytes
}

// hall creates the session with the machines of the server and of all clients.
func (c devicesRun) hall() (*hall, error) {
	p, err := c.params(c.kept())
	if err != nil {
		return nil, err
	}
	members := []protocol.Member{{Name: "server", Role: protocol.RoleServer}}
	keys, public := make([]ed25519.PrivateKey, c.clients), make([]ed25519.PublicKey, c.clients)
	for i := range keys {
		seed := seedOf("identity", i)
		keys[i] = ed25519.NewKeyFromSeed(seed[:])
		public[i] = keys[i].Public().(ed25519.PublicKey)
		members = append(members, protocol.Member{Name: fmt.Sprintf("client-%d", i), Role: protocol.RoleParty})
	}
	session, err := protocol.NewSession(protocol.Descriptor{Protocol: secagg.Name, Version: secagg.Version, Params: p.Encode(), Members: members, Purpose: "bench"})
	if err != nil {
		return nil, err
	}
	h := &hall{devicesRun: c, config: dropout.Config{Session: session}}
	if h.server, err = secagg.NewServer(protocol.Setup{Session: session, Self: "server"}, p.WithMasker(&h.masks), public, secagg.Limits{Uploads: uploads}); err != nil {
		return nil, err
	}
	h.config.Server = &meter{h.server, &h.turns, &h.serving, takesVectors}
	for i, key := range keys {
		sign := func(m []byte) []byte { return ed25519.Sign(key, m) }
		setup := protocol.Setup{Session: session, Self: members[1+i].Name, Seed: seedOf("seed", i)}
		if err := h.seat(i, setup, p, secagg.Identity{Sign: sign, Keys: public}); err != nil {
			return nil, err
		}
	}
	return h, nil
}

// takesVectors reports whether an event gives the server a part of a masked vector.
func takesVectors(e protocol.Event) bool {
	r, received := e.(protocol.Received)
	return received && r.Message.Kind == "MaskedInput"
}

func seedOf(what string, client int) [32]byte { return sha256.Sum256(fmt.Append(nil, what, client)) }

// seat creates client i and adds it to the session. The creation counts as work on segments,
// because NewClient hashes the whole vector.
func (h *hall) seat(i int, setup protocol.Setup, p secagg.Params, id secagg.Identity) error {
	spent, leaves := &h.present, ""
	if h.vanishes(i) {
		spent, leaves = &h.absent, "MaskedInput"
	}
	vector := h.likes(i)
	var client *secagg.Client
	took, err := stopwatch(func() (err error) {
		client, err = secagg.NewClient(setup, p, vector, id)
		return err
	})
	if err != nil {
		return err
	}
	spent.segments.add(took)
	h.config.Clients = append(h.config.Clients, dropout.Client{
		Name: setup.Self, InputHash: client.InputHash(), Ledger: &memory.Ledger{}, LeavesBefore: leaves,
		Machine: &meter{client, &h.turns, spent, sendsVector},
	})
	return nil
}

// sendsVector reports whether a step of a client masks and sends segments of its vector.
func sendsVector(e protocol.Event) bool {
	_, resumed := e.(protocol.Resumed)
	return resumed
}

// run runs the session and checks its sum.
func (h *hall) run(ctx context.Context) error {
	if err := resetPeak(); err != nil {
		return fmt.Errorf("bench: %w", err)
	}
	r, err := dropout.Run(ctx, h.config)
	if err != nil {
		return err
	}
	if len(r.Failures) > 0 {
		return fmt.Errorf("bench: %s left the session: %w", r.Failures[0].Client, r.Failures[0].Err)
	}
	if h.peak, err = peakMemory(); err != nil {
		return fmt.Errorf("bench: %w", err)
	}
	return h.check()
}

// check compares the session's sum with the sum of the unmasked vectors.
func (h *hall) check() error {
	want := make([]int64, h.kept())
	for i := range h.clients {
		if !h.vanishes(i) {
			for _, pair := range h.likes(i) {
				want[pair]++
			}
		}
	}
	if sums := h.server.Sums(); len(sums) != 1 || !slices.Equal(want, sums[0]) {
		return errors.New("bench: the session's sum differs from the sum of the vectors")
	}
	return nil
}

// stayed counts the clients that do not vanish.
func (c devicesRun) stayed() int {
	n := 0
	for i := range c.clients {
		if !c.vanishes(i) {
			n++
		}
	}
	return n
}

func raceDevices(c devicesRun) (race, error) {
	whole, err := c.params(c.entries())
	if err != nil {
		return race{}, err
	}
	const keystream = 64 << 20
	runs, err := units(keystream)
	if err != nil {
		return race{}, err
	}
	var last *hall // session of the latest run
	runs = append(runs, func(ctx context.Context) error {
		h, err := c.hall()
		if err != nil {
			return err
		}
		last = h
		return h.run(ctx)
	})
	return race{runs: runs, rows: func(best []span) []Row {
		f := forecast{devicesSize: devicesSize{c.clients, c.entries()}, p: whole, unit: best[:3], keystream: keystream}
		return last.rows(f, best[3])
	}}, nil
}

// rows returns the measured costs of the session, and the costs extrapolated to the whole
// vector.
func (h *hall) rows(f forecast, session span) []Row {
	stayed := h.stayed()
	client := spending{h.present.fixed.times(1 / float64(stayed)), h.present.segments.times(1 / float64(stayed)), h.present.sent / stayed, h.present.received / stayed}
	server := spending{fixed: h.serving.fixed.less(h.masks.spent), segments: h.serving.segments}
	server.segments.add(h.masks.spent)

	const allowed = 2 << 10 // memory limit in MiB
	part := fmt.Sprintf("1/%d of the segments", h.parts)
	missing := float64(f.p.Layout().Words()) * 8 * (1 - 1/float64(h.parts)) // bytes of a vector that were not processed
	name := func(format string, args ...any) string {
		return fmt.Sprintf("%v: ", h.devicesRun) + fmt.Sprintf(format, args...)
	}
	counted, serving := f.client().on(f.unit, f.keystream), f.server(stayed, h.clients-stayed).on(f.unit, f.keystream)
	out, back := f.traffic()
	return []Row{
		figure(name("client, keys and shares, processor time, mean of %d", stayed), client.fixed.cpu, "s"),
		figure(name("client, masks of %s, processor time", part), client.segments.cpu, "s"),
		figure(name("client, all segments, processor time, extrapolated from both"), h.whole(client).cpu, "s").
			beside("counted streams, keys and signatures", counted.cpu),
		figure(name("server, keys, shares and secrets, processor time"), server.fixed.cpu, "s"),
		figure(name("server, vectors and masks of %s, processor time", part), server.segments.cpu, "s"),
		figure(name("server, all segments, processor time, extrapolated from both"), h.whole(server).cpu, "s").
			beside("counted streams and keys", serving.cpu),
		figure(name("server, all segments, on %s, extrapolated from both", coresText(runtime.GOMAXPROCS(0))), h.whole(server).wall, "s"),
		figure(name("client, sent with %s", part), float64(client.sent), "bytes"),
		figure(name("client, sent with all segments, extrapolated"), float64(client.sent)+missing, "bytes").agrees("the formula", out),
		figure(name("client, received"), float64(client.received), "bytes").agrees("the formula", back),
		figure(name("server, sent and received with %s", part), float64(h.serving.sent+h.serving.received), "bytes"),
		figure(name("server, sent and received with all segments, extrapolated"), float64(h.serving.sent+h.serving.received)+missing*float64(stayed), "bytes"),
		figure(name("all in one process with %s, on %s", part, coresText(runtime.GOMAXPROCS(0))), session.wall, "s"),
		figure(name("all in one process with %s, peak memory", part), h.peak/(1<<20), "MiB"),
		figure(name("all in one process with all segments, peak memory, extrapolated"), (h.peak+missing*(1+uploads))/(1<<20), "MiB").within(allowed),
	}
}

// whole estimates the cost for all segments from the cost for the measured segments.
func (c devicesRun) whole(w spending) span {
	s := w.segments.times(float64(c.parts))
	s.add(w.fixed)
	return s
}
