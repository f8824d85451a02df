// Command mercer-fit trains kernel machines for a program that starts it as its child; see internal/fitserver.
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
