package sim

import (
	"crypto/sha256"
	"fmt"
	"strings"

	"github.com/mercer-fl/mercer/protocol"
)

// Transcript returns the run as text, one line for each thing that happened: the
// step, what it was, and unless it was accepted what became of it. A message
// stands with the length of its body and the first 8 hexadecimal digits of the
// body's SHA-256. The text is stable, made to be kept in testdata.
func (r *Result) Transcript() string { return r.lines.String() }

// writef appends one line; errors of several lines are put on one.
func (r *Result) writef(format string, args ...any) {
	line := fmt.Sprintf(format, args...)
	r.lines.WriteString(strings.ReplaceAll(line, "\n", "; "))
	r.lines.WriteByte('\n')
}

// write notes that it was offered and, if remark is not empty, what came of it.
func (s *simulation) write(it item, remark string) {
	line := fmt.Sprintf("%d %s: %s", s.result.Steps, it.to.Name, name(it.event))
	if m, ok := it.event.(protocol.Received); ok {
		line = fmt.Sprintf("%d %s", s.result.Steps, describe(m.Message, it.to.Name))
	}
	if remark != "" {
		line += ": " + remark
	}
	s.result.writef("%s", line)
}

func describe(m protocol.Message, to string) string {
	body := sha256.Sum256(m.Body)
	text := fmt.Sprintf("%v, %d bytes, %x", m.Header, len(m.Body), body[:4])
	if m.Receiver != to {
		text += ", delivered to " + to
	}
	return text
}
