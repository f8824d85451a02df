// Package examples embeds the example job files in the program. Demonstrations that run without a
// checkout use them.
package examples

import (
	"embed"
	"fmt"
)

//go:embed *.yaml
var files embed.FS

// Read returns the content of a job file, given its name without the suffix.
func Read(name string) ([]byte, error) {
	b, err := files.ReadFile(name + ".yaml")
	if err != nil {
		return nil, fmt.Errorf("examples: %w", err)
	}
	return b, nil
}
