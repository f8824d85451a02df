package section

import (
	"fmt"

	"go.yaml.in/yaml/v3"
)

// Error describes a mistake in a job file, in one sentence that tells the user what to do.
type Error struct {
	File    string
	Line    int // 1-based
	Problem string
}

func (e *Error) Error() string { return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.Problem) }

// At makes an error at the line of a node.
func At(n *yaml.Node, format string, args ...any) error { return AtLine(n.Line, format, args...) }

// AtLine makes an error at a line.
func AtLine(line int, format string, args ...any) error {
	return &Error{Line: max(line, 1), Problem: fmt.Sprintf(format, args...)}
}
