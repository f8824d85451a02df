package method_test

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/methodtest"
)

// answering is a protocol that wrote bodies which begin with its name before retained states had an
// envelope.
func answering(name string) *method.Protocol {
	type none = methodtest.None
	b := methodtest.Bare(name)
	b.Questions = &method.QuestionsOf[none, none]{
		Keep:      func(*none, method.Closing) (method.RetainedState, error) { return method.RetainedState{}, nil },
		OpenParty: func(method.RetainedState, *job.Reader) (method.Erasable, error) { return nil, nil },
		Left:      func(body []byte) bool { return bytes.HasPrefix(body, []byte(name)) },
	}
	return method.New(b)
}

func TestRetained(t *testing.T) {
	list := []job.Protocol{method.New(methodtest.Bare("mute")), answering("one"), answering("other")}
	kept := method.RetainedState{Method: "other", Version: 7, Body: []byte("one's body, or so it looks")}
	got, err := method.DecodeRetained(kept.Encode())
	if d := cmp.Diff(kept, got); d != "" || err != nil {
		t.Errorf("%v %s", err, d)
	}
	if m, err := method.Opener(list, got); err != nil || m.Name() != "other" {
		t.Errorf("%v opens it, %v", m, err)
	}
	old, err := method.DecodeRetained([]byte("one, as it was written once"))
	if m, found := method.Opener(list, old); err != nil || found != nil || m.Name() != "one" || string(old.Body) != "one, as it was written once" {
		t.Errorf("%+v: %v opens it, %v %v", old, m, err, found)
	}
	for _, k := range []method.RetainedState{{Method: "mute"}, {Method: "gone", Body: []byte("one")}, {Body: []byte("nobody's")}} {
		if m, err := method.Opener(list, k); err == nil {
			t.Errorf("%v opens %+v", m, k)
		}
	}
	if _, err := method.DecodeRetained(kept.Encode()[:22]); err == nil {
		t.Error("a retained state without its end is read")
	}
}

func FuzzDecodeRetained(f *testing.F) {
	f.Add(method.RetainedState{Method: "okra", Version: 1, Body: []byte{1, 2}}.Encode())
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		k, err := method.DecodeRetained(b)
		switch {
		case err != nil:
		case k.Method == "" && k.Version == 0 && bytes.Equal(k.Body, b): // a body alone
		case !bytes.Equal(k.Encode(), b):
			t.Errorf("%x is read as %+v, which is written as %x", b, k, k.Encode())
		}
	})
}
