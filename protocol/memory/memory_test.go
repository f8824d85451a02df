package memory_test

import (
	"crypto/ed25519"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/collective"
	"github.com/mercer-fl/mercer/protocol/columnorder"
	"github.com/mercer-fl/mercer/protocol/memory"
	"github.com/mercer-fl/mercer/protocol/okra"
	"github.com/mercer-fl/mercer/protocol/psi"
	"github.com/mercer-fl/mercer/protocol/scale"
	"github.com/mercer-fl/mercer/protocol/secagg"
)

// script is a machine that answers each event by its functions.
type script struct {
	setup protocol.Setup
	seen  []string // kinds of messages, and "start" and "resumed"
	step  func(m *script, kind string) (protocol.Effects, error)
}

func (m *script) Step(e protocol.Event) (protocol.Effects, error) {
	kind := "start"
	switch e := e.(type) {
	case protocol.Received:
		kind = e.Message.Kind
	case protocol.Resumed:
		kind = "resumed"
	}
	effects, err := m.step(m, kind)
	if err == nil {
		m.seen = append(m.seen, kind)
	}
	return effects, err
}

func (m *script) send(to string, kinds ...string) (list []protocol.Message) {
	for i, kind := range kinds {
		one := m.setup.Message(to, 1, kind, nil)
		one.Sequence = uint32(len(m.seen)<<8 + i)
		list = append(list, one)
	}
	return list
}

func ends(*script, string) (protocol.Effects, error) { return protocol.Finish(protocol.Effects{}, nil) }

func waits(*script, string) (protocol.Effects, error) { return protocol.Effects{}, nil }

// session has members a, b and c, of which scripts are given.
func session(steps map[string]func(*script, string) (protocol.Effects, error)) (*memory.Session, map[string]*script) {
	s := memory.New(protocol.Descriptor{Protocol: "toy", Members: protocol.Members(protocol.RoleParty, "a", "b", "c")})
	scripts := make(map[string]*script)
	for _, name := range []string{"a", "b", "c"} {
		if steps[name] != nil {
			scripts[name] = &script{setup: s.Setup(name), step: steps[name]}
			s.Add(name, scripts[name], nil)
		}
	}
	return s, scripts
}

type steps = map[string]func(*script, string) (protocol.Effects, error)

func TestMessagesComeInOrder(t *testing.T) {
	s, at := session(steps{
		"a": func(m *script, kind string) (protocol.Effects, error) {
			return protocol.Effects{Send: m.send("c", "first", "second"), End: &protocol.End{}}, nil
		},
		"b": ends,
		"c": func(m *script, kind string) (protocol.Effects, error) {
			if kind == "second" {
				return protocol.Finish(protocol.Effects{}, nil)
			}
			return protocol.Effects{}, nil
		},
	})
	if err := s.Run(); err != nil {
		t.Fatal(err)
	}
	if got := at["c"].seen; !slices.Equal(got, []string{"start", "first", "second"}) {
		t.Errorf("c saw %v", got)
	}
	if err := s.Run(); err == nil || !strings.Contains(err.Error(), "has run") {
		t.Errorf("a second run: %v", err)
	}
}

// A deferred message is offered again, before later ones, once its receiver has accepted
// another; its sender does not resume meanwhile.
func TestPutOffMessageComesAgain(t *testing.T) {
	s, at := session(steps{
		"a": func(m *script, kind string) (protocol.Effects, error) {
			if kind == "start" {
				return protocol.Effects{Send: m.send("c", "early"), Resume: true}, nil
			}
			return protocol.Effects{Send: m.send("c", "last"), End: &protocol.End{}}, nil
		},
		"b": func(m *script, kind string) (protocol.Effects, error) {
			if kind == "start" {
				return protocol.Effects{Resume: true}, nil
			}
			return protocol.Effects{Send: m.send("c", "awaited"), End: &protocol.End{}}, nil
		},
		"c": func(m *script, kind string) (protocol.Effects, error) {
			switch {
			case kind == "early" && !slices.Contains(m.seen, "awaited"):
				return protocol.Effects{}, protocol.ErrLater
			case kind == "last":
				return protocol.Finish(protocol.Effects{}, nil)
			}
			return protocol.Effects{}, nil
		},
	})
	if err := s.Run(); err != nil {
		t.Fatal(err)
	}
	if got := at["c"].seen; !slices.Equal(got, []string{"start", "awaited", "early", "last"}) {
		t.Errorf("c saw %v", got)
	}
}

// A message of a part that its receiver has left is dropped, and the session continues.
func TestLateMessageIsDropped(t *testing.T) {
	s, at := session(steps{
		"a": func(m *script, _ string) (protocol.Effects, error) {
			return protocol.Effects{Send: m.send("c", "late", "last"), End: &protocol.End{}}, nil
		},
		"b": ends,
		"c": func(_ *script, kind string) (protocol.Effects, error) {
			switch kind {
			case "late":
				return protocol.Effects{}, protocol.ErrPast
			case "last":
				return protocol.Finish(protocol.Effects{}, nil)
			}
			return protocol.Effects{}, nil
		},
	})
	if err := s.Run(); err != nil {
		t.Fatal(err)
	}
	if got := at["c"].seen; !slices.Equal(got, []string{"start", "last"}) {
		t.Errorf("c accepted %v", got)
	}
}

// A member that alone can continue does so, even with deferred messages.
func TestSenderGoesOnIfNobodyElseCan(t *testing.T) {
	s, at := session(steps{
		"a": func(m *script, kind string) (protocol.Effects, error) {
			if kind == "start" {
				return protocol.Effects{Send: m.send("b", "early"), Resume: true}, nil
			}
			return protocol.Effects{Send: m.send("b", "awaited"), End: &protocol.End{}}, nil
		},
		"b": func(m *script, kind string) (protocol.Effects, error) {
			switch {
			case kind == "early" && len(m.seen) == 1:
				return protocol.Effects{}, protocol.ErrLater
			case kind == "early":
				return protocol.Finish(protocol.Effects{}, nil)
			}
			return protocol.Effects{}, nil
		},
		"c": ends,
	})
	if err := s.Run(); err != nil {
		t.Fatal(err)
	}
	if got := at["b"].seen; !slices.Equal(got, []string{"start", "awaited", "early"}) {
		t.Errorf("b saw %v", got)
	}
}

func TestRunNamesWhatWentWrong(t *testing.T) {
	broken := errors.New("broken")
	for name, tt := range map[string]struct {
		steps steps
		is    error
		want  string
	}{
		"nobody moves": {steps{"a": ends, "b": waits, "c": waits}, memory.ErrStalled, "memory: no machine can continue, and b, c did not end"},
		"a message that is never taken": {steps{"b": waits, "c": ends, "a": func(m *script, kind string) (protocol.Effects, error) {
			return protocol.Effects{Send: m.send("b", "early"), End: &protocol.End{}}, nil
		}}, memory.ErrStalled, "b did not end"},
		"a refused event": {steps{"a": ends, "b": func(*script, string) (protocol.Effects, error) { return protocol.Effects{}, broken }, "c": ends}, broken, "memory: b: broken"},
		"a bad end": {steps{"a": ends, "b": ends, "c": func(*script, string) (protocol.Effects, error) {
			return protocol.Finish(protocol.Effects{}, broken)
		}}, broken, "memory: c ended with an error: broken"},
		"a message to a stranger": {steps{"b": ends, "c": ends, "a": func(m *script, kind string) (protocol.Effects, error) {
			return protocol.Effects{Send: m.send("d", "x")}, nil
		}}, nil, "a machine must send in its own name and to another member"},
		"a missing machine": {steps{"a": ends, "b": ends}, nil, "memory: c has no machine"},
	} {
		t.Run(name, func(t *testing.T) {
			s, _ := session(tt.steps)
			if b := tt.steps["b"]; b != nil && name == "a message that is never taken" {
				s, _ = session(steps{"a": tt.steps["a"], "c": ends, "b": func(m *script, kind string) (protocol.Effects, error) {
					if kind == "start" {
						return protocol.Effects{}, nil
					}
					return protocol.Effects{}, protocol.ErrLater
				}})
			}
			err := s.Run()
			if err == nil || !strings.Contains(err.Error(), tt.want) || tt.is != nil && !errors.Is(err, tt.is) {
				t.Errorf("%v, want %q", err, tt.want)
			}
		})
	}
}

// The first error is kept, whatever errors follow.
func TestFirstErrorIsKept(t *testing.T) {
	for name, tt := range map[string]struct {
		spoil func(*memory.Session)
		want  string
	}{
		"a member that is none": {func(s *memory.Session) { s.Setup("d") }, `memory: the session has no member "d"`},
		"a key that is none":    {func(s *memory.Session) { s.Sign("d") }, `memory: the session has no member "d"`},
		"a constructor's error": {func(s *memory.Session) { s.Add("a", nil, errors.New("too few rows")) }, "memory: the constructor of the machine of a failed: too few rows"},
		"two machines":          {func(s *memory.Session) { s.Add("a", new(script), nil) }, "memory: a has two machines"},
	} {
		t.Run(name, func(t *testing.T) {
			s, _ := session(steps{"a": ends, "b": ends, "c": ends})
			tt.spoil(s)
			s.Add("e", nil, errors.New("another error"))
			if err := s.Run(); err == nil || err.Error() != tt.want {
				t.Errorf("%v, want %q", err, tt.want)
			}
		})
	}
}

// With an invalid descriptor every constructor returns an error, and none panics.
func TestBadDescriptorIsToldByRun(t *testing.T) {
	s := memory.New(protocol.Descriptor{})
	sums, err := secagg.NewParams(secagg.Spec{Minimum: 2, Epoch: "2026", Groups: []secagg.Group{{Entries: 1, Bound: 1}}}, 3)
	if err != nil {
		t.Fatal(err)
	}
	ids, err := psi.NewParams(psi.Spec{MaxIDs: 3})
	if err != nil {
		t.Fatal(err)
	}
	encoder, err := okra.NewParams(okra.Spec{})
	if err != nil {
		t.Fatal(err)
	}
	for name, build := range map[string]func(protocol.Setup) (protocol.Machine, error){
		"secagg": func(at protocol.Setup) (protocol.Machine, error) {
			return secagg.NewServer(at, sums, s.Keys(), secagg.Limits{})
		},
		"psi":   func(at protocol.Setup) (protocol.Machine, error) { return psi.NewServer(at, ids) },
		"okra":  func(at protocol.Setup) (protocol.Machine, error) { return okra.NewServer(at, encoder, okra.Limits{}) },
		"scale": func(at protocol.Setup) (protocol.Machine, error) { return scale.NewLeader(at, scale.Statistics{}) },
		"heading": func(at protocol.Setup) (protocol.Machine, error) {
			return columnorder.NewLeader(at, columnorder.Table{})
		},
		"declare":   func(at protocol.Setup) (protocol.Machine, error) { return collective.NewAllGatherServer(at) },
		"broadcast": func(at protocol.Setup) (protocol.Machine, error) { return collective.NewBroadcastServer(at, nil) },
	} {
		m, err := build(s.Setup("server"))
		if err == nil {
			t.Errorf("%s is content with a session of nothing", name)
		}
		s.Add("server", m, err)
	}
	if err := s.Run(); err == nil || !strings.Contains(err.Error(), "names no protocol") {
		t.Errorf("%v", err)
	}
}

// Two sessions of the same descriptor have other names, seeds and keys.
func TestEverySessionIsFresh(t *testing.T) {
	d := protocol.Descriptor{Protocol: "toy", Members: protocol.Members(protocol.RoleParty, "a", "b")}
	one, two := memory.New(d), memory.New(d)
	if one.ID() == two.ID() || one.Setup("a").Seed == two.Setup("a").Seed || one.Setup("a").Seed == one.Setup("b").Seed {
		t.Error("two sessions or two members share a secret")
	}
	d.Nonce = [32]byte{1}
	if three, four := memory.New(d), memory.New(d); three.ID() != four.ID() || three.Setup("a").Seed == four.Setup("a").Seed {
		t.Error("a nonce that was given is not kept, or a seed is")
	}
	keys := one.Keys(protocol.RoleParty)
	if len(keys) != 2 || len(one.Keys(protocol.RoleServer)) != 0 || !ed25519.Verify(keys[1], []byte("text"), one.Sign("b")([]byte("text"))) {
		t.Error("b does not sign under its key")
	}
}

// A name that one session claimed is refused to the next under the same ledger.
func TestNamesAreGivenOnce(t *testing.T) {
	claims := func(*script, string) (protocol.Effects, error) {
		return protocol.Finish(protocol.Effects{Claim: []string{"epoch 1"}}, nil)
	}
	var ledger memory.Ledger
	for i, want := range []string{"", `the name "epoch 1" of a is taken`} {
		s, _ := session(steps{"a": claims, "b": ends, "c": ends})
		s.Ledger = &ledger
		if err := s.Run(); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("session %d: %v", i, err)
		}
	}
	id := protocol.SessionID{7}
	for range 2 { // a replay claims it again
		if err := ledger.Claim("b", "epoch 1", id); err != nil {
			t.Error(err)
		}
	}
}

// Sent is called with every message once, with its body, before the receiver has it.
func TestSent(t *testing.T) {
	s, scripts := session(map[string]func(*script, string) (protocol.Effects, error){
		"a": func(m *script, _ string) (protocol.Effects, error) {
			return protocol.Finish(protocol.Effects{Send: append(m.send("b", "One", "Two"), m.send("c", "Three")...)}, nil)
		},
		"b": func(m *script, kind string) (protocol.Effects, error) {
			if kind == "Two" {
				return protocol.Finish(protocol.Effects{}, nil)
			}
			return protocol.Effects{}, nil
		},
		"c": func(m *script, kind string) (protocol.Effects, error) {
			if kind == "Three" {
				return protocol.Finish(protocol.Effects{}, nil)
			}
			return protocol.Effects{}, nil
		},
	})
	var told []string
	s.Sent = func(m protocol.Message) {
		told = append(told, m.Sender+" "+m.Receiver+" "+m.Kind)
		if slices.Contains(scripts[m.Receiver].seen, m.Kind) {
			t.Errorf("%s had %s before it was sent", m.Receiver, m.Kind)
		}
	}
	if err := s.Run(); err != nil {
		t.Fatal(err)
	}
	if want := []string{"a b One", "a b Two", "a c Three"}; !slices.Equal(told, want) {
		t.Errorf("told %v, want %v", told, want)
	}
}
