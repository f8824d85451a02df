package columns

import (
	"bytes"
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func anAlignment() keptAlignment {
	return keptAlignment{"people", "patients", "0a", "first+born", "a fraction of 0.25", []string{"bank", "shop"}, []string{"p3", "p1"}, [32]byte{7}}
}

func TestKeptAlignment(t *testing.T) {
	k := anAlignment()
	got, err := decodeAlignment(k.encode())
	if d := cmp.Diff(k, got, cmp.AllowUnexported(keptAlignment{})); err != nil || d != "" {
		t.Errorf("%v %s", err, d)
	}
	for n := range k.encode() {
		if _, err := decodeAlignment(k.encode()[:n]); err == nil {
			t.Fatalf("%d bytes are an alignment", n)
		}
	}
	// Whoever came since takes no part; who is gone is missed.
	if order, err := k.places([]string{"p1", "p2", "p3"}); err != nil || !slices.Equal(order, []int{2, 0}) {
		t.Errorf("%v, %v", order, err)
	}
	if _, err := k.places([]string{"p1", "p2"}); !errors.Is(err, errGone) {
		t.Error(err)
	}
	twice := k
	twice.ids = []string{"p1", "p1"}
	if _, err := twice.places([]string{"p1", "p2", "p3"}); err == nil {
		t.Error("one person twice is an alignment")
	}
	// Each job has a key of its own, under which numbers are drawn.
	if k.keyOf([16]byte{1}) == k.keyOf([16]byte{2}) || k.keyOf([16]byte{1}) == k.key {
		t.Error("two jobs have one key")
	}
}

func FuzzDecodeAlignment(f *testing.F) {
	f.Add(anAlignment().encode())
	f.Fuzz(func(t *testing.T, b []byte) {
		if k, err := decodeAlignment(b); err == nil && !bytes.Equal(k.encode(), b) {
			t.Error("read back otherwise")
		}
	})
}
