package fdskl

import (
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/protocol"
)

func TestParams(t *testing.T) {
	p, err := NewParams(Spec{Rows: 5, Directions: 6})
	if err != nil {
		t.Fatal(err)
	}
	if s := p.Spec(); s.Mode != Hardened || s.Topology != Binary || s.Bits != 16 {
		t.Errorf("the defaults are %+v", s)
	}
	if back, err := DecodeParams(p.Encode()); err != nil || back != p {
		t.Errorf("decoded %+v, %v", back, err)
	}
	for want, s := range map[string]Spec{
		`mode is "secret"`:    {Mode: "secret", Rows: 1, Directions: 1},
		`topology is "ring"`:  {Topology: "ring", Rows: 1, Directions: 1},
		"phases have 12":      {Bits: 12, Rows: 1, Directions: 1},
		"0 aligned rows":      {Directions: 1},
		"-1 directions":       {Rows: 1, Directions: -1},
		"268435457 aligned":   {Rows: MaxRows + 1, Directions: 1},
		"16777217 directions": {Rows: 1, Directions: MaxDirections + 1},
	} {
		if _, err := NewParams(s); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

func TestSessionsThatAreRefused(t *testing.T) {
	p, err := NewParams(Spec{Rows: 5, Directions: 6})
	if err != nil {
		t.Fatal(err)
	}
	lead, a, b := protocol.Member{Name: "lead", Role: protocol.RoleLeader}, protocol.Member{Name: "a", Role: protocol.RoleParty}, protocol.Member{Name: "b", Role: protocol.RoleParty}
	several := []protocol.Member{lead}
	for i := range MaxWorkers {
		several = append(several, protocol.Member{Name: strings.Repeat("x", i+1), Role: protocol.RoleParty})
	}
	for name, d := range map[string]protocol.Descriptor{
		"nobody active":    {Protocol: Name, Version: Version, Params: p.Encode(), Members: []protocol.Member{a, b}},
		"nobody passive":   {Protocol: Name, Version: Version, Params: p.Encode(), Members: []protocol.Member{lead}},
		"a server":         {Protocol: Name, Version: Version, Params: p.Encode(), Members: []protocol.Member{lead, a, {Name: "hub", Role: protocol.RoleServer}}},
		"too many":         {Protocol: Name, Version: Version, Params: p.Encode(), Members: several},
		"another protocol": {Protocol: "scale", Version: Version, Params: p.Encode(), Members: []protocol.Member{lead, a}},
		"another version":  {Protocol: Name, Version: Version + 1, Params: p.Encode(), Members: []protocol.Member{lead, a}},
		"no parameters":    {Protocol: Name, Version: Version, Members: []protocol.Member{lead, a}},
	} {
		s, err := protocol.NewSession(d)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := ValidateSession(s); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
