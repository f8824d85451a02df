package protocol_test

import (
	"fmt"

	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/memory"
)

// greeter is a machine for two parties that greet each other.
type greeter struct {
	setup protocol.Setup
	life  protocol.Life
	Heard string // read it when the session has ended
}

func (g *greeter) Step(e protocol.Event) (protocol.Effects, error) {
	return g.life.Step(g.setup, e, protocol.Handlers{Start: g.start, Receive: g.receive})
}

func (g *greeter) start(protocol.Start) (protocol.Effects, error) {
	effects := protocol.Effects{Sync: true}
	for _, m := range g.setup.Session.Members {
		if m.Name != g.setup.Self {
			effects.Send = append(effects.Send, g.setup.Message(m.Name, 1, "Greeting", []byte("hello "+m.Name)))
		}
	}
	return effects, nil
}

func (g *greeter) receive(m protocol.Message) (protocol.Effects, error) {
	if m.Kind != "Greeting" {
		return protocol.Effects{}, m.Unexpected()
	}
	g.Heard = string(m.Body)
	return protocol.Finish(protocol.Effects{}, nil)
}

// A protocol is a machine for each member. Package memory runs them in one process.
func Example() {
	s := memory.New(protocol.Descriptor{Protocol: "greet", Members: protocol.Members(protocol.RoleParty, "north", "south")})
	north, south := &greeter{setup: s.Setup("north")}, &greeter{setup: s.Setup("south")}
	s.Add("north", north, nil)
	s.Add("south", south, nil)
	fmt.Println(s.Run(), north.Heard, south.Heard)
	// Output: <nil> hello north hello south
}
