//go:build slow

package moments

import (
	"testing"

	"github.com/mercer-fl/mercer/privacy"
)

// With a delta of one in a million, epsilon shows only in rare runs.
func TestAuditOfASmallDelta(t *testing.T) {
	auditOf(t, []float64{-2}, privacy.Guarantee{Epsilon: 1, Delta: 1e-6}, 100_000, 2.7)
}
