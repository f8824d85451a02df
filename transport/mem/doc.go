// Package mem is a network within one process, for simulations and tests.
//
//	net := mem.NewNetwork()
//	hospital, err := net.Join("hospital")
//	...
//	err = hospital.Send(ctx, "server", transport.Bulk, sealed)
//
// It has no goroutines and no disk: messages live as long as the [Network]
// does, across closed connections. Each sender has a share of each queue, counted
// in messages, with those that were delivered but not acknowledged; Send waits
// while it is used up. Members that only send and never receive can therefore
// wait for each other without end: give Send and Receive a goroutine each.
package mem
