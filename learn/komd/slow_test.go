//go:build slow

package komd_test

import "testing"

func TestGoldenMovieLensAllLevels(t *testing.T) {
	testLevels(t, "0.3", "0.5", "0.7", "0.9", "1.0")
}
