package gateway

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/mercer-fl/mercer/internal/disk"
	"github.com/mercer-fl/mercer/protocol/secvm"
)

// nonce is what is kept of a token that has been spent: half of its nonce.
type nonce [16]byte

// shards lets many packages be counted at a time.
const shards = 16

// errOver is a package for an iteration whose packages have been added up.
var errOver = errors.New("gateway: the iteration is over")

// counter counts the packages of one iteration. It keeps counts and the nonces
// of spent tokens, and never which package came with which token, or after
// which other: packages are added up in memory until there are enough of them
// for a record, which holds sorted nonces and sums.
type counter struct {
	params  secvm.Params
	least   int           // packages in a record
	due     chan struct{} // a record has enough of them
	waiting atomic.Int64  // packages that are in no record
	shards  [shards]shard

	writing sync.Mutex   // held while a record is written
	log     *disk.Log    // of records
	tally   *secvm.Tally // of all records
	next    *flush
	records int
}

type shard struct {
	mu       sync.Mutex
	open     bool
	recorded map[nonce]struct{}
	leaving  heap // on its way to the disk
	arriving heap
}

// heap is packages that have been added up and are in no record yet.
type heap struct {
	nonces map[nonce]struct{}
	sums   sums
	flush  *flush // that they leave with
}

// sums are how often each package came, regardless of tag and iteration.
type sums map[secvm.Package]uint64

// flush is the writing of one record.
type flush struct {
	done chan struct{} // closed when the record is on disk, or err says that it is not
	err  error
}

func newFlush() *flush { return &flush{done: make(chan struct{})} }

func newHeap(f *flush) heap { return heap{map[nonce]struct{}{}, sums{}, f} }

// openCounter goes on with the records in a file, if there are any.
func openCounter(p secvm.Params, path string, least int) (*counter, error) {
	c := &counter{params: p, least: least, due: make(chan struct{}, 1), tally: secvm.NewTally(p), next: newFlush()}
	for i := range c.shards {
		c.shards[i] = shard{open: true, recorded: map[nonce]struct{}{}, arriving: newHeap(c.next)}
	}
	var err error
	c.log, err = disk.OpenLog(path, func(b []byte) error {
		nonces, all, err := decodeRecord(b)
		if err != nil {
			return err
		}
		for _, n := range nonces {
			c.shards[n[0]%shards].recorded[n] = struct{}{}
		}
		return c.add(all)
	})
	return c, err
}

// add adds the sums of a record to the tally.
func (c *counter) add(all sums) error {
	for p, n := range all { // sums: the order does not matter
		if err := c.tally.AddTimes(p, n); err != nil {
			return fmt.Errorf("gateway: a record of another model: %w", err)
		}
	}
	c.records++
	return nil
}

// count counts a package, unless its token has been spent. Either way it is for
// good only when the flush is done without an error; nil has been done.
func (c *counter) count(n nonce, p secvm.Package) (*flush, bool, error) {
	if err := p.Check(c.params); err != nil {
		return nil, false, err
	}
	p.Tag, p.Iteration = 0, 0
	s := &c.shards[n[0]%shards]
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, spent := s.recorded[n]; spent {
		return nil, true, nil
	}
	for _, h := range []*heap{&s.leaving, &s.arriving} {
		if _, spent := h.nonces[n]; spent {
			return h.flush, true, nil
		}
	}
	if !s.open {
		return nil, false, errOver
	}
	s.arriving.nonces[n] = struct{}{}
	s.arriving.sums[p]++
	if c.waiting.Add(1) >= int64(c.least) {
		select {
		case c.due <- struct{}{}:
		default:
		}
	}
	return s.arriving.flush, false, nil
}

// record writes what has arrived, and returns how many packages have been
// recorded. With last, no more is counted afterwards, until the counter is
// reopened.
func (c *counter) record(last bool) (int, error) {
	c.writing.Lock()
	defer c.writing.Unlock()
	leaving := c.next
	c.next = newFlush()
	nonces, all := c.gather(last)
	if len(nonces) > 0 {
		if leaving.err = c.log.Append(encodeRecord(nonces, all)); leaving.err == nil {
			leaving.err = c.add(all)
		}
	}
	c.settle(leaving.err)
	close(leaving.done)
	if leaving.err != nil {
		return 0, leaving.err
	}
	return len(nonces), nil
}

// gather takes what has arrived from all shards.
func (c *counter) gather(last bool) ([]nonce, sums) {
	var nonces []nonce
	all := sums{}
	for i := range c.shards {
		s := &c.shards[i]
		s.mu.Lock()
		s.leaving, s.arriving, s.open = s.arriving, newHeap(c.next), s.open && !last
		s.mu.Unlock()
		for n := range s.leaving.nonces { // sorted later
			nonces = append(nonces, n)
		}
		for p, k := range s.leaving.sums {
			all[p] += k
		}
	}
	c.waiting.Add(-int64(len(nonces)))
	return nonces, all
}

// settle notes what is on disk. After an error the gateway ends, and reads from
// the disk what has been counted.
func (c *counter) settle(err error) {
	for i := range c.shards {
		s := &c.shards[i]
		s.mu.Lock()
		if err == nil {
			for n := range s.leaving.nonces {
				s.recorded[n] = struct{}{}
			}
		}
		s.leaving = heap{}
		s.mu.Unlock()
	}
}

// reopen goes on counting, in another window of the same iteration.
func (c *counter) reopen() {
	for i := range c.shards {
		s := &c.shards[i]
		s.mu.Lock()
		s.open = true
		s.mu.Unlock()
	}
}
