package transport_test

import (
	"context"
	"fmt"
	"time"

	"github.com/mercer-fl/mercer/transport"
	"github.com/mercer-fl/mercer/transport/mem"
)

// A receiver settles each delivery: it puts back a message for which it has no room, and
// acknowledges a message that it keeps. A message that was put back is delivered again.
func Example() {
	ctx := context.Background()
	net := mem.NewNetwork()
	hub, err := net.Join("hub")
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := hub.Send(ctx, "hub", transport.Control, []byte("sealed")); err != nil {
		fmt.Println(err)
		return
	}
	for try := 1; try <= 2; try++ {
		d, err := hub.Receive(ctx, transport.Control)
		if err != nil {
			fmt.Println(err)
			return
		}
		settle := d.Ack
		if try == 1 {
			settle = func() error { return d.Later(time.Millisecond) }
		}
		fmt.Printf("%s, try %d, error: %v\n", d.Data, try, settle())
	}
	// Output:
	// sealed, try 1, error: <nil>
	// sealed, try 2, error: <nil>
}
