package daemon

import (
	"bufio"
	"context"
	"errors"
	"io"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/dataset/prepare"
	"github.com/mercer-fl/mercer/internal/catalogue"
	"github.com/mercer-fl/mercer/internal/catalogue/snapshot"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/node/vault"
)

// leastStreamed is the least number of rows of an edition that a party reads in blocks. A smaller one
// takes less time in memory.
const leastStreamed = 1 << 18

// stream is like load, for a protocol that can read a table in blocks. It does so for an edition of at
// least the given number of rows, if the dictionary describes no columns and no rows belong together
// in groups. Then it takes one bit of memory for each row. Otherwise it calls load.
func (h Home) stream(ctx context.Context, c *Config, all job.Data, key dataset.SplitKey, k jobRows, least int) (method.Table, error) {
	t, in, err := h.streamEdition(ctx, c, all, k, least)
	if err != nil || in {
		t.Key = key
		return t, err
	}
	return h.load(ctx, c, all, key, k)
}

// streamEdition opens the edition of a job as a stream. If in is false, the job must read its table with load.
func (h Home) streamEdition(ctx context.Context, c *Config, all job.Data, k jobRows, least int) (t method.Table, in bool, err error) {
	d := all.Own(c.Name)
	s, err := c.source(h, d.Source)
	if err != nil || d.Schema != nil || d.Partition.By != job.Rows || s.Group != "" || d.LeavesRows() != nil {
		return t, false, err
	}
	if d.Asks() && s.hasColumnNames() { // ignore columns that were added later
		s = h.asFrozen(s, d.Source, dictionaryOf(d).Hash())
	}
	columns, err := s.pickColumns(d.Source, d, c.Name)
	if err != nil {
		return t, false, err
	}
	if frozen, err := h.seesEdition(ctx, c, s, d, k); err != nil || !frozen {
		return t, false, err
	}
	id, err := h.editionOf(d, k)
	if err != nil {
		return t, false, nil //nolint:nilerr // load finds the same error, and explains it
	}
	seed, err := h.identity()
	if err != nil {
		return t, false, err
	}
	artifacts := vault.ReadArtifacts(h.editions(), seed.KEMKey())
	held, rows, err := heldBits(artifacts, id)
	if err != nil || rows < least {
		return t, false, nil //nolint:nilerr // load finds the same error, and explains it
	}
	if err := h.checkBound(d, id); err != nil {
		return t, false, err
	}
	t = method.Table{Stream: s.blocks(snapshots{artifacts, id}, columns, d), HeldBits: held, StreamRows: rows, IDRule: s.ID.Canonical(s.Columns.Theirs)}
	head, err := headOf(t.Stream)
	if err != nil {
		return t, false, err
	}
	if head.Labels != nil {
		t.Label = columns.Label
	}
	t.Edition, err = h.describeEdition(s, id, d, head)
	return t, true, err
}

// heldBits reads which rows an edition holds out, and the number of rows.
func heldBits(e *vault.Artifacts, id job.ID) (held method.Bits, rows int, err error) {
	in, err := e.Open(id, heldItem)
	if err != nil {
		return nil, 0, err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	flags := bufio.NewReader(in)
	for ; ; rows++ {
		switch flag, err := flags.ReadByte(); {
		case errors.Is(err, io.EOF):
			return held, rows, nil
		case err != nil:
			return nil, 0, err
		case flag == 1:
			held.Set(rows)
		}
	}
}

// tableName returns the name of the entry's table in messages.
func (s Source) tableName() string {
	if s.Given() {
		return s.Name()
	}
	return s.Path
}

// blocks returns the rows of a snapshot as a stream of blocks.
func (s Source) blocks(from snapshot.Store, c catalogue.Columns, d job.Data) method.Stream {
	t := s.table(c, d)
	t.Name = s.tableName()
	return func() (method.StreamReader, error) {
		rows, err := snapshot.Read(from)
		if err != nil {
			return nil, err
		}
		b, err := prepare.OpenBlocks(rows, t, dataset.BlockRows)
		if err != nil {
			return nil, errors.Join(err, rows.Close())
		}
		return snapshotBlocks{b, rows, s.ID.IsZero()}, nil
	}
}

// snapshotBlocks reads the blocks of a snapshot.
type snapshotBlocks struct {
	*prepare.Blocks
	io.Closer
	withoutIDs bool // the entry declares no ids, so no column holds ids, whatever its name
}

// Next implements [dataset.Blocks].
func (b snapshotBlocks) Next() (*dataset.Set, error) {
	set, err := b.Blocks.Next()
	if err == nil && b.withoutIDs {
		set.IDs = nil
	}
	return set, err
}

// headOf returns the columns of a stream, without rows.
func headOf(s method.Stream) (head *dataset.Set, err error) {
	_, err = s.Each(func(_ int, block *dataset.Set) error {
		head = &dataset.Set{Name: block.Name, Columns: block.Columns, Labels: block.Labels[:0]}
		return method.ErrEnough
	})
	return head, err
}
