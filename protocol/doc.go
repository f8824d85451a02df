// Package protocol is the contract between a protocol and whatever runs it.
//
// A protocol is a value: a [Machine] is a pure function of a seed, a
// [Descriptor], the party's private input and the events it has accepted. It
// opens no socket, reads no clock and draws no randomness of its own, so that
// the same machine runs unchanged under the deterministic network of
// protocol/sim, inside "mercer simulate", and in a daemon that may be killed
// at any instruction and started again.
//
// Whoever runs a machine obeys its [Effects] in this order:
//
//  1. append the accepted event, with the digest of every message that the
//     step sends, to the journal; with Sync, wait until it is on disk
//  2. take the names in Claim in the party's ledger of once-for-ever names
//  3. hand over the messages in Send
//  4. arm the timers in Arm
//  5. with Resume, call Step(Resumed{}) when there is room for more output
//  6. with End, stop
//
// An error from Step refuses the event: the machine's state is unchanged, the
// event is not journalled, and the session lives on. Only End ends a session.
//
// A replay of the journal gives the same messages, byte for byte. Therefore a
// machine never ranges over a map into its output, adds floats in the order of
// the descriptor and never in order of arrival, and derives every random byte
// from its seed.
//
// A machine for two parties that greet each other:
//
//	func (m *greeter) Step(e protocol.Event) (protocol.Effects, error) {
//		switch e := e.(type) {
//		case protocol.Start:
//			return protocol.Effects{Send: []protocol.Message{m.greeting()}}, nil
//		case protocol.Received:
//			if err := m.session.Check(e.Message.Header, m.self); err != nil {
//				return protocol.Effects{}, err
//			}
//			return protocol.Effects{End: &protocol.End{}}, nil
//		}
//		return protocol.Effects{}, nil
//	}
package protocol
