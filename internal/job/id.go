package job

import (
	"encoding/hex"
	"fmt"
)

// ID names one submission of a job.
type ID [16]byte

// String returns the 32 hexadecimal digits.
func (id ID) String() string { return hex.EncodeToString(id[:]) }

// ParseID reads the output of String.
func ParseID(s string) (ID, error) {
	b, err := hex.DecodeString(s)
	if err != nil || len(b) != len(ID{}) {
		return ID{}, fmt.Errorf("job: %q is not a job id; it has 32 hexadecimal digits", s)
	}
	return ID(b), nil
}
