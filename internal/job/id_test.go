package job

import (
	"strings"
	"testing"
)

func TestID(t *testing.T) {
	id := ID{0: 0xab, 15: 1}
	if got, err := ParseID(id.String()); err != nil || got != id || id.String() != "ab"+strings.Repeat("0", 28)+"01" {
		t.Errorf("%s is read as %s, %v", id, got, err)
	}
	for _, s := range []string{"", "12", id.String()[1:], id.String() + "00", "../" + id.String()[3:]} {
		if got, err := ParseID(s); err == nil {
			t.Errorf("%q is read as the id %s", s, got)
		}
	}
}
