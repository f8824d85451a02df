package columns

import (
	"slices"
	"testing"
)

func TestLabels(t *testing.T) {
	labels := []string{"ill", "well", "ill", "ill"}
	b := EncodeLabels(labels)
	got, err := decodeLabels(b, 4)
	if err != nil || !slices.Equal(got, labels) {
		t.Errorf("%v, %v", got, err)
	}
	if other := EncodeLabels([]string{"ill", "well", "well", "well"}); len(other) != len(b) {
		t.Error("the length tells how many rows each class has")
	}
	for name, b := range map[string][]byte{"cut": b[1:], "long": append(slices.Clone(b), 0), "class": append(slices.Clone(b[:len(b)-4]), 9, 0, 0, 0), "nothing": nil} {
		if _, err := decodeLabels(b, 4); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func FuzzDecodeLabels(f *testing.F) {
	f.Add(EncodeLabels([]string{"a", "b", "a"}), 3)
	f.Add([]byte{}, 0)
	f.Fuzz(func(t *testing.T, b []byte, n int) {
		if n < 1 || n > 1000 {
			return
		}
		if labels, err := decodeLabels(b, n); err == nil && len(labels) != n {
			t.Errorf("%d labels of %d rows", len(labels), n)
		}
	})
}
