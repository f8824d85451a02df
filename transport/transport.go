package transport

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// MaxMessageBytes is the largest length of a message that a network carries. A sealed chunk of
// 512 KiB takes about half of it.
const MaxMessageBytes = 1 << 20

// Every implementation of a transport wraps these errors.
var (
	ErrClosed   = errors.New("the connection is closed")
	ErrTooLarge = errors.New("the message is too large")
	ErrNoMember = errors.New("the network has no such member")
)

// Lane separates kinds of messages that must not wait for one another. A member has a separate
// queue for each lane.
type Lane uint8

// Every network has these lanes.
const (
	Bulk    Lane = iota // carries messages of protocols
	Control             // carries messages between daemons about sessions and jobs
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
	// Send returns when the network has stored data, on disk if the network has a disk. It waits
	// while the network is unreachable. It also waits while the number of this sender's messages in
	// this lane that the receiver has not acknowledged has reached the sender's share. The wait
	// ends with ctx. After an error it is unknown whether the message was sent. The network keeps no
	// reference to data.
	Send(ctx context.Context, to string, lane Lane, data []byte) error

	// Receive waits for the next delivery of a lane. It survives interruptions of the network.
	// An error means that ctx ended or that the connection is unusable.
	Receive(ctx context.Context, lane Lane) (Delivery, error)

	// Close ends the member's connection. A caller that waits in Send or Receive gets
	// ErrClosed. Unacknowledged messages wait for the member's next connection. A second Close
	// does nothing.
	Close() error
}

// Delivery is one received message, which the receiver must acknowledge or put back. Otherwise
// the network delivers it again after a while.
type Delivery struct {
	Data []byte // must not be changed, because the network can deliver it again
	From string // sender's name according to the network, which is not verified
	Receipt
}

// Receipt settles a delivery: Ack or Later tells the network what to do with the message. If
// neither is called, or the method returns an error, the network delivers the message again.
type Receipt interface {
	// Ack acknowledges the message. The network does not deliver it again once the network has the
	// acknowledgement.
	Ack() error
	// Later puts the message back. The network delivers the message again, but not before delay has
	// passed. The network can make the delay longer for a message that was put back many times.
	Later(delay time.Duration) error
}

// CheckSize returns an error if data has more than MaxMessageBytes bytes.
func CheckSize(data []byte) error {
	if len(data) > MaxMessageBytes {
		return fmt.Errorf("%w: it has %d bytes; at most %d are allowed; send it in chunks", ErrTooLarge, len(data), MaxMessageBytes)
	}
	return nil
}
