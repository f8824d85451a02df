package secvm

import "testing"

func FuzzDecodeLinearModel(f *testing.F) {
	s, err := NewTraining(read(f, windowJob), [2]string{"a", "b"})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(s.Model().Encode())
	f.Fuzz(func(t *testing.T, b []byte) {
		if m, err := DecodeLinearModel(b); err == nil && string(m.Encode()) != string(b) {
			t.Error("a model has two encodings")
		}
	})
}
