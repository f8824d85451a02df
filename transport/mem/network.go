package mem

import (
	"fmt"
	"sync"
	"time"

	"github.com/mercer-fl/mercer/transport"
)

// Defaults of a Network.
const (
	DefaultAckWait  = 30 * time.Second
	DefaultCapacity = 64 << 20
)

// Network joins the members of one process. Its fields must be set before the
// first Join; the zero value uses the defaults.
type Network struct {
	AckWait  time.Duration // a delivery that is not settled by then is repeated
	Capacity int           // bytes in one member's queue

	mu     sync.Mutex
	queues map[string]*queue
}

// NewNetwork returns a network without members.
func NewNetwork() *Network {
	return &Network{AckWait: DefaultAckWait, Capacity: DefaultCapacity}
}

// Join connects the member called name, who finds what it had not acknowledged
// before it left. A name that is connected already is refused.
func (n *Network) Join(name string) (transport.Conn, error) {
	if name == "" {
		return nil, fmt.Errorf("mem: a member needs a name")
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	q := n.queues[name]
	if q == nil {
		q = n.newQueue()
		if n.queues == nil {
			n.queues = make(map[string]*queue)
		}
		n.queues[name] = q
	}
	c := &conn{network: n, name: name, queue: q, closed: make(chan struct{})}
	if !q.open(c) {
		return nil, fmt.Errorf("mem: %q is connected already; give each member its own name", name)
	}
	return c, nil
}

func (n *Network) newQueue() *queue {
	q := &queue{ackWait: n.AckWait, capacity: n.Capacity, changed: make(chan struct{})}
	if q.ackWait <= 0 {
		q.ackWait = DefaultAckWait
	}
	if q.capacity <= 0 {
		q.capacity = DefaultCapacity
	}
	return q
}

func (n *Network) lookup(name string) (*queue, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if q, ok := n.queues[name]; ok {
		return q, nil
	}
	return nil, fmt.Errorf("%w: %q never joined", transport.ErrNoMember, name)
}
