package columns

import (
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/dataset"
)

func TestIDsInAnotherUnicodeForm(t *testing.T) {
	p := &Party{Table: &dataset.Set{IDs: []string{"Mu\u00fc1", "Muu\u03081", "Muu\u03082", "plain"}}}
	if got := p.Notices(); got != nil {
		t.Errorf("notices before the alignment: %q", got)
	}
	p.order = []string{"plain"}
	if got := p.Notices(); len(got) != 1 || !strings.HasPrefix(got[0], "2 of 4 ids change under nfc") {
		t.Errorf("notices %q", got)
	}
	p.Table.IDs = []string{"Mu\u00fc1", "plain"}
	if got := p.Notices(); got != nil {
		t.Errorf("notices of composed ids: %q", got)
	}
}
