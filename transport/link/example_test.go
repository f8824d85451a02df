package link_test

import (
	"context"
	"fmt"
	"time"

	"github.com/mercer-fl/mercer/transport"
	"github.com/mercer-fl/mercer/transport/link"
	"github.com/mercer-fl/mercer/transport/mem"
)

// A megabyte takes most of a second on a line of 1.25 MB a second; here it moves at once.
func Example() {
	clock, err := link.NewClock(link.Line{Rate: 1.25e6, Latency: 100 * time.Millisecond, Loss: 0.02})
	if err != nil {
		fmt.Println(err)
		return
	}
	net, ctx := mem.NewNetwork(), context.Background()
	north, err := net.Join("north")
	if err != nil {
		fmt.Println(err)
		return
	}
	south, err := net.Join("south")
	if err != nil {
		fmt.Println(err)
		return
	}
	north, south = clock.Conn("north", north), clock.Conn("south", south)
	if err := north.Send(ctx, "south", transport.Bulk, make([]byte, 1e6)); err != nil {
		fmt.Println(err)
		return
	}
	if _, err := south.Receive(ctx, transport.Bulk); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(clock.Elapsed().Round(time.Millisecond))
	// Output: 916ms
}
