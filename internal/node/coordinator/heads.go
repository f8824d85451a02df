package coordinator

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/mercer-fl/mercer/internal/base/disk"
	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/internal/node/control"
	"github.com/mercer-fl/mercer/internal/node/driver"
)

// hearRecord keeps the head of a party's audit record, or answers a restored party with the head that was
// kept. If the head cannot be stored, the broker delivers the message again.
func (c *Coordinator) hearRecord(ctx context.Context, in driver.Inbound, run func(func())) {
	name := in.Message.Sender
	r, err := control.DecodeRecord(in.Message.Body)
	switch {
	case err != nil:
		c.complain("a head of an audit record that cannot be read", name, "error", err)
	case c.Heads == "":
	case r.Asks:
		c.acknowledge(in)
		if c.beginNotice(name) {
			run(func() {
				defer c.endNotice(name)
				c.answerRecord(ctx, name, r.Nonce)
			})
		}
		return
	default:
		if err := c.keepHead(name, r); err != nil {
			c.Logger.Error("could not keep the head of a party's audit record; it will be delivered again", "party", name, "error", err)
			c.later(in, time.Second)
			return
		}
	}
	c.acknowledge(in)
}

// keptHead holds the newest head of a party's audit record. The zero keptHead is of a party that has told no head.
type keptHead struct {
	head    [sha256.Size]byte
	steps   uint64              // Steps of the [control.Record]; 0 if an earlier build has told the head
	origin  [sha256.Size]byte   // Origin of the [control.Record]; zero if an earlier build has told the head
	earlier [][sha256.Size]byte // origins of the histories before this one, the latest last
}

// maxEarlier bounds the earlier histories of a party's record that the coordinator remembers, so that it does not take
// one of them for a new history.
const maxEarlier = 16

// precedes reports whether a party has told r after the head that is kept. An operator begins a new history with
// mercer audit accept-loss or with a new record. Then the party can have fewer steps than before.
func (k keptHead) precedes(r control.Record) bool {
	switch {
	case k.steps == 0 || r.Steps == 0: // an earlier build has told one of them
		return k.steps == 0
	case r.Origin == k.origin:
		return r.Steps > k.steps
	}
	return !slices.Contains(k.earlier, r.Origin)
}

// followedBy returns what the coordinator keeps after a party has told r.
func (k keptHead) followedBy(r control.Record) keptHead {
	now := keptHead{r.Head, r.Steps, r.Origin, k.earlier}
	if k.steps > 0 && k.origin != r.Origin {
		now.earlier = append(slices.Clone(k.earlier), k.origin)
		now.earlier = now.earlier[max(0, len(now.earlier)-maxEarlier):]
	}
	return now
}

const headMagic = "mercer/v1/head"

func (k keptHead) encode() []byte {
	var w wire.Writer
	w.String(headMagic)
	w.Fixed(k.head[:])
	w.Uint64(k.steps)
	w.Fixed(k.origin[:])
	w.Uint32(uint32(len(k.earlier)))
	for _, o := range k.earlier {
		w.Fixed(o[:])
	}
	return w.Bytes()
}

// decodeHead reads what encode has written, or the hash alone that earlier builds kept.
func decodeHead(b []byte) (k keptHead, err error) {
	if len(b) == len(k.head) {
		copy(k.head[:], b)
		return k, nil
	}
	r := wire.NewReader(b)
	r.Magic(len(headMagic), headMagic, "the format %q is unknown")
	r.Fixed(k.head[:])
	k.steps = r.Uint64()
	r.Fixed(k.origin[:])
	k.earlier = make([][sha256.Size]byte, r.Count(maxEarlier, sha256.Size))
	for i := range k.earlier {
		r.Fixed(k.earlier[i][:])
	}
	return k, r.Close("head of an audit record")
}

// keepHead stores the head of a party's audit record, unless the party told a later one before.
func (c *Coordinator) keepHead(party string, r control.Record) error {
	kept, err := c.headOf(party)
	if err != nil || !kept.precedes(r) {
		return err
	}
	if err := disk.MakeDir(c.Heads); err != nil {
		return err
	}
	return disk.Replace(filepath.Join(c.Heads, party), kept.followedBy(r).encode())
}

// answerRecord sends a restored party the head that it told last.
func (c *Coordinator) answerRecord(ctx context.Context, party string, nonce [32]byte) {
	kept, err := c.headOf(party)
	if err == nil {
		err = c.router.Tell(ctx, party, control.RecordTopic(), control.KindRecord, control.Record{Head: kept.head, Nonce: nonce}.Encode())
	}
	if err != nil {
		c.Logger.Warn("could not answer a party that was restored from a backup; it asks again", "party", party, "error", err)
		return
	}
	c.Logger.Info("answered a party that was restored from a backup", "party", party)
}

// headOf returns what is kept of a party's audit record.
func (c *Coordinator) headOf(party string) (k keptHead, err error) {
	path := filepath.Join(c.Heads, party)
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return keptHead{}, nil
	}
	if err != nil {
		return keptHead{}, fmt.Errorf("coordinator: %w", err)
	}
	if k, err = decodeHead(b); err != nil {
		return keptHead{}, fmt.Errorf("coordinator: %s cannot be read (%w); remove it, and the next job of %s writes it anew", path, err, party)
	}
	return k, nil
}
