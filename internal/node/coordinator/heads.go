package coordinator

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/mercer-fl/mercer/internal/base/disk"
	"github.com/mercer-fl/mercer/internal/node/control"
	"github.com/mercer-fl/mercer/internal/node/driver"
)

// hearRecord keeps the head of a party's audit record, or answers a restored party with the one that was
// kept. A message that cannot be kept is delivered again.
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
		if err := c.keepHead(name, r.Head); err != nil {
			c.Logger.Error("could not keep the head of a party's audit record; it will be delivered again", "party", name, "error", err)
			c.later(in, time.Second)
			return
		}
	}
	c.acknowledge(in)
}

// keepHead stores the head of a party's audit record.
func (c *Coordinator) keepHead(party string, head [sha256.Size]byte) error {
	if err := disk.MakeDir(c.Heads); err != nil {
		return err
	}
	return disk.Replace(filepath.Join(c.Heads, party), head[:])
}

// answerRecord sends a restored party the head that it told last.
func (c *Coordinator) answerRecord(ctx context.Context, party string, nonce [32]byte) {
	head, err := c.headOf(party)
	if err == nil {
		err = c.router.Tell(ctx, party, control.RecordTopic(), control.KindRecord, control.Record{Head: head, Nonce: nonce}.Encode())
	}
	if err != nil {
		c.Logger.Warn("could not answer a party that was restored from a backup; it asks again", "party", party, "error", err)
		return
	}
	c.Logger.Info("answered a party that was restored from a backup", "party", party)
}

// headOf returns the head that a party told last, or zero.
func (c *Coordinator) headOf(party string) (head [sha256.Size]byte, err error) {
	b, err := os.ReadFile(filepath.Join(c.Heads, party))
	if errors.Is(err, fs.ErrNotExist) {
		return head, nil
	}
	if err == nil && len(b) != len(head) {
		err = fmt.Errorf("coordinator: %s holds no hash", filepath.Join(c.Heads, party))
	}
	copy(head[:], b)
	return head, err
}
