// Package examples carries the example job files in the program, for the
// demonstrations that run without a checkout.
package examples

import (
	"embed"
	"fmt"
)

//go:embed *.yaml
var files embed.FS

// Read returns a job file by its name without the suffix.
func Read(name string) ([]byte, error) {
	b, err := files.ReadFile(name + ".yaml")
	if err != nil {
		return nil, fmt.Errorf("examples: %w", err)
	}
	return b, nil
}
