// Package mem is a network within one process, for simulations and tests.
//
//	net := mem.NewNetwork()
//	hospital, err := net.Join("hospital")
//	...
//	err = hospital.Send(ctx, "server", transport.Bulk, sealed)
//
// It has no goroutines and no disk: messages live as long as the [Network]
// does, across closed connections. Each sender has a share of each queue, counted
// in unacknowledged messages, delivered or not; Send waits while the share is
// exhausted. Members that only send and never receive can therefore wait for each
// other forever: run Send and Receive in separate goroutines.
package mem
