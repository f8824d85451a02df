package daemon

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"runtime"

	"golang.org/x/sys/cpu"
)

// build names this very program and the instructions it will choose: floats,
// and so replays, depend on both.
func build() (string, error) {
	path, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("daemon: %w", err)
	}
	f, err := os.Open(path)
	if err != nil {
		return "", fmt.Errorf("daemon: %w", err)
	}
	defer f.Close() //nolint:errcheck // read only
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", fmt.Errorf("daemon: %w", err)
	}
	return fmt.Sprintf("%s %s/%s avx2=%t avx512=%t", hex.EncodeToString(h.Sum(nil)[:8]), runtime.GOOS, runtime.GOARCH, cpu.X86.HasAVX2, cpu.X86.HasAVX512F), nil
}

// InsecureSeeds returns a source of seeds that anybody can predict, for tests
// that compare the results of two runs.
func InsecureSeeds(seed uint64) func(label string) [32]byte {
	return func(label string) [32]byte {
		return sha256.Sum256(fmt.Appendf(nil, "mercer/v1/insecure/%d/%s", seed, label))
	}
}
