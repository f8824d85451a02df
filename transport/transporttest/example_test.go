package transporttest_test

import (
	"fmt"

	"github.com/mercer-fl/mercer/transport/mem"
	"github.com/mercer-fl/mercer/transport/transporttest"
)

// These members can join the network under test. A test passes Run a function that makes
// such a network.
func ExampleMembers() {
	net := mem.NewNetwork()
	for _, name := range transporttest.Members() {
		conn, err := net.Join(name)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(name, conn.Close())
	}
	// Output:
	// north <nil>
	// south <nil>
	// east <nil>
	// server <nil>
}
