// Package protocol defines the contract between a protocol and its runner.
//
// A protocol is a value: a [Machine] is a pure function of a seed, a
// [Descriptor], the party's private input and the events it has accepted. It
// opens no socket, reads no clock and draws no randomness of its own, so that
// the same machine runs unchanged under the deterministic network of
// protocol/sim, inside "mercer simulate", and in a daemon that can be killed
// at any instruction and started again.
//
// The runner of a machine obeys its [Effects] in this order:
//
//  1. append the accepted event, with the digest of every message that the
//     step sends, to the journal; with Sync, wait until it is on disk
//  2. claim the names in Claim in the party's ledger, where only one session can ever claim a name
//  3. send the messages in Send
//  4. arm the timers in Arm
//  5. with Resume, call Step(Resumed{}) when there is room for more output
//  6. with End, stop
//
// An error from Step refuses the event: the machine's state is unchanged, and
// the event is not journalled. If the event is a message, the session
// continues. A session ends by End, or when the machine refuses another event,
// or when the runner cannot go on.
//
// A replay of the journal gives the same messages, byte for byte. Therefore a
// machine never ranges over a map into its output, adds floats in the order of
// the descriptor and never in order of arrival, and derives every random byte
// from its seed or from [Setup].Anew.
//
// A machine for two parties that greet each other:
//
//	func (m *greeter) Step(e protocol.Event) (protocol.Effects, error) {
//		return m.life.Step(m.setup, e, protocol.Handlers{Start: m.start, Receive: m.receive})
//	}
//
//	func (m *greeter) start(protocol.Start) (protocol.Effects, error) {
//		return protocol.Effects{Send: []protocol.Message{m.greeting()}}, nil
//	}
//
//	func (m *greeter) receive(protocol.Message) (protocol.Effects, error) {
//		return protocol.Finish(protocol.Effects{}, nil)
//	}
//
// A [Life] refuses events that are out of order and messages of other sessions, so
// that the handlers hold the protocol alone.
package protocol
