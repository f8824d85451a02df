package issuer

import (
	"crypto/ed25519"
	"crypto/sha256"
	"errors"
	"sync"

	"github.com/mercer-fl/mercer/internal/base/disk"
	"github.com/mercer-fl/mercer/internal/base/wire"
)

// errSpent is returned if a device requests different tokens for an iteration whose tokens it
// already has.
var errSpent = errors.New("issuer: the device has already received other tokens for this iteration")

// claim identifies the tokens of one device for one iteration. A device can claim them once.
type claim struct {
	device    [ed25519.PublicKeySize]byte
	iteration uint32
}

// quota records on disk the answered request of each claim. The issuer answers the same request
// again, but refuses a different one.
type quota struct {
	mu    sync.Mutex
	spent map[claim]*answered
	given map[uint32]int // number of devices that have requested tokens, by iteration
	next  *batch         // claims that are not on disk yet

	disk sync.Mutex // held while a batch is written
	log  *disk.Log
}

type answered struct {
	request [sha256.Size]byte
	batch   *batch
}

// batch collects the claims that are written to disk together.
type batch struct {
	record  wire.Writer
	written bool
	err     error
}

func openQuota(path string) (*quota, error) {
	q := &quota{spent: map[claim]*answered{}, given: map[uint32]int{}, next: &batch{}}
	known := &batch{written: true}
	var err error
	q.log, err = disk.OpenLog(path, func(record []byte) error {
		r := wire.NewReader(record)
		for r.Err() == nil && r.Len() > 0 {
			var c claim
			a := &answered{batch: known}
			r.Fixed(c.device[:])
			c.iteration = r.Uint32()
			r.Fixed(a.request[:])
			if q.spent[c] == nil {
				q.given[c.iteration]++
			}
			q.spent[c] = a
		}
		return r.Close("issuer: a record of the quota")
	})
	return q, err
}

// claim records that a claim is answered with this request, and returns once the record is on
// disk. It returns errSpent if an earlier request differs.
func (q *quota) claim(c claim, request [sha256.Size]byte) error {
	q.mu.Lock()
	a, known := q.spent[c]
	if !known {
		a = &answered{request, q.next}
		q.spent[c] = a
		q.given[c.iteration]++
		a.batch.record.Fixed(c.device[:])
		a.batch.record.Uint32(c.iteration)
		a.batch.record.Fixed(request[:])
	}
	q.mu.Unlock()
	if a.request != request {
		return errSpent
	}
	return q.write(a.batch)
}

// devices returns the number of devices that have requested tokens for an iteration.
func (q *quota) devices(iteration uint32) int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.given[iteration]
}

// write writes a batch to disk. The first caller writes the whole batch, and the other callers
// wait.
func (q *quota) write(b *batch) error {
	q.disk.Lock()
	defer q.disk.Unlock()
	if b.written {
		return b.err
	}
	q.mu.Lock()
	q.next = &batch{}
	q.mu.Unlock()
	b.written, b.err = true, q.log.Append(b.record.Bytes())
	if b.err != nil { // the disk might hold part of the batch, so no further batch is written
		q.mu.Lock()
		q.next.written, q.next.err = true, b.err
		q.mu.Unlock()
	}
	b.record = wire.Writer{}
	return b.err
}

func (q *quota) Close() error {
	q.disk.Lock()
	defer q.disk.Unlock()
	return q.log.Close()
}
