package job

import (
	"encoding/hex"
	"fmt"

	"go.yaml.in/yaml/v3"

	"github.com/mercer-fl/mercer/internal/job/section"
)

// ID identifies one submission of a job.
type ID [16]byte

// String returns the ID as 32 hexadecimal digits.
func (id ID) String() string { return hex.EncodeToString(id[:]) }

// ParseID parses the output of String.
func ParseID(s string) (ID, error) {
	b, err := hex.DecodeString(s)
	if err != nil || len(b) != len(ID{}) {
		return ID{}, fmt.Errorf("job: %q is not a job id; a job id has 32 hexadecimal digits", s)
	}
	return ID(b), nil
}

// OneID reads and writes the value of a key that names a job. It does not write a zero ID.
type OneID struct{ Dst *ID }

func (v OneID) Decode(key string, n *yaml.Node) error {
	var text string
	if err := (section.Text{Dst: &text}).Decode(key, n); err != nil {
		return err
	}
	id, err := ParseID(text)
	if err != nil || id == (ID{}) {
		return section.At(n, "%s is %s; write the 32 hexadecimal digits of a job, as mercer job list prints them", key, section.Quote(text))
	}
	*v.Dst = id
	return nil
}

func (v OneID) Encode() *yaml.Node {
	if *v.Dst == (ID{}) {
		return nil
	}
	return section.Word(v.Dst.String())
}

func (OneID) Form() string { return "the 32 hexadecimal digits of a job" }
