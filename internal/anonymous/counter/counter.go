// Package counter counts the anonymous packages of one iteration of a SecVM job. Devices send the
// packages in one or more windows, which are periods of time. The package counts at most one
// package for each token. It keeps counts and half of the nonce of each spent token. It does not keep
// which package came with which token, unless a record holds a single package, or the order of packages.
//
//	c, err := counter.Open(params, path, 256)
//	flush, again, err := c.Count(counter.Nonce(token.Nonce[:16]), p)
//	... <-c.Due(): n, err := c.RecordDue()
//	... <-flush.Done(): acknowledge the package if flush.Err() is nil
//
// Packages are summed in memory until there are enough of them for a record, which
// holds sorted nonces and sums. A spent token takes some 20 to 40 bytes of memory; a
// record that is being filled takes more.
package counter

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/mercer-fl/mercer/internal/base/disk"
	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/protocol/secvm"
)

// Nonce is the first half of a spent token's nonce, which the device drew at random. Among n
// honest tokens, two equal halves occur with a probability below n^2/2^129, which is 2^-89 for a
// million tokens. If a device draws equal nonces, only one of its packages is counted.
type Nonce [NonceSize]byte

// NonceSize is the size of a Nonce in bytes.
const NonceSize = 16

// shards is the number of parts of the counter, each with its own lock, so that many packages
// can be counted concurrently.
const shards = 16

// ErrOver is returned for a package that arrives after the last record of its window.
var ErrOver = errors.New("counter: the time for packages is over; the packages have been summed")

// Counter counts the packages of one iteration. It is safe for concurrent use.
type Counter struct {
	params  secvm.Params
	least   int           // smallest number of packages for which due signals
	due     chan struct{} // signals that enough packages wait for a record
	waiting atomic.Int64  // number of packages that are in no record
	shards  [shards]shard

	writing sync.Mutex   // held while a record is written
	log     *disk.Log    // file of records
	tally   *secvm.Tally // sum of all records
	next    *Flush
	records int
}

type shard struct {
	mu       sync.Mutex
	open     bool
	recorded map[Nonce]struct{}
	leaving  pending // packages of the record that is being written
	arriving pending
}

// pending holds packages that are summed in memory but are in no record yet.
type pending struct {
	nonces map[Nonce]struct{}
	sums   sums
	flush  *Flush // tells when the record of these packages is written
}

// sums maps each distinct package to its count. Tag and iteration are set to 0 first.
type sums map[secvm.Package]uint64

// Flush lets callers wait until one record is written.
type Flush struct {
	done chan struct{}
	err  error // error of writing the record; valid once done is closed
}

// Done returns a channel that is closed after the attempt to write the record. Err then says
// whether the attempt failed.
func (f *Flush) Done() <-chan struct{} { return f.done }

// Err returns the error of writing the record, or nil if the record is on disk. Call it only
// after Done is closed.
func (f *Flush) Err() error { return f.err }

func newFlush() *Flush { return &Flush{done: make(chan struct{})} }

func newPending(f *Flush) pending { return pending{map[Nonce]struct{}{}, sums{}, f} }

// Open opens the counter's file and continues from its records. The channel of Due signals when the
// number of packages that wait for a record reaches threshold.
func Open(p secvm.Params, path string, threshold int) (*Counter, error) {
	c := &Counter{params: p, least: threshold, due: make(chan struct{}, 1), tally: secvm.NewTally(p), next: newFlush()}
	for i := range c.shards {
		c.shards[i] = shard{open: true, recorded: map[Nonce]struct{}{}, arriving: newPending(c.next)}
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

// Due returns a channel that signals when enough packages wait for a record.
func (c *Counter) Due() <-chan struct{} { return c.due }

// Tally returns the sum of all records. Each new record changes the returned tally.
func (c *Counter) Tally() *secvm.Tally { return c.tally }

// Records returns the number of records.
func (c *Counter) Records() int { return c.records }

// Close closes the file. It discards the packages that are in no record.
func (c *Counter) Close() error { return c.log.Close() }

// Remove deletes the file. Call it when no more packages are to be counted.
func (c *Counter) Remove() error { return c.log.Remove() }

// add adds the sums of a record to the tally.
func (c *Counter) add(all sums) error {
	for p, n := range all { // the random order of the map does not matter for sums
		if err := c.tally.AddTimes(p, n); err != nil {
			return fmt.Errorf("counter: the record belongs to another model: %w", err)
		}
	}
	c.records++
	return nil
}

// Count adds a package to the sums, or returns true if its token has been spent. Either result
// is final only when the returned flush is done without an error. A nil flush means that the
// result is final already.
func (c *Counter) Count(n Nonce, p secvm.Package) (*Flush, bool, error) {
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
	for _, h := range []*pending{&s.leaving, &s.arriving} {
		if _, spent := h.nonces[n]; spent {
			return h.flush, true, nil
		}
	}
	if !s.open {
		return nil, false, ErrOver
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

// Record writes the packages that have arrived, and returns the number of packages written. If
// isLast is true, the counter refuses further packages until Reopen.
func (c *Counter) Record(isLast bool) (int, error) {
	c.writing.Lock()
	defer c.writing.Unlock()
	leaving := c.next
	c.next = newFlush()
	nonces, all := c.gather(isLast)
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

// RecordDue is Record after a signal of Due. It writes nothing if fewer packages wait than Due waits for,
// because the signal can be for packages that the last record has. A record of few packages could show
// which package came with which token.
func (c *Counter) RecordDue() (int, error) {
	if c.waiting.Load() < int64(c.least) {
		return 0, nil
	}
	return c.Record(false)
}

// gather collects the packages that have arrived in all shards.
func (c *Counter) gather(last bool) ([]Nonce, sums) {
	var nonces []Nonce
	all := sums{}
	for i := range c.shards {
		s := &c.shards[i]
		s.mu.Lock()
		s.leaving, s.arriving, s.open = s.arriving, newPending(c.next), s.open && !last
		s.mu.Unlock()
		for n := range s.leaving.nonces { // encodeRecord sorts the nonces
			nonces = append(nonces, n)
		}
		for p, k := range s.leaving.sums {
			all[p] += k
		}
	}
	c.waiting.Add(-int64(len(nonces)))
	return nonces, all
}

// settle marks the packages of the record as recorded if err is nil. After an error the gateway
// stops; when it is started again, it reads from the disk which packages have been counted.
func (c *Counter) settle(err error) {
	for i := range c.shards {
		s := &c.shards[i]
		s.mu.Lock()
		if err == nil {
			for n := range s.leaving.nonces {
				s.recorded[n] = struct{}{}
			}
		}
		s.leaving = pending{}
		s.mu.Unlock()
	}
}

// Reopen lets the counter accept packages again, in another window of the same iteration.
func (c *Counter) Reopen() {
	for i := range c.shards {
		s := &c.shards[i]
		s.mu.Lock()
		s.open = true
		s.mu.Unlock()
	}
}

// sumSize is the size of one package and its count in a record, in bytes.
const sumSize = 4 + 3 + 8

// encodeRecord encodes nonces and sums. It sorts both, so that their order does not reveal which package
// came with which token.
func encodeRecord(nonces []Nonce, all sums) []byte {
	slices.SortFunc(nonces, func(a, b Nonce) int { return slices.Compare(a[:], b[:]) })
	packages := slices.SortedFunc(maps.Keys(all), func(a, b secvm.Package) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Index, b.Index), cmp.Compare(a.Value, b.Value), cmp.Compare(a.Guess, b.Guess))
	})
	var w wire.Writer
	w.Grow(8 + NonceSize*len(nonces) + sumSize*len(packages))
	w.Uint32(uint32(len(nonces)))
	for _, n := range nonces {
		w.Fixed(n[:])
	}
	w.Uint32(uint32(len(packages)))
	for _, p := range packages {
		w.Uint32(p.Index)
		w.Uint8(uint8(p.Kind))
		w.Uint8(uint8(p.Value))
		w.Uint8(uint8(p.Guess))
		w.Uint64(all[p])
	}
	return w.Bytes()
}

// decodeRecord decodes the bytes that encodeRecord returns.
func decodeRecord(b []byte) ([]Nonce, sums, error) {
	r := wire.NewReader(b)
	nonces := make([]Nonce, r.Count(disk.MaxLogRecord/NonceSize, NonceSize))
	for i := range nonces {
		r.Fixed(nonces[i][:])
	}
	n := r.Count(disk.MaxLogRecord/sumSize, sumSize)
	all, total := make(sums, n), uint64(0)
	for range n {
		p := secvm.Package{Index: r.Uint32(), Kind: secvm.Kind(r.Uint8()), Value: int8(r.Uint8()), Guess: int8(r.Uint8())}
		all[p] = r.Uint64()
		total += all[p]
	}
	if r.Err() == nil && total != uint64(len(nonces)) {
		r.Fail(fmt.Errorf("the record has %d tokens for %d packages", len(nonces), total))
	}
	if r.Err() == nil && len(all) != n {
		r.Fail(errors.New("the record lists a package twice"))
	}
	return nonces, all, r.Close("counter: a record of packages")
}
