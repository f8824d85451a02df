package daemon

import (
	"crypto/sha256"
	"fmt"
)

// InsecureSeeds returns a source of predictable seeds. It is for tests and benchmarks, which compare the
// results of two runs.
func InsecureSeeds(seed uint64) func(label string) [32]byte {
	return func(label string) [32]byte {
		return sha256.Sum256(fmt.Appendf(nil, "mercer/v1/insecure/%d/%s", seed, label))
	}
}
