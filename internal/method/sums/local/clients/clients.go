// Package clients runs the devices of secure sums, for methods that run all members of a job in one
// process.
package clients

import (
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/sums"

	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"errors"
	"fmt"

	"github.com/mercer-fl/mercer/internal/crypto/prg"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method/local/dropout"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/memory"
	"github.com/mercer-fl/mercer/protocol/secagg"
)

// Server is the member name of the server.
const Server = "server"

// Clients holds the names, identities and ledgers of the devices for all secure sums of a job.
type Clients struct {
	ID       job.ID
	Roster   [sha256.Size]byte // hash of the clients' keys
	Names    []string
	Place    map[string]int // index of a client by name
	Ledgers  []memory.Ledger
	seed     func(label string) [32]byte
	progress func(protocol.Progress)
	job      *job.Job
	keys     []ed25519.PrivateKey
}

// New makes n clients of a job. Function seed returns a secret seed for each label.
func New(j *job.Job, n int, seed func(label string) [32]byte, progress func(protocol.Progress)) *Clients {
	c := &Clients{
		job: j, seed: seed, progress: progress, Names: make([]string, n), Place: make(map[string]int, n),
		keys: make([]ed25519.PrivateKey, n), Ledgers: make([]memory.Ledger, n),
	}
	for i := range n {
		c.Names[i] = fmt.Sprintf("device-%d", i+1)
		c.Place[c.Names[i]] = i
		own := seed("identity/" + c.Names[i])
		c.keys[i] = ed25519.NewKeyFromSeed(own[:])
	}
	drawn := seed("job")
	c.ID, c.Roster = job.ID(drawn[:]), sums.HashKeys(c.Names, c.Public(c.Names))
	return c
}

// Public returns the identity keys of the named clients.
func (c *Clients) Public(names []string) []ed25519.PublicKey {
	list := make([]ed25519.PublicKey, len(names))
	for i, name := range names {
		list[i] = c.keys[c.Place[name]].Public().(ed25519.PublicKey)
	}
	return list
}

// Sign signs with a client's identity key.
func (c *Clients) Sign(client int) func(message []byte) []byte {
	return func(m []byte) []byte { return ed25519.Sign(c.keys[client], m) }
}

// Sum is a finished secure sum. It does not keep the machines, which take hundreds of megabytes for
// many devices.
type Sum struct {
	sums.Summation
	*dropout.Result
	Sums  [][]int64
	Added []string            // the clients in the sum, according to the server
	Heard map[string][]string // the clients in the sum, according to each client
}

// End lists the clients that completed the sum, and counts the bytes of the sum's messages.
func (s *Sum) End() method.End {
	return method.End{Session: s.Session.ID(), Stayed: s.Stayed, Sent: s.Traffic.ToServer, Received: s.Traffic.FromServer}
}

// Sum runs one secure sum among the clients of a session. Map leavers gives, for each client that
// drops out, the kind of the first message that the client does not send. Function vector returns a client's
// vector by the client's index among the devices.
func (c *Clients) Sum(ctx context.Context, s sums.Summation, leavers map[string]string, vector func(client int) secagg.Vector) (*Sum, error) {
	names := s.Session.With(protocol.RoleParty)
	public := c.Public(names)
	machines, err := c.machines(s, names, public, vector)
	if err != nil {
		return nil, err
	}
	server, err := secagg.NewServer(c.Setup(s, Server), s.Params, public, secagg.Limits{})
	if err != nil {
		return nil, err
	}
	went, err := dropout.Run(ctx, dropout.Config{Session: s.Session, Server: server, Clients: c.dropoutClients(names, machines, leavers), Progress: c.progress})
	if err != nil {
		return nil, err
	}
	if len(went.Failures) > 0 {
		f := went.Failures[0]
		return nil, fmt.Errorf("sums: %s and %d other clients failed: %w", f.Client, len(went.Failures)-1, f.Err)
	}
	out := &Sum{Summation: s, Result: went, Sums: server.Sums(), Added: server.Survivors(), Heard: make(map[string][]string, len(names))}
	for i, name := range names {
		out.Heard[name] = machines[i].Survivors()
	}
	return out, nil
}

// machines builds every client's machine.
func (c *Clients) machines(s sums.Summation, names []string, public []ed25519.PublicKey, vector func(client int) secagg.Vector) ([]*secagg.Client, error) {
	machines, errs := make([]*secagg.Client, len(names)), make([]error, len(names))
	linalg.For(len(names), 1, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			at := c.Place[names[i]]
			machines[i], errs[i] = secagg.NewClient(c.Setup(s, names[i]), s.Params, vector(at), secagg.Identity{Sign: c.Sign(at), Keys: public})
		}
	})
	return machines, errors.Join(errs...)
}

// dropoutClients converts the clients to the type that package dropout expects.
func (c *Clients) dropoutClients(names []string, machines []*secagg.Client, leavers map[string]string) []dropout.Client {
	list := make([]dropout.Client, len(names))
	for i, name := range names {
		list[i] = dropout.Client{
			Name: name, Machine: machines[i], InputHash: machines[i].InputHash(),
			Ledger: &c.Ledgers[c.Place[name]], LeavesBefore: leavers[name],
		}
	}
	return list
}

// Setup returns the inputs of a member's machine.
func (c *Clients) Setup(s sums.Summation, name string) protocol.Setup {
	return protocol.Setup{Session: s.Session, Self: name, Seed: c.seed("session/" + s.Session.ID().Hex() + "/" + name)}
}

// Leaving draws the clients of a sum that drop out; see Leavers.
func (c *Clients) Leaving(s sums.Summation) map[string]string {
	return c.Leavers(s.Session.Purpose, s.Session.With(protocol.RoleParty))
}

// FirstKind is the kind of a client's first message. A client that drops out before this message
// never took part.
const FirstKind = "AdvertiseKeys"

// Leavers draws the clients that drop out, and returns the kind of the first message that each of them
// does not send. About equally many drop out before each kind of message.
func (c *Clients) Leavers(purpose string, names []string) map[string]string {
	kinds := []string{FirstKind, "Holders", "ShareKeys", "MaskedInput", "ConsistencyCheck", "Unmask"}
	if sums.Of(c.job).Adversary == sums.SemiHonest {
		kinds = append(kinds[:4:4], "Unmask")
	}
	seed := sha256.Sum256(fmt.Appendf(nil, "mercer/v1/dropout/%d/%s", c.job.Seed, purpose))
	order := prg.New(seed, "simulate/dropout").Perm(len(names))
	leavers := make(map[string]string)
	for k, i := range order[:sums.Share(c.job.Data.Partition.Dropout, len(names))] {
		leavers[names[i]] = kinds[k%len(kinds)]
	}
	return leavers
}

// Figures returns the settings, sizes and participation of the sum.
func (s *Sum) Figures() sums.Figures {
	f := s.Summation.Figures()
	f.Added, f.Vanished, f.ToServer, f.FromServer = len(s.Added), f.Clients-len(s.Stayed), s.Traffic.ToServer, s.Traffic.FromServer
	return f
}
