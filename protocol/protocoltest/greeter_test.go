package protocoltest

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/sim"
)

// The greeters are a protocol for testing the suite. Round 1: each party sends the leader a
// greeting in small letters, in chunks that the leader takes in order. Round 2: the leader
// sends all parties the roll: the SHA-256 of all greetings in the order of the members, and
// the SHA-256 of that. A bug, if set, is active at the place where its name appears.
type greeter struct {
	session  *protocol.Session
	self     string
	greeting []byte
	bug      string
	started  bool
	ended    bool
	sent     int            // chunks of the greeting
	greeted  map[string]int // taken chunks
	heard    map[string][]byte
	arrival  []string // parties in the order of completion
	roll     []byte
}

const (
	greetingChunk = 64
	leader        = "ann"
)

func (g *greeter) Step(e protocol.Event) (protocol.Effects, error) {
	if g.ended && g.bug != "undead" {
		switch g.bug {
		case "panics after the end":
			panic("over")
		case "forgets its result after the end":
			g.roll = nil
		case "sends after the end":
			return protocol.Effects{Send: []protocol.Message{{}}}, errors.New("greet: over")
		}
		return protocol.Effects{}, errors.New("greet: the session has ended")
	}
	eff, err := g.step(e)
	g.ended = g.ended || err == nil && eff.End != nil
	return eff, err
}

func (g *greeter) step(e protocol.Event) (protocol.Effects, error) {
	switch e := e.(type) {
	case protocol.Start:
		if e.InputHash != sha256.Sum256(g.greeting) && g.bug != "ignores the input" {
			return protocol.Effects{}, errors.New("greet: another input")
		}
		g.started = true
		if g.bug == "sleeps" {
			time.Sleep(20 * time.Millisecond)
		}
		return g.begin(), nil
	case protocol.Resumed:
		return g.next(), nil
	case protocol.Expired:
		return g.expired(), nil
	case protocol.Received:
		if err := g.session.Check(e.Message.Header, g.self); err != nil && g.bug != "checks no header" {
			if g.bug == "counts before it checks" {
				g.greeting = append(g.greeting, 'x')
			}
			return protocol.Effects{}, err
		}
		if g.self == leader {
			return g.hear(e.Message)
		}
		return g.read(e.Message)
	}
	return protocol.Effects{}, fmt.Errorf("greet: event %T", e)
}

func (g *greeter) begin() protocol.Effects {
	if g.self == leader {
		return protocol.Effects{Arm: g.timer("greetings")}
	}
	eff := g.next()
	for g.bug == "floods" && eff.Resume {
		more := g.next()
		eff.Send, eff.Resume = append(eff.Send, more.Send...), more.Resume
	}
	eff.Arm = g.timer("roll")
	return eff
}

func (g *greeter) timer(name protocol.Timer) []protocol.Timer {
	if g.bug == "arms no timer" {
		return nil
	}
	return []protocol.Timer{name}
}

func (g *greeter) chunks() int { return (len(g.greeting) + greetingChunk - 1) / greetingChunk }

// next sends one chunk of the greeting.
func (g *greeter) next() protocol.Effects {
	h := g.session.Header(g.self, leader, 1, "Greeting")
	h.Chunk, h.Chunks = uint32(g.sent), uint32(g.chunks())
	body := g.greeting[g.sent*greetingChunk : min((g.sent+1)*greetingChunk, len(g.greeting))]
	g.sent++
	return protocol.Effects{Send: []protocol.Message{{Header: h, Body: bytes.Clone(body)}}, Resume: g.sent < g.chunks()}
}

func (g *greeter) refuse(party string, kind protocol.Kind, text string) (protocol.Effects, error) {
	if g.bug == "blames nobody" {
		return protocol.Effects{}, errors.New(text)
	}
	return protocol.Effects{}, protocol.Blame(party, kind, errors.New(text))
}

// hear takes a chunk at the leader.
func (g *greeter) hear(m protocol.Message) (protocol.Effects, error) {
	isParty := g.session.RoleOf(m.Sender) == protocol.RoleParty || g.bug == "hears anybody"
	if m.Round != 1 || m.Kind != "Greeting" || m.Sequence != 0 || !isParty {
		return g.refuse(m.Sender, protocol.KindUnexpected, "greet: no greeting of a party")
	}
	taken := g.greeted[m.Sender]
	switch {
	case int(m.Chunk) > taken && g.bug != "takes any chunk":
		return protocol.Effects{}, protocol.ErrLater
	case int(m.Chunk) < taken:
		return g.refuse(m.Sender, protocol.KindUnexpected, "greet: this chunk again")
	}
	if g.bug == "changes before it checks" {
		g.greeted[m.Sender]++
	}
	last := m.Chunk == m.Chunks-1
	if !isGreeting(m.Body, last) {
		return g.refuse(m.Sender, protocol.KindMalformed, "greet: not a greeting")
	}
	g.greeted[m.Sender] = taken + 1
	g.heard[m.Sender] = append(g.heard[m.Sender], m.Body...)
	if last {
		g.arrival = append(g.arrival, m.Sender)
	}
	if len(g.arrival) < len(g.session.Members)-1 {
		return protocol.Effects{}, nil
	}
	return g.sendRoll(), nil
}

// isGreeting: only the last chunk is short, and there are small letters only.
func isGreeting(b []byte, last bool) bool {
	for _, c := range b {
		if c < 'a' || c > 'z' {
			return false
		}
	}
	return len(b) == greetingChunk || last && len(b) > 0 && len(b) < greetingChunk
}

func (g *greeter) sendRoll() protocol.Effects {
	parties := g.session.With(protocol.RoleParty)
	switch g.bug {
	case "adds in the order of arrival":
		parties = g.arrival
	case "ranges over a map":
		parties = nil
		for p := range g.heard {
			parties = append(parties, p)
		}
	}
	for _, p := range parties {
		sum := sha256.Sum256(g.heard[p])
		g.roll = append(g.roll, sum[:]...)
	}
	sum := sha256.Sum256(g.roll)
	g.roll = append(g.roll, sum[:]...)
	eff := protocol.Effects{End: &protocol.End{}}
	for _, p := range g.session.With(protocol.RoleParty) {
		aside := protocol.Message{Header: g.session.Header(leader, p, 2, "Aside")}
		if g.bug == "sends what is refused" {
			eff.Send = append(eff.Send, aside)
		}
		m := protocol.Message{Header: g.session.Header(leader, p, 2, "Roll"), Body: bytes.Clone(g.roll)}
		eff.Send = append(eff.Send, m)
		if g.bug == "sends less in disorder" && slices.Equal(g.arrival, g.session.With(protocol.RoleParty)) {
			eff.Send = append(eff.Send, aside)
		}
		if g.bug == "uses a header twice" {
			eff.Send = append(eff.Send, m)
		}
	}
	if g.bug == "gets it wrong" {
		g.roll[0]++
	}
	return eff
}

// read takes the roll at a party and looks for its own greeting in it.
func (g *greeter) read(m protocol.Message) (protocol.Effects, error) {
	if m.Sender != leader || m.Round != 2 || m.Kind != "Roll" || m.Sequence != 0 || m.Chunks != 1 {
		return g.refuse(m.Sender, protocol.KindUnexpected, "greet: no roll of the leader")
	}
	sum := sha256.Sum256(g.greeting)
	at := 32 * slices.Index(g.session.With(protocol.RoleParty), g.self)
	if g.bug == "panics on a short body" {
		_ = m.Body[at+31]
	}
	if n := 32 * (len(g.session.Members) - 1); len(m.Body) != n+32 || sha256.Sum256(m.Body[:n]) != [32]byte(m.Body[n:]) {
		return g.refuse(m.Sender, protocol.KindMalformed, "greet: no roll")
	}
	ownOrder := g.bug == "adds in the order of arrival" || g.bug == "ranges over a map"
	if !ownOrder && !bytes.Equal(m.Body[at:at+32], sum[:]) {
		return g.refuse(m.Sender, protocol.KindInconsistent, "greet: the roll lacks my greeting")
	}
	g.roll = m.Body
	return protocol.Effects{End: &protocol.End{}}, nil
}

func (g *greeter) expired() protocol.Effects {
	missing, kind := leader, protocol.KindSilent
	if g.self == leader {
		for _, p := range g.session.With(protocol.RoleParty) {
			if !slices.Contains(g.arrival, p) {
				missing = p
				break
			}
		}
	}
	switch {
	case g.bug == "goes on without the missing" && g.self == leader:
		return g.sendRoll()
	case g.bug == "panics on an early timer" && g.sent < g.chunks() && g.self != leader:
		panic("too early")
	case g.bug == "blames the first" && g.self == leader:
		missing = g.session.With(protocol.RoleParty)[0]
	}
	switch g.bug {
	case "blames the wrong one":
		missing = g.session.With(protocol.RoleParty)[0]
	case "blames wrongly":
		kind = protocol.KindAborted
	}
	return protocol.Effects{End: &protocol.End{Err: protocol.Blame(missing, kind, errors.New("greet: nothing came"))}}
}

// greetings returns the greeters with one bug, or with none.
func greetings(bug string) func(testing.TB) Case {
	return func(t testing.TB) Case {
		members := []protocol.Member{{Name: leader, Role: protocol.RoleLeader}}
		for _, name := range []string{"bob", "cy", "dee", "eve"} {
			members = append(members, protocol.Member{Name: name, Role: protocol.RoleParty})
		}
		s, err := protocol.NewSession(protocol.Descriptor{Protocol: "greet", Version: 1, Members: members})
		if err != nil {
			t.Fatal(err)
		}
		c := Case{
			Session: s, InFlight: int64(len(members)) * greetingChunk * Window,
			Trusts: func(h protocol.Header) bool { return h.Kind == "Greeting" },
		}
		var roll []byte // the result of all greeters
		builds := 0
		for i, m := range members {
			text := bytes.Repeat([]byte{byte('a' + i)}, 160*i)
			if m.Role == protocol.RoleParty {
				sum := sha256.Sum256(text)
				roll = append(roll, sum[:]...)
			}
			c.Nodes = append(c.Nodes, sim.Node{
				Name: m.Name, InputHash: sha256.Sum256(text), Timers: map[protocol.Timer]int64{"greetings": 100, "roll": 200},
				New: func() (protocol.Machine, error) {
					builds++
					text := text
					if bug == "draws outside its seed" && m.Role == protocol.RoleParty {
						text = append(bytes.Clone(text[:len(text)-2]), byte('a'+builds%20), byte('a'+builds/20%20))
					}
					g := &greeter{session: s, self: m.Name, greeting: text, bug: bug, greeted: make(map[string]int), heard: make(map[string][]byte)}
					if bug == "draws outside its seed" {
						g.bug = "ignores the input"
					}
					return g, nil
				},
			})
		}
		sum := sha256.Sum256(roll)
		roll = append(roll, sum[:]...)
		c.Check = func(_ string, m protocol.Machine) error {
			if got := m.(*greeter).roll; !bytes.Equal(got, roll) && bug != "draws outside its seed" && bug != "ranges over a map" {
				return fmt.Errorf("roll %x, want %x", got, roll)
			}
			return nil
		}
		return c
	}
}
