package disclosure

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mercer-fl/mercer/internal/base/wire"
)

// Peer counts the ids that a peer has looked up among this party's ids, over all sessions,
// including aborted ones.
type Peer struct {
	Name     string
	Sessions int
	IDs      int64
}

// IDsError reports that a session would let a peer look up too many ids.
type IDsError struct {
	Peer
	Most, Total int
}

func (e *IDsError) Error() string {
	return fmt.Sprintf("%s has looked up %d ids in %d sessions, and with up to %d more would exceed the %d that this party allows (max_ids_total in its policy)", e.Name, e.IDs, e.Sessions, e.Most, e.Total)
}

// charge records how many ids each peer looks up in one session. While the field known is false,
// the number is the largest one that each peer may look up.
type charge struct {
	session string
	peers   []Peer // the session's peers, by name
	known   bool
}

// book holds the decoded content of the file peers.
type book struct {
	peers   []Peer // totals of closed sessions, ascending by name
	charges []charge
}

const (
	peersName  = "peers"
	peersMagic = "mercer/v1/peers"
	maxCharges = 1 << 10
)

// Expect records, before a session begins, how many ids each peer may look up in it. It returns an
// *IDsError if a peer's total may then exceed the argument total.
func (l Ledger) Expect(session string, peers []string, most, total int) error {
	return l.change(func(b *book) error { return b.expect(session, peers, most, total) })
}

// expect does what [Ledger.Expect] does, in the book.
func (b *book) expect(session string, peers []string, most, total int) error {
	if slices.ContainsFunc(b.charges, func(c charge) bool { return c.session == session }) {
		return nil
	}
	c := charge{session: session}
	for _, name := range peers {
		now := b.sum(name)
		if now.IDs+int64(most) > int64(total) {
			return &IDsError{now, most, total}
		}
		c.peers = append(c.peers, Peer{Name: name, Sessions: 1, IDs: int64(most)})
	}
	if len(b.charges) >= maxCharges {
		return fmt.Errorf("release: the ledger counts %d open sessions, and no more are allowed", len(b.charges))
	}
	b.charges = append(b.charges, c)
	return nil
}

// Announced records the number of ids that each peer looked up in a session that has ended,
// successfully or not. A peer without a number looked up none.
func (l Ledger) Announced(session string, ids map[string]int) error {
	return l.change(func(b *book) error {
		i := slices.IndexFunc(b.charges, func(c charge) bool { return c.session == session })
		if i < 0 || b.charges[i].known {
			return nil
		}
		c := &b.charges[i]
		c.known = true
		for k, p := range c.peers {
			p.IDs = int64(ids[p.Name])
			if p.IDs == 0 {
				p.Sessions = 0
			}
			c.peers[k] = p
		}
		return nil
	})
}

// Closed moves a session's numbers of ids into its peers' totals. It removes the session's name,
// because the session will not run again.
func (l Ledger) Closed(session string) error {
	return l.change(func(b *book) error {
		b.fold(func(c charge) bool { return c.session == session })
		return nil
	})
}

// Peers lists how many ids each peer has looked up, ascending by the peer's name. In open sessions it
// counts the ids that the peer may still look up.
func (l Ledger) Peers() ([]Peer, error) {
	b, err := l.readBook()
	b.fold(func(charge) bool { return true })
	return b.peers, err
}

func (l Ledger) change(do func(*book) error) error {
	return l.alone(func() error {
		b, err := l.readBook()
		if err != nil {
			return err
		}
		before := string(b.encode())
		if err := do(&b); err != nil || string(b.encode()) == before {
			return err
		}
		return l.write(filepath.Join(string(l), peersName), b.encode())
	})
}

// sum returns a peer's number of ids over all sessions. In open sessions it counts the ids that the
// peer may still look up.
func (b *book) sum(name string) Peer {
	sum := Peer{Name: name}
	for _, p := range b.peers {
		if p.Name == name {
			sum = p
		}
	}
	for _, c := range b.charges {
		for _, p := range c.peers {
			if p.Name == name {
				sum.Sessions, sum.IDs = sum.Sessions+p.Sessions, sum.IDs+p.IDs
			}
		}
	}
	return sum
}

// fold moves the ids of some open sessions into the peers' totals. It moves the sessions for which
// filter returns true.
func (b *book) fold(filter func(charge) bool) {
	var rest []charge
	for _, c := range b.charges {
		if !filter(c) {
			rest = append(rest, c)
			continue
		}
		for _, p := range c.peers {
			i, found := slices.BinarySearchFunc(b.peers, p.Name, func(q Peer, name string) int { return strings.Compare(q.Name, name) })
			if !found {
				b.peers = slices.Insert(b.peers, i, Peer{Name: p.Name})
			}
			b.peers[i].Sessions += p.Sessions
			b.peers[i].IDs += p.IDs
		}
	}
	b.charges = rest
}

func (l Ledger) readBook() (book, error) {
	path := filepath.Join(string(l), peersName)
	file, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return book{}, nil
	}
	if err != nil {
		return book{}, fmt.Errorf("release: %w", err)
	}
	b, err := decodeBook(file)
	if err != nil {
		return book{}, fmt.Errorf("release: %s: %w; restore it from a backup; nothing is released while the ledger cannot be read", path, err)
	}
	return b, nil
}

func (b *book) encode() []byte {
	var w wire.Writer
	w.String(peersMagic)
	writePeers(&w, b.peers)
	w.Uint32(uint32(len(b.charges)))
	for _, c := range b.charges {
		w.String(c.session)
		w.Bool(c.known)
		writePeers(&w, c.peers)
	}
	return w.Bytes()
}

func writePeers(w *wire.Writer, peers []Peer) {
	w.Uint32(uint32(len(peers)))
	for _, p := range peers {
		w.String(p.Name)
		w.Uint32(uint32(p.Sessions))
		w.Uint64(uint64(p.IDs))
	}
}

func decodeBook(file []byte) (book, error) {
	r := wire.NewReader(file)
	r.Magic(32, peersMagic, "%q is not the format of the file of peers")
	b := book{peers: readPeers(r)}
	for range r.Count(maxCharges, 7) {
		b.charges = append(b.charges, charge{session: r.String(maxText), known: r.Bool(), peers: readPeers(r)})
	}
	return b, r.Close("peers")
}

func readPeers(r *wire.Reader) []Peer {
	var peers []Peer
	for range r.Count(maxPeers, 14) {
		peers = append(peers, Peer{r.String(maxText), int(r.Uint32()), int64(r.Uint64())})
	}
	return peers
}
