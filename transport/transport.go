package transport

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// MaxMessageBytes is the longest message that a network carries: a chunk of
// 512 KiB with its envelope, twice over.
const MaxMessageBytes = 1 << 20

// Errors that every implementation gives, wrapped.
var (
	ErrClosed   = errors.New("the connection is closed")
	ErrTooLarge = errors.New("the message is too large")
	ErrNoMember = errors.New("the network has no such member")
)

// Lane keeps messages apart that must not wait for one another: a member has a
// queue of its own for each.
type Lane uint8

// The lanes of a network.
const (
	Bulk    Lane = iota // what protocols send
	Control             // what daemons tell each other about sessions and jobs
)

// String names the lane in logs.
func (l Lane) String() string {
	switch l {
	case Bulk:
		return "bulk"
	case Control:
		return "control"
	}
	return fmt.Sprintf("lane %d", uint8(l))
}

// Lanes returns all lanes.
func Lanes() []Lane { return []Lane{Bulk, Control} }

// Conn is one member's place in a network. It is safe for concurrent use.
type Conn interface {
	// Send returns once the network has taken responsibility for data, durably
	// where there is a disk. It waits until ctx ends while the network is out of
	// reach, and while the receiver has not acknowledged as many messages of this
	// sender's in this lane as its share allows. After an error the message may
	// have been sent or not. The network keeps no reference to data.
	Send(ctx context.Context, to string, lane Lane, data []byte) error

	// Receive waits for the next delivery of a lane. It outlives interruptions of
	// the network: an error means that ctx ended or that the connection is of no
	// more use.
	Receive(ctx context.Context, lane Lane) (Delivery, error)

	// Close leaves the network; a caller that waits in Send or Receive gets
	// ErrClosed. What was not acknowledged waits for the member's next
	// connection. A second Close does nothing.
	Close() error
}

// Delivery is one message, delivered to a member who has to settle it. Until
// then it counts as not received and comes again after a while.
type Delivery struct {
	Data []byte // must not be changed: it may be delivered again
	From string // who the network thinks it came from: a hint, not a proof
	Receipt
}

// Receipt settles a delivery. An error, or neither call, means that the
// message comes again, and nothing worse.
type Receipt interface {
	// Ack ends the message: never deliver it again.
	Ack() error
	// Later puts the message back: deliver it again, but not before delay has
	// passed. A network may wait longer for what was put back many times.
	Later(delay time.Duration) error
}

// CheckSize refuses data that is longer than a network carries.
func CheckSize(data []byte) error {
	if len(data) > MaxMessageBytes {
		return fmt.Errorf("%w: %d bytes, at most %d; send it in chunks", ErrTooLarge, len(data), MaxMessageBytes)
	}
	return nil
}
