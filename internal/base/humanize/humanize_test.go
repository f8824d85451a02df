package humanize

import (
	"math"
	"testing"
)

func TestThreeDigits(t *testing.T) {
	for v, want := range map[float64]string{
		29144.9: "29100", -1234567: "-1230000", 999.9: "1000", 999.4: "999", 12.345: "12.3", 0.0125: "0.0125", 0: "0",
		1e15: "1e+15", 0.00001: "1e-05", math.Inf(1): "+Inf",
	} {
		if got := ThreeDigits(v); got != want {
			t.Errorf("%v: %s, want %s", v, got, want)
		}
	}
}
