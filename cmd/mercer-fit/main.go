// Command mercer-fit trains kernel machines for a program that starts it as its child; see internal/fitserver.
package main

import (
	"fmt"
	"os"
	"runtime"

	"github.com/mercer-fl/mercer/internal/fitserver"
)

// idleHeap is the number of bytes of memory that is reserved and never touched. With it, the garbage collector waits
// until the heap has at least twice this size, so that requests with little data do not wait for the collector. A
// larger heap would cost more than it saves, because memory that is used for the first time is slower than memory that
// is reused.
const idleHeap = 32 << 20

func main() {
	reserved := make([]byte, idleHeap)
	err := fitserver.Serve(os.Stdin, os.Stdout)
	runtime.KeepAlive(reserved)
	if err != nil {
		fmt.Fprintln(os.Stderr, "mercer-fit:", err)
		os.Exit(1)
	}
}
