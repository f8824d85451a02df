package mem

import (
	"fmt"
	"sync"
	"time"

	"github.com/mercer-fl/mercer/transport"
)

// Defaults of a Network.
const (
	DefaultAckWait = 30 * time.Second
	DefaultShare   = 256
)

// Network joins the members of one process. Its fields must be set before the
// first Join; the zero value uses the defaults.
type Network struct {
	AckWait time.Duration // a delivery that is not settled by then is repeated
	Share   int           // messages of one sender in one queue, acknowledged ones apart

	mu    sync.Mutex
	boxes map[string]*box
}

// NewNetwork returns a network without members.
func NewNetwork() *Network {
	return &Network{AckWait: DefaultAckWait, Share: DefaultShare}
}

// Join connects the member called name, who finds what it had not acknowledged
// before it left. A name that is connected already is refused.
func (n *Network) Join(name string) (transport.Conn, error) {
	if name == "" {
		return nil, fmt.Errorf("mem: a member needs a name")
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	b := n.boxes[name]
	if b == nil {
		b = n.newBox()
		if n.boxes == nil {
			n.boxes = make(map[string]*box)
		}
		n.boxes[name] = b
	}
	c := &conn{network: n, name: name, box: b, closed: make(chan struct{})}
	if !b.open(c) {
		return nil, fmt.Errorf("mem: %q is connected already; give each member its own name", name)
	}
	return c, nil
}

func (n *Network) newBox() *box {
	b := &box{queues: make([]*queue, len(transport.Lanes()))}
	for i := range b.queues {
		b.queues[i] = &queue{ackWait: n.AckWait, share: n.Share, held: make(map[string]int), changed: make(chan struct{})}
		if n.AckWait <= 0 {
			b.queues[i].ackWait = DefaultAckWait
		}
		if n.Share <= 0 {
			b.queues[i].share = DefaultShare
		}
	}
	return b
}

func (n *Network) lookup(name string, lane transport.Lane) (*queue, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if b, ok := n.boxes[name]; ok {
		return b.queue(lane), nil
	}
	return nil, fmt.Errorf("%w: %q never joined", transport.ErrNoMember, name)
}
