// Package sim runs the machines of one session over a deterministic network:
// no goroutine, no clock, and one seed that decides every delay, loss,
// duplicate and crash. The same [Config] gives the same run to the last byte,
// so that a schedule that fails once fails every time.
//
// Delivery is at-least-once, as with a broker: a lost message comes again, a
// duplicate may arrive at any later moment, and [protocol.Inbox] sorts them
// out as it does in the real driver. Effects are obeyed in the order that
// package protocol lays down. Time is counted in ticks, one for each thing
// that happens; a timer fires only when nothing else can happen, and then time
// jumps. With Schedule.Prompt it fires at its tick, and arming it again begins
// anew, as in the real driver.
//
// A crash strikes right after an event was journalled and before any of its
// effects: the machine is dropped, rebuilt by [Node].New and fed its journal
// again. Every replayed step must ask for what the first run asked for, byte
// for byte, and the run goes on with the effects of the replay.
//
// The simulation also holds machines to the limits that every runner relies
// on: sizes, headers that are used once, bodies that the sender leaves alone
// after sending. A machine that breaks one gets a [*ContractError], and so does a panic.
//
// What the real driver adds and sim leaves out: signatures and sealing (a test
// plays a malicious member with Intercept), and the Abort that a driver sends
// to its peers when its machine ends with an error.
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
