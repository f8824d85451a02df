package mem_test

import (
	"testing"

	"github.com/mercer-fl/mercer/transport/mem"
	"github.com/mercer-fl/mercer/transport/transporttest"
)

func TestConformance(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	transporttest.Run(t, func(t *testing.T, n transporttest.Network) transporttest.Join {
		net := &mem.Network{AckWait: n.AckWait, Share: n.Share}
		for _, name := range transporttest.Members() {
			c, err := net.Join(name)
			if err != nil {
				t.Fatal(err)
			}
			if err := c.Close(); err != nil {
				t.Fatal(err)
			}
		}
		return net.Join
	})
}
