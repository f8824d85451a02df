package sealed

import (
	"bytes"
	"reflect"
	"slices"
	"testing"

	"github.com/mercer-fl/mercer/protocol"
)

func someParams(t testing.TB) Params {
	t.Helper()
	p, err := NewProblem(350, 5, 2, .05)
	if err != nil {
		t.Fatal(err)
	}
	return Params{Problem: p, Keepers: [3]string{"a", "b", "c"}, Rows: []int{100, 150, 100}}
}

func TestParamsRoundTrip(t *testing.T) {
	p := someParams(t)
	q, err := DecodeParams(p.Encode())
	if err != nil || !reflect.DeepEqual(p, q) {
		t.Errorf("%+v becomes %+v (%v)", p, q, err)
	}
}

// Parameters that a session cannot have are refused, also in their encoding.
func TestParamsRefuse(t *testing.T) {
	for what, change := range map[string]func(*Params){
		"one party":         func(p *Params) { p.Rows = []int{350} },
		"no party":          func(p *Params) { p.Rows = nil },
		"a party of none":   func(p *Params) { p.Rows = []int{350, 0} },
		"too many rows":     func(p *Params) { p.Rows = []int{MaxRows + 1, 100} },
		"two same keepers":  func(p *Params) { p.Keepers[2] = "a" },
		"a nameless keeper": func(p *Params) { p.Keepers[1] = "" },
		"few steps":         func(p *Params) { p.Plan.Steps = 4 },
		"blocks of three":   func(p *Params) { p.Plan.Block = 3 },
		"no features":       func(p *Params) { p.Features = 0 },
		"many targets":      func(p *Params) { p.Targets = MaxTargets + 1 },
		"no ridge":          func(p *Params) { p.Ridge = 0 },
		"a negative ridge":  func(p *Params) { p.Ridge = -1 },
	} {
		p := someParams(t)
		change(&p)
		if p.Check() == nil {
			t.Errorf("%s: no error", what)
		}
		if _, err := DecodeParams(p.Encode()); err == nil {
			t.Errorf("%s: no error from the encoding", what)
		}
	}
	p := someParams(t)
	if p.Problem.Rows++; p.Check() == nil {
		t.Error("another number of rows than the parties'")
	}
	b := someParams(t).Encode()
	for n := range b {
		if _, err := DecodeParams(b[:n]); err == nil {
			t.Errorf("the first %d bytes", n)
		}
	}
	if _, err := DecodeParams(append(b, 0)); err == nil {
		t.Error("a byte more")
	}
}

func TestFloors(t *testing.T) {
	for _, c := range []struct {
		rows []int
		ok   bool
	}{
		{[]int{100, 100}, true}, {[]int{100, 300}, true}, {[]int{100, 301}, false}, {[]int{99, 100}, false},
		{[]int{100, 200, 100}, true}, {[]int{100, 201, 100}, false}, {[]int{100, 100, 99, 100}, false}, {[]int{100, 100, 100}, true},
	} {
		p := Params{Rows: c.rows}
		for _, n := range c.rows {
			p.Problem.Rows += n
		}
		if err := p.Floors(); (err == nil) != c.ok {
			t.Errorf("%v: %v", c.rows, err)
		}
	}
}

// What decodes passes its check and encodes to the same bytes.
func FuzzParams(f *testing.F) {
	f.Add(someParams(f).Encode())
	private := someParams(f)
	private.Problem = privateProblem(f, 350, 5, 2, 4)
	f.Add(private.Encode())
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := DecodeParams(b)
		if err != nil {
			return
		}
		if !bytes.Equal(p.Encode(), b) {
			t.Errorf("%x becomes %x", b, p.Encode())
		}
		if err := p.Check(); err != nil || len(p.Rows) > protocol.MaxMembers || slices.Contains(p.Keepers[:], "") {
			t.Errorf("%+v: %v", p, err)
		}
	})
}
