// Command mercer trains kernel machines, such as SVMs, on data that must stay where it is.
package main

import (
	"os"

	"github.com/mercer-fl/mercer/internal/cli"
	own "github.com/mercer-fl/mercer/internal/local/all"
	"github.com/mercer-fl/mercer/internal/method/all"
)

func main() {
	os.Exit(cli.Main(all.Reader(), own.Local(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr, os.Getenv))
}
