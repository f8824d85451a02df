package rows

import (
	"bytes"
	"testing"

	"github.com/mercer-fl/mercer/protocol/scale"
)

// A peer's fit is refused, or decoded as it was encoded except for trailing zeros.
func FuzzDecodeKept(f *testing.F) {
	made := preparation(f, "age")
	k := keptFit{table: "patients", dictionary: "0123", scale: "minmax", made: made}
	f.Add(k.encode())
	k.scaling = scale.Scaling{Offset: []float64{1}, Factor: []float64{2}}
	f.Add(k.encode())
	f.Add(append(k.encode(), 0, 0))
	f.Fuzz(func(t *testing.T, b []byte) {
		k, err := decodeKept(b)
		if err != nil {
			return
		}
		if again := k.encode(); !bytes.HasPrefix(b, again) || len(bytes.Trim(b[len(again):], "\x00")) > 0 {
			t.Errorf("%x is read and written as %x", b, again)
		}
	})
}
