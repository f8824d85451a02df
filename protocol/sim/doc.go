// Package sim runs the machines of one session over a deterministic, simulated network. It uses no
// goroutine and no clock, and one seed decides every delay, loss, duplicate and crash. The same
// [Config] gives the same run to the last byte, so that a schedule that fails once fails every
// time.
//
// Delivery is at-least-once, as with a broker: a lost message arrives later, a
// duplicate may arrive at any later moment, and [protocol.Inbox] removes duplicates
// as it does in the real driver. Effects are carried out in the order that
// package protocol gives. Time is counted in ticks, one for each event; a timer
// fires only when no other event is possible, and then time jumps. Schedule.Hasty
// is the probability that a timer fires earlier. With Schedule.Prompt a timer fires
// at its tick, as in the real driver. Arming a timer again restarts it.
//
// A crash occurs right after an event was journalled and before any of its
// effects: the machine is dropped, rebuilt by [Node].New and fed its journal
// again. Every replayed step must have the effects of the first run, byte for
// byte (except its progress), and the run continues with the effects of the replay.
//
// The simulation also enforces the limits on which every runner relies: sizes,
// headers that are used once, bodies that the sender does not change after
// sending. A machine that breaks one gives a [*ContractError], and so does a panic.
//
// The real driver adds signatures, sealing, and an Abort to the peers of a machine
// that ends with an error. Package sim leaves these out; a test plays a malicious
// member with Intercept.
//
//	result, err := sim.Run(sim.Config{
//		Session:  session,
//		Nodes:    nodes,
//		Schedule: sim.Schedule{Seed: 1, Loss: 0.2, Duplicate: 0.2, Reorder: 1, MaxDelay: 20},
//	})
//	if err == nil {
//		err = result.Err()
//	}
//	if err != nil {
//		t.Fatal(err)
//	}
//	fmt.Print(result.Transcript())
package sim
