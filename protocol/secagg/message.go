package secagg

import (
	"crypto/ed25519"
	"fmt"

	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/internal/crypto/shamir"
	"github.com/mercer-fl/mercer/protocol"
)

// The rounds of a session, in their order.
const (
	roundAdvertise uint16 = iota
	roundCohort
	roundHolders
	roundHolderKeys
	roundShare
	roundShares
	roundMasked
	roundSurvivors
	roundConsistency
	roundSignatures
	roundUnmask
)

// The kinds of messages, one for each round.
const (
	kindAdvertise   = "AdvertiseKeys"
	kindCohort      = "Cohort"
	kindHolders     = "Holders"
	kindHolderKeys  = "HolderKeys"
	kindShare       = "ShareKeys"
	kindShares      = "Shares"
	kindMasked      = "MaskedInput"
	kindSurvivors   = "Survivors"
	kindConsistency = "ConsistencyCheck"
	kindSignatures  = "Signatures"
	kindUnmask      = "Unmask"
)

// InputKind is the kind of the messages that carry a client's masked vector.
const InputKind = kindMasked

func kindOf(round uint16) string {
	return [...]string{
		kindAdvertise, kindCohort, kindHolders, kindHolderKeys, kindShare, kindShares,
		kindMasked, kindSurvivors, kindConsistency, kindSignatures, kindUnmask,
	}[round]
}

// chunkWords is the number of words of a masked vector that one message carries.
const chunkWords = protocol.MaxChunkBytes / 8

// chunks returns the number of messages in which a vector is sent.
func (l *Layout) chunks() int { return (l.words + chunkWords - 1) / chunkWords }

// chunk returns the range of words, lo to hi-1, that a chunk holds.
func (l *Layout) chunk(i int) (lo, hi int) {
	return i * chunkWords, min((i+1)*chunkWords, l.words)
}

// sealedBytes is the size of encrypted shares: two shares and a tag.
const sealedBytes = 2*shamir.Size + 16

// writeEach writes a list with at most one item for each client, in ascending order of the clients.
// Each item begins with the number of its client; the function rest writes the rest of the item.
func writeEach[T any](w *wire.Writer, list []T, client func(T) int, rest func(T)) {
	w.Uint32(uint32(len(list)))
	for _, item := range list {
		w.Uint32(uint32(client(item)))
		rest(item)
	}
}

// readEach reads the output of writeEach for at most n clients. For each client, the function rest
// reads size bytes after the client's number. Errors are kept in r.
func readEach[T any](r *wire.Reader, n, size int, rest func(client int) T) []T {
	list := make([]T, r.Count(n, 4+size))
	last := -1
	for i := range list {
		client := int(r.Uint32())
		if r.Err() == nil && (client <= last || client >= n) {
			r.Fail(fmt.Errorf("the list has client %d after client %d; numbers must ascend and be below %d", client, last, n))
		}
		last, list[i] = client, rest(client)
	}
	return list
}

func encodeClients(list []int) []byte {
	var w wire.Writer
	writeEach(&w, list, func(i int) int { return i }, func(int) {})
	return w.Bytes()
}

func decodeClients(b []byte, n int) ([]int, error) {
	r := wire.NewReader(b)
	list := readEach(r, n, 0, func(client int) int { return client })
	return list, r.Close("secagg: clients")
}

func encodeSets(sets ...set) []byte {
	var w wire.Writer
	for _, s := range sets {
		s.encode(&w)
	}
	return w.Bytes()
}

func decodeSet(b []byte, n int) (set, error) {
	r := wire.NewReader(b)
	s := readSet(r, n)
	return s, r.Close("secagg: set of clients")
}

// member is a client's number together with the keys that the client advertised.
type member struct {
	client int
	keys   keys
}

func encodeMembers(list []member) []byte {
	var w wire.Writer
	writeEach(&w, list, func(m member) int { return m.client }, func(m member) { m.keys.encode(&w) })
	return w.Bytes()
}

func decodeMembers(b []byte, n int) ([]member, error) {
	r := wire.NewReader(b)
	list := readEach(r, n, keysBytes, func(client int) member { return member{client, readKeys(r)} })
	return list, r.Close("secagg: keys of clients")
}

// sealed is the encryption of one client's shares for one holder.
type sealed [sealedBytes]byte

// encodeShares encodes the encrypted shares for each holder, in the order in which the client named
// the holders.
func encodeShares(list []sealed) []byte {
	var w wire.Writer
	for _, s := range list {
		w.Fixed(s[:])
	}
	return w.Bytes()
}

func decodeShares(b []byte, holders int) ([]sealed, error) {
	r := wire.NewReader(b)
	list := make([]sealed, holders)
	for i := range list {
		r.Fixed(list[i][:])
	}
	return list, r.Close("secagg: shares")
}

// delivery holds the number, the keys and the encrypted shares of one owner, for one holder.
type delivery struct {
	owner  member
	sealed sealed
}

// maxHeld returns the largest number of clients whose shares one client can hold. All these shares
// must fit in one message.
func maxHeld(clients int) int {
	return (protocol.MaxChunkBytes - len(newSet(clients).bits) - 4) / (4 + keysBytes + sealedBytes)
}

// deliveries is the server's message to one holder in round Shares. It holds the clients that have
// shared their secrets, and the shares for the holder.
type deliveries struct {
	sharers set // U2: the clients that have shared their secrets
	list    []delivery
}

func (d deliveries) encode() []byte {
	var w wire.Writer
	d.sharers.encode(&w)
	writeEach(&w, d.list, func(item delivery) int { return item.owner.client }, func(item delivery) {
		item.owner.keys.encode(&w)
		w.Fixed(item.sealed[:])
	})
	return w.Bytes()
}

func decodeDeliveries(b []byte, n int) (deliveries, error) {
	r := wire.NewReader(b)
	d := deliveries{sharers: readSet(r, n)}
	d.list = readEach(r, n, keysBytes+sealedBytes, func(client int) delivery {
		item := delivery{owner: member{client, readKeys(r)}}
		r.Fixed(item.sealed[:])
		return item
	})
	return d, r.Close("secagg: shares for a holder")
}

// signature is a client's signature of the cohort, the sharers and the survivors.
type signature struct {
	client int
	value  [ed25519.SignatureSize]byte
}

func encodeSignatures(list []signature) []byte {
	var w wire.Writer
	writeEach(&w, list, func(s signature) int { return s.client }, func(s signature) { w.Fixed(s.value[:]) })
	return w.Bytes()
}

func decodeSignatures(b []byte, n int) ([]signature, error) {
	r := wire.NewReader(b)
	list := readEach(r, n, ed25519.SignatureSize, func(client int) signature {
		s := signature{client: client}
		r.Fixed(s.value[:])
		return s
	})
	return list, r.Close("secagg: signatures")
}

// release is one share that a client releases. It belongs to the owner's self mask if the owner's
// vector is in the sum, and to the owner's mask key otherwise.
type release struct {
	owner int
	share shamir.Share
}

func encodeReleases(list []release) []byte {
	var w wire.Writer
	writeEach(&w, list, func(u release) int { return u.owner }, func(u release) { w.Fixed(u.share[:]) })
	return w.Bytes()
}

func decodeReleases(b []byte, n int) ([]release, error) {
	r := wire.NewReader(b)
	list := readEach(r, n, shamir.Size, func(owner int) release {
		u := release{owner: owner}
		r.Fixed(u.share[:])
		return u
	})
	return list, r.Close("secagg: released shares")
}

// statement returns the bytes that a client signs in the consistency round to confirm the cohort,
// the sharers and the survivors that it received.
func statement(id protocol.SessionID, cohort, sharers, survivors set) []byte {
	var w wire.Writer
	w.String("mercer/v1/secagg/consistency")
	w.Fixed(id[:])
	for _, s := range []set{cohort, sharers, survivors} {
		h := s.hash()
		w.Fixed(h[:])
	}
	return w.Bytes()
}
