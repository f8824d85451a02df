package all_test

import (
	"testing"

	"github.com/mercer-fl/mercer/internal/job/section/sectiontest"
	"github.com/mercer-fl/mercer/internal/method/all"
)

func TestDeclarations(t *testing.T) {
	r := all.Reader()
	for _, k := range append(r.Protocols, r.Learners...) {
		sectiontest.Declared(t, k.New, "{}")
	}
}
