package transport

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// MaxMessageBytes is the longest message that a network carries: twice the size of a chunk
// of 512 KiB with its envelope.
const MaxMessageBytes = 1 << 20

// Errors that every implementation returns, wrapped.
var (
	ErrClosed   = errors.New("the connection is closed")
	ErrTooLarge = errors.New("the message is too large")
	ErrNoMember = errors.New("the network has no such member")
)

// Lane separates messages that must not wait for one another: a member has a separate queue
// for each lane.
type Lane uint8

// The lanes of a network.
const (
	Bulk    Lane = iota // messages of protocols
	Control             // messages of daemons about sessions and jobs
)

// String returns the lane's name for logs.
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

// Conn is one member's connection to a network. It is safe for concurrent use.
type Conn interface {
	// Send returns once the network has taken responsibility for data, durably if the
	// network has a disk. It waits, until ctx ends, while the network is unreachable or
	// while the receiver has not acknowledged as many messages of this sender in this lane
	// as the sender's share allows. After an error the message may or may not have been
	// sent. The network keeps no reference to data.
	Send(ctx context.Context, to string, lane Lane, data []byte) error

	// Receive waits for the next delivery of a lane. It survives interruptions of the
	// network: an error means that ctx ended or that the connection is unusable.
	Receive(ctx context.Context, lane Lane) (Delivery, error)

	// Close leaves the network. A caller that waits in Send or Receive gets ErrClosed.
	// Unacknowledged messages wait for the member's next connection. A second Close does
	// nothing.
	Close() error
}

// Delivery is one message, which its receiver must settle. An unsettled message counts as
// not received and is delivered again after a while.
type Delivery struct {
	Data []byte // must not be changed: it may be delivered again
	From string // the sender according to the network: a hint, not a proof
	Receipt
}

// Receipt settles a delivery. If a method returns an error, or if neither is called, the
// message is delivered again.
type Receipt interface {
	// Ack acknowledges the message: the network never delivers it again.
	Ack() error
	// Later puts the message back: the network delivers it again, but not before delay has
	// passed. The delay may be longer for a message that was put back many times.
	Later(delay time.Duration) error
}

// CheckSize returns an error if data is longer than a network carries.
func CheckSize(data []byte) error {
	if len(data) > MaxMessageBytes {
		return fmt.Errorf("%w: %d bytes, at most %d; send it in chunks", ErrTooLarge, len(data), MaxMessageBytes)
	}
	return nil
}
