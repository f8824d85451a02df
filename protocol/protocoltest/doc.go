// Package protocoltest is a suite of property tests that every protocol must pass. A protocol
// supplies one [Case], small enough for some thousand runs, and [Run] tests these properties:
//
//	plain      every machine ends with the right result, within all limits
//	schedules  any order, delay, loss and duplicates: same results, same bytes
//	crashes    a crash at any event of any node and its replay: same bytes
//	input      a machine refuses to start with another input than it was built with
//	forged     another session, protocol, receiver, sender, round or kind is
//	           refused, blamed rightly, and changes nothing
//	hostile    cut, random and altered bodies and chunk numbers never panic, never
//	           give another result unless [Case].Trusts allows it, and change
//	           nothing when refused
//	slow       the amount of undelivered messages is bounded when one node is slow
//	pace       no step takes longer than a second
//	ended      a machine that has ended refuses every event
//	silent     a node that waits for a vanished peer ends by timer and names it, or
//	           a node that failed because of it
//
// In every run protocol/sim checks that headers are used once, that bodies and steps
// keep their limits and that no sender changes a sent body.
//
// A failure names the run and shows the end of its transcript. The suite's own
// tests run it on a set of broken protocols, so that each property is known to be
// able to fail.
//
//	func TestProperties(t *testing.T) {
//		protocoltest.Run(t, protocoltest.Protocol{Name: "greet", New: func(t testing.TB) protocoltest.Case {
//			return protocoltest.Case{
//				Session: session, Nodes: nodes, InFlight: 4096,
//				Check: func(name string, m protocol.Machine) error { ... },
//			}
//		}})
//	}
package protocoltest
