package all_test

import (
	"cmp"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/internal/job/section/sectiontest"
	"github.com/mercer-fl/mercer/internal/method/all"
)

func TestDeclarations(t *testing.T) {
	r := all.Reader()
	needs := map[string]string{"cca": "{view: [age]}"}
	for _, k := range r.Kinds() {
		sectiontest.Declared(t, k.New, cmp.Or(needs[k.Name()], "{}"))
		if doc := k.New().Section().Doc; !strings.HasSuffix(doc, ".") {
			t.Errorf("%s has %q for a description", k.Name(), doc)
		}
	}
}
