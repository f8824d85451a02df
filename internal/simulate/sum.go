package simulate

import (
	"github.com/mercer-fl/mercer/internal/method/sums"

	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"errors"
	"fmt"

	"github.com/mercer-fl/mercer/internal/crowd"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/prg"
	"github.com/mercer-fl/mercer/internal/stage"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/secagg"
)

// serverName is what a crowd calls its server.
const serverName = "server"

// clients are the devices of a crowd as secure sums know them: names, identities
// and ledgers, for all sessions of a job.
type clients struct {
	job      *job.Job
	id       job.ID
	roster   [sha256.Size]byte
	seed     func(label string) [32]byte
	progress func(protocol.Progress)
	names    []string
	place    map[string]int
	keys     []ed25519.PrivateKey
	ledgers  []crowd.Ledger
}

func newClients(j *job.Job, n int, seed func(label string) [32]byte, progress func(protocol.Progress)) *clients {
	c := &clients{
		job: j, seed: seed, progress: progress, names: make([]string, n), place: make(map[string]int, n),
		keys: make([]ed25519.PrivateKey, n), ledgers: make([]crowd.Ledger, n),
	}
	for i := range n {
		c.names[i] = fmt.Sprintf("device-%d", i+1)
		c.place[c.names[i]] = i
		own := seed("identity/" + c.names[i])
		c.keys[i] = ed25519.NewKeyFromSeed(own[:])
	}
	drawn := seed("job")
	c.id, c.roster = job.ID(drawn[:]), stage.HashKeys(c.names, c.public(c.names))
	return c
}

// public are the identity keys of the named clients.
func (c *clients) public(names []string) []ed25519.PublicKey {
	list := make([]ed25519.PublicKey, len(names))
	for i, name := range names {
		list[i] = c.keys[c.place[name]].Public().(ed25519.PublicKey)
	}
	return list
}

// sign signs with a client's identity key.
func (c *clients) sign(client int) func(message []byte) []byte {
	return func(m []byte) []byte { return ed25519.Sign(c.keys[client], m) }
}

// summed is a secure sum that has ended. Its machines are gone: a crowd's take
// hundreds of megabytes.
type summed struct {
	stage.Summation
	*crowd.Result
	sums  [][]int64
	added []string            // who is in the sum, as the server knows
	heard map[string][]string // the same, as each client has heard it
}

// sum runs one secure sum among the clients of a session. Those who leave do so
// before the message that is named for them. A vector is that of a client by its
// place in the crowd.
func (c *clients) sum(ctx context.Context, s stage.Summation, leavers map[string]string, vector func(client int) secagg.Vector) (*summed, error) {
	names := s.Session.With(protocol.RoleParty)
	public := c.public(names)
	machines, errs := make([]*secagg.Client, len(names)), make([]error, len(names))
	linalg.For(len(names), 1, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			at := c.place[names[i]]
			machines[i], errs[i] = secagg.NewClient(c.setup(s, names[i]), s.Params, vector(at), secagg.Identity{Sign: c.sign(at), Keys: public})
		}
	})
	server, err := secagg.NewServer(c.setup(s, serverName), s.Params, public, secagg.Limits{})
	if err := errors.Join(append(errs, err)...); err != nil {
		return nil, err
	}
	list := make([]crowd.Client, len(names))
	for i, name := range names {
		list[i] = crowd.Client{
			Name: name, Machine: machines[i], InputHash: machines[i].InputHash(),
			Ledger: &c.ledgers[c.place[name]], LeavesBefore: leavers[name],
		}
	}
	went, err := crowd.Run(ctx, crowd.Config{Session: s.Session, Server: server, Clients: list, Progress: c.progress})
	if err != nil {
		return nil, err
	}
	if len(went.Failures) > 0 {
		f := went.Failures[0]
		return nil, fmt.Errorf("simulate: %s and %d other clients gave up: %w", f.Client, len(went.Failures)-1, f.Err)
	}
	out := &summed{Summation: s, Result: went, sums: server.Sums(), added: server.Survivors(), heard: make(map[string][]string, len(names))}
	for i, name := range names {
		out.heard[name] = machines[i].Survivors()
	}
	return out, nil
}

func (c *clients) setup(s stage.Summation, name string) protocol.Setup {
	return protocol.Setup{Session: s.Session, Self: name, Seed: c.seed("session/" + s.Session.ID().Hex() + "/" + name)}
}

// leaving draws who of a session's clients vanishes.
func (c *clients) leaving(s stage.Summation) map[string]string {
	return c.leavers(s.Session.Purpose, s.Session.With(protocol.RoleParty))
}

// firstKind is the first message of a client: who leaves before it was never there.
const firstKind = "AdvertiseKeys"

// leavers draws who vanishes, and before which of its messages: as many before
// each.
func (c *clients) leavers(purpose string, names []string) map[string]string {
	kinds := []string{firstKind, "Holders", "ShareKeys", "MaskedInput", "ConsistencyCheck", "Unmask"}
	if sums.Of(c.job).Adversary == sums.SemiHonest {
		kinds = append(kinds[:4:4], "Unmask")
	}
	seed := sha256.Sum256(fmt.Appendf(nil, "mercer/v1/dropout/%d/%s", c.job.Seed, purpose))
	order := prg.New(seed, "simulate/dropout").Perm(len(names))
	leavers := make(map[string]string)
	for k, i := range order[:stage.Share(c.job.Data.Partition.Dropout, len(names))] {
		leavers[names[i]] = kinds[k%len(kinds)]
	}
	return leavers
}

// figures are what there is to tell of the sum.
func (s *summed) figures() method.CrowdSum {
	f := s.Figures()
	f.Added, f.Vanished, f.ToServer, f.FromServer = len(s.added), f.Clients-len(s.Stayed), s.Traffic.ToServer, s.Traffic.FromServer
	return f
}
