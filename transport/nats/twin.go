package nats

import (
	"context"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"time"

	natsgo "github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"
)

// Processes with one identity share an account. One subject of the account carries messages between
// these processes. A connecting process sends a message to this subject. All processes with one
// identity have an agreed order, and of two processes the later one in this order stops. Usually no
// other process listens, and the server reports this at once.
//
// The server, and anybody on the network path, could stop a process by a forged message. So each
// message carries a code under a key that only processes with the identity have. A process stops
// only for a message that answers a challenge which this process drew a moment ago:
//
//	connecting process  I am A, and ask a
//	running process     I am B, answer a, and ask b
//	connecting process  I am A, and answer b
//
// The later process in the order stops when it has received the other process's answer. The last
// message informs the process that stays. A process that is the earlier one in the order sends one
// more challenge, because the other process might start to serve in between.

// twinLimit limits the time in which another process must answer a connecting process. A
// process that listens but does not answer is about to stop, or it has gone and the server has
// not noticed yet.
const twinLimit = 2 * time.Second

// maxSaying is the largest length of a message between processes with one identity.
const maxSaying = 512

// presence describes a process to the other processes that have the same identity.
type presence struct {
	Run     string     `json:"run"`     // random name of the process
	Serving bool       `json:"serving"` // whether the process has connected once
	Address netip.Addr `json:"address"` // address as the server sees it; zero if unknown
	Process int        `json:"process"` // process id
	Since   time.Time  `json:"since"`
}

// saying is a message between processes that have the same identity.
type saying struct {
	presence
	Asks    string `json:"asks,omitempty"`    // challenge to all processes that receive the message
	Answers string `json:"answers,omitempty"` // challenge of another process that this message answers
}

// runSize is the length of a process's random name and of a challenge, in characters. rand.Text
// draws both.
const runSize = 26

// twinKey derives the key that authenticates messages between processes with one identity. The
// source is the secret key of the identity, which the server does not have.
func twinKey(key nkeys.KeyPair) ([]byte, error) {
	seed, err := key.Seed()
	if err != nil {
		return nil, err
	}
	return hkdf.Key(sha256.New, seed, nil, "mercer/v1/nats/twin", sha256.Size)
}

// seal returns the authentication code of a message and then the encoded message.
func seal(key []byte, w saying) ([]byte, error) {
	text, err := json.Marshal(w)
	if err != nil {
		return nil, err
	}
	return append(codeOf(key, text), text...), nil
}

func codeOf(key, text []byte) []byte {
	mac := hmac.New(sha256.New, key)
	mac.Write(text)
	return mac.Sum(nil)
}

// unseal verifies the authentication code of a message and then decodes the message.
func unseal(key, b []byte) (w saying, err error) {
	if len(b) < sha256.Size || len(b) > maxSaying {
		return w, fmt.Errorf("the message about another process has %d bytes; %d to %d are allowed", len(b), sha256.Size, maxSaying)
	}
	text := b[sha256.Size:]
	if !hmac.Equal(codeOf(key, text), b[:sha256.Size]) {
		return w, errors.New("the sender does not have this identity's key")
	}
	return decodeSaying(text)
}

func decodeSaying(text []byte) (w saying, err error) {
	if err := json.Unmarshal(text, &w); err != nil {
		return w, err
	}
	if len(w.Run) != runSize {
		return w, fmt.Errorf("the process's random name has %d characters; %d are required", len(w.Run), runSize)
	}
	w.Address = w.Address.WithZone("") // removes the IPv6 zone, in which the other process can write any text
	return w, nil
}

// precedes reports whether p comes before o in the order of all processes that share an identity.
// Processes that serve come first, and the rest of the order is random.
func (p presence) precedes(o presence) bool {
	if p.Serving != o.Serving {
		return p.Serving
	}
	return p.Run < o.Run
}

// presence returns the description of this process.
func (c *conn) presence() presence {
	p := presence{Run: c.run, Serving: c.serving.Load(), Process: os.Getpid(), Since: c.since}
	behindGate := c.call != nil && c.call.at.WebSocket // the server sees the gate's address
	if ip, err := c.nc.GetClientIP(); err == nil && !behindGate {
		p.Address, _ = netip.AddrFromSlice(ip)
		p.Address = p.Address.Unmap()
	}
	return p
}

// announceProcess announces this process to the other processes that have the same identity. Then
// it waits long enough for them to end the link.
func (c *conn) announceProcess(ctx, era context.Context) error {
	c.meeting.Lock()
	b, err := seal(c.twin, saying{presence: c.presence(), Asks: c.asked.draw(time.Now())})
	c.meeting.Unlock()
	if err != nil {
		return err
	}
	limited, cancel := within(ctx, era, twinLimit)
	defer cancel()
	_, err = c.nc.RequestWithContext(limited, twinSubject(c.name), b)
	switch {
	case errors.Is(err, natsgo.ErrNoResponders):
		return nil
	case ctx.Err() != nil || era.Err() != nil:
		return err
	case limited.Err() != nil:
		c.log.Warn("another connection with this identity does not answer: its process counts as gone", "member", c.name)
		return nil
	}
	return err
}

// serve records that this process has connected. From now on the process precedes all processes
// that do not serve yet. serve returns an error if one of these processes has already stopped this
// process.
func (c *conn) serve() error {
	c.meeting.Lock()
	defer c.meeting.Unlock()
	if err := c.link.ended(); err != nil {
		return err
	}
	c.serving.Store(true)
	return nil
}

// meet handles a message of another process with this identity. A process that has been stopped
// does not stop others, because otherwise two processes could stop each other.
func (c *conn) meet(m *natsgo.Msg) {
	c.meeting.Lock()
	defer c.meeting.Unlock()
	other, err := unseal(c.twin, m.Data)
	switch {
	case c.link.ended() != nil:
	case err != nil:
		if ok, more := c.strange.allow(time.Now()); ok {
			c.log.Warn("ignored a message about another process with this identity", "member", c.name, "error", err, "unsaid_before", more)
		}
	case other.Run == c.run: // this process received its own message, sent before its connection was lost
	case other.Answers == "":
		c.reply(other)
	case c.asked.isOpen(other.Answers, time.Now()):
		c.decide(other)
	}
}

// decide stops this process if the other process precedes it. Otherwise it refuses the other
// process. The other process is alive, because it has answered a challenge.
func (c *conn) decide(other saying) {
	self := c.presence()
	if other.precedes(self) {
		c.tell(saying{presence: self, Answers: other.Asks})
		c.link.kill(&TwinError{Member: c.name, Address: other.Address, Process: other.Process, Since: other.Since})
		return
	}
	if other.Run != c.refused {
		c.refused = other.Run
		c.log.Warn("refused another process with this identity; if it is not yours, somebody else has the identity file",
			"member", c.name, "address", other.Address.String(), "process", other.Process)
	}
	c.reply(other)
}

// reply answers another process's challenge and sends a challenge in return. It does nothing if too
// many challenges are open, so that repeated old messages do not keep this process busy.
func (c *conn) reply(other saying) {
	if now := time.Now(); other.Asks != "" && c.asked.mayDraw(now) {
		c.tell(saying{presence: c.presence(), Asks: c.asked.draw(now), Answers: other.Asks})
	}
}

func (c *conn) tell(w saying) {
	b, err := seal(c.twin, w)
	if err == nil {
		err = c.nc.Publish(twinSubject(c.name), b)
	}
	if err != nil {
		c.log.Warn("cannot answer another process with this identity", "member", c.name, "error", err)
	}
}
