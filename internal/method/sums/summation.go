package sums

import (
	"crypto/ed25519"
	"crypto/sha256"
	"fmt"
	"math"
	"strconv"

	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/base/humanize"
	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/secagg"
)

// Summation is the session of one secure sum, with its parameters.
type Summation struct {
	Session *protocol.Session
	Params  secagg.Params
}

// NewSummation returns a secure sum over the listed clients. Session s holds the purpose and all
// other fields that distinguish the sum from other sums of the job.
func NewSummation(id job.ID, step int, roster [sha256.Size]byte, s method.Session, server string, clients []string, spec secagg.Spec) (Summation, error) {
	params, err := secagg.NewParams(spec, len(clients))
	if err != nil {
		return Summation{}, fault.BadInput(err)
	}
	opened, err := protocol.NewSession(Aggregating(s, params, server, clients).Descriptor(id, step, roster, 1))
	return Summation{opened, params}, err
}

// People returns the number of clients that began the sum.
func (s Summation) People() int { return len(s.Session.Members) - 1 }

// Figures returns the sum's settings and sizes before it has run.
func (s Summation) Figures() Figures {
	degree, layout := s.Params.Degree(), s.Params.Layout()
	return Figures{
		Purpose: s.Session.Purpose, Clients: s.People(), Holders: degree.Holders, Threshold: degree.Threshold,
		Entries: layout.Entries(), Vector: 8 * layout.Words(),
	}
}

// Ended returns the sum's figures after its session has ended. The number addends counts the
// clients whose vectors are in the sum.
func (s Summation) Ended(addends int, e method.End) Figures {
	f := s.Figures()
	f.Added, f.Vanished, f.ToServer, f.FromServer = addends, f.Clients-len(e.Stayed), e.Sent, e.Received
	return f
}

// Aggregating returns the session that adds up vectors of the listed clients.
func Aggregating(s method.Session, params secagg.Params, server string, clients []string) *method.Session {
	s.Protocol, s.Version, s.Params, s.Members = secagg.Name, secagg.Version, params.Encode(), Served(server, clients)
	return &s
}

// Served lists a server and its clients as members.
func Served(server string, clients []string) []protocol.Member {
	return append(protocol.Members(protocol.RoleServer, server), protocol.Members(protocol.RoleParty, clients...)...)
}

// HashKeys returns the digest of the clients' names and keys for a descriptor.
func HashKeys(names []string, keys []ed25519.PublicKey) [sha256.Size]byte {
	var w wire.Writer
	w.String("mercer/v1/crowd")
	w.Uint32(uint32(len(names)))
	for i, name := range names {
		w.String(name)
		w.Bytes32(keys[i])
	}
	return sha256.Sum256(w.Bytes())
}

// Share converts a share of the clients to a number of clients. It rounds down, but tolerates the
// error of a decimal share.
func Share(part float64, clients int) int {
	return int(math.Floor((part + 1e-14) * float64(clients)))
}

// semiHonestServer is the warning for every sum that trusts its server.
const semiHonestServer = "adversary: semi-honest trusts the server to send the same to every device. A server that does not can read a single device's vector. Use adversary: active."

// Count returns how many entries of a sum equal value.
func Count(sum []int64, value int64) int {
	n := 0
	for _, v := range sum {
		if v == value {
			n++
		}
	}
	return n
}

// Figures holds the settings, sizes and participation of a secure sum of many devices.
type Figures struct {
	Purpose    string `json:"purpose"`
	Clients    int    `json:"clients"`
	Holders    int    `json:"holders"`   // clients that hold shares of each client's secrets
	Threshold  int    `json:"threshold"` // least number of holders that can reconstruct a secret
	Added      int    `json:"added"`     // clients in the sum
	Vanished   int    `json:"vanished"`
	Entries    int    `json:"entries"`
	Vector     int    `json:"vector_bytes"`
	ToServer   uint64 `json:"to_server_bytes"` // bytes from all clients together
	FromServer uint64 `json:"from_server_bytes"`
}

// Table returns a table of the sums. If there are more than two, the table has only the first and the
// last; the result has all of them.
func Table(sums []Figures) method.Block {
	if len(sums) > 2 {
		sums = []Figures{sums[0], sums[len(sums)-1]}
	}
	t := method.Block{Header: []string{"sum", "clients", "vanished", "of them added", "added", "holders", "threshold", "entries", "vector", "sent by each", "to each"}}
	for _, s := range sums {
		row := []string{s.Purpose}
		for _, n := range []int{s.Clients, s.Vanished, lateDropouts(s), s.Added, s.Holders, s.Threshold, s.Entries} {
			row = append(row, strconv.Itoa(n))
		}
		n := uint64(max(1, s.Clients))
		t.Rows = append(t.Rows, append(row, humanize.Bytes(s.Vector), humanize.Bytes(s.ToServer/n), humanize.Bytes(s.FromServer/n)))
	}
	return t
}

// lateDropouts returns the number of clients that dropped out after the server had received their
// vectors, which are in the sum.
func lateDropouts(s Figures) int { return s.Added + s.Vanished - s.Clients }

// Describe states in words how many clients added their vectors and how many dropped out.
func Describe(s Figures) string {
	return fmt.Sprintf("%d of %d clients added; %d vanished, %d of them after their vectors had come; %d holders, threshold %d",
		s.Added, s.Clients, s.Vanished, lateDropouts(s), s.Holders, s.Threshold)
}
