// Package link computes the time that the messages of a run would take on slow lines, although
// they travel on a fast network.
//
// Every member has its own line, with a rate in each direction, and every message has a latency.
// A virtual clock of each member advances when a message arrives. It does not advance while the
// member computes, so that the clock counts the network alone:
//
//	clock, err := link.NewClock(link.Line{Rate: 1.25e6, Latency: 100 * time.Millisecond, Loss: 0.02})
//	...
//	conn = clock.Conn("north", conn) // for every member
//	... the run ...
//	fmt.Println(clock.Elapsed())
//
// A message begins when its sender's clock and line are ready. It occupies the sender's line, and
// then the receiver's line, each for its bytes divided by the rate. Lost bytes are sent again, which
// lowers the rate by the share of lost bytes; the model leaves out a transport protocol's waits for lost
// bytes. Messages occupy a line in the order in which the run sends them. If two members send at the same
// time, that order can differ between runs, and so can the clock, slightly. Memory grows by about 100
// bytes for each message.
package link
