package bench_test

import (
	"os"
	"testing"

	"github.com/mercer-fl/mercer/internal/base/disk/disktest"
	"github.com/mercer-fl/mercer/internal/cli"
	own "github.com/mercer-fl/mercer/internal/local/all"
	"github.com/mercer-fl/mercer/internal/method/all"
)

// The test binary acts as mercer if a benchmark starts processes.
func TestMain(m *testing.M) {
	if os.Getenv("MERCER_TEST_IS_MERCER") != "" {
		os.Exit(cli.Main(all.Reader(), own.Local(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr, os.Getenv))
	}
	disktest.InMemory()
	os.Exit(m.Run())
}
