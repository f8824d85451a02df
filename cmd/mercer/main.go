// Command mercer trains kernel machines on data that nobody may pool.
package main

import (
	"os"

	"github.com/mercer-fl/mercer/internal/cli"
	"github.com/mercer-fl/mercer/internal/method/all"
	own "github.com/mercer-fl/mercer/internal/method/local/all"
)

func main() {
	os.Exit(cli.Main(all.Reader(), own.Local(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr, os.Getenv))
}
