// Package transporttest is the test suite that every transport must pass.
//
//	func TestConformance(t *testing.T) {
//		transporttest.Run(t, func(t *testing.T, n transporttest.Network) transporttest.Join {
//			net := &mem.Network{AckWait: n.AckWait, Share: n.Share}
//			return net.Join
//		})
//	}
package transporttest
