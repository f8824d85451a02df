// Command mercer-fit trains kernel machines for Mercer's Python package, which starts it.
package main

import (
	"fmt"
	"os"

	"github.com/mercer-fl/mercer/internal/fitserver"
)

func main() {
	if err := fitserver.Serve(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "mercer-fit:", err)
		os.Exit(1)
	}
}
