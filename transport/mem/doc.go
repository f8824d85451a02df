// Package mem is a network within one process, for simulations and tests.
//
//	net := mem.NewNetwork()
//	hospital, err := net.Join("hospital")
//	...
//	err = hospital.Send(ctx, "server", sealed)
//
// It has no goroutines and no disk: messages live as long as the [Network]
// does, across closed connections. Queues are bounded in bytes, counting
// messages that were delivered but not acknowledged; Send waits while the
// receiver's queue is full. Members that only send and never receive can
// therefore wait for each other for ever: give Send and Receive a goroutine
// each.
package mem
