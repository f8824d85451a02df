// Package transporttest is the suite that every transport passes.
//
//	func TestConformance(t *testing.T) {
//		transporttest.Run(t, func(t *testing.T, ackWait time.Duration) transporttest.Join {
//			net := &mem.Network{AckWait: ackWait}
//			return net.Join
//		})
//	}
package transporttest
