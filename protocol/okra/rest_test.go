package okra

import (
	"bytes"
	"testing"
)

// into appends parts to b.
func into(b *bytes.Buffer) func([]byte) error {
	return func(part []byte) error {
		b.Write(part)
		return nil
	}
}

// stored is an epoch as a later process finds it.
func (e *epoch) stored(t testing.TB) *epoch {
	t.Helper()
	var b bytes.Buffer
	if err := e.base.Write(into(&b)); err != nil {
		t.Fatal(err)
	}
	base, err := DecodeBase(b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	next := &epoch{spec: e.spec, base: base, standings: make(map[string]EpochState)}
	for name, s := range e.standings {
		if next.standings[name], err = DecodeStanding(s.Encode()); err != nil {
			t.Fatal(err)
		}
	}
	return next
}

// A session continues from stored state as from state in memory.
func TestStoredSessionsContinue(t *testing.T) {
	for _, spec := range []Spec{{}, {Wire: Float64}} {
		in := share(randomRows("stored", 12, 5), 4, 2, 3, 2, 1)
		first, _ := (&epoch{spec: spec}).then(t, bring{"north", in[0]}, bring{"east", in[1]})
		who := []bring{{"north", in[3]}, {"south", in[2]}, none("east")}
		_, want := first.then(t, who...)
		_, got := first.stored(t).then(t, who...)
		if err := sameRows(got.server(), want.server()); err != nil {
			t.Errorf("%v: %v", spec, err)
		}
	}
}

func TestStoredSessionsThatAreCutShort(t *testing.T) {
	first, _ := small(t)
	var b bytes.Buffer
	if err := first.base.Write(into(&b)); err != nil {
		t.Fatal(err)
	}
	s := first.standings["north"].Encode()
	for n := range b.Len() {
		if _, err := DecodeBase(b.Bytes()[:n]); err == nil {
			t.Errorf("%d of %d bytes are taken", n, b.Len())
		}
	}
	for n := range s {
		if _, err := DecodeStanding(s[:n]); err == nil {
			t.Errorf("%d of %d bytes are taken", n, len(s))
		}
	}
}

func FuzzDecodeBase(f *testing.F) {
	first, _ := small(f)
	var b bytes.Buffer
	if err := first.base.Write(into(&b)); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes())
	f.Fuzz(func(t *testing.T, b []byte) {
		base, err := DecodeBase(b)
		if err != nil {
			return
		}
		var again bytes.Buffer
		if err := base.Write(into(&again)); err != nil || !bytes.Equal(again.Bytes(), b) {
			t.Errorf("%x is a second encoding, or %v", b, err)
		}
	})
}

func FuzzDecodeStanding(f *testing.F) {
	first, _ := small(f)
	f.Add(first.standings["north"].Encode())
	f.Fuzz(func(t *testing.T, b []byte) {
		if s, err := DecodeStanding(b); err == nil && !bytes.Equal(s.Encode(), b) {
			t.Errorf("%x is a second encoding", b)
		}
	})
}
