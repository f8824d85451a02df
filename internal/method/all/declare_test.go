package all_test

import (
	"testing"

	"github.com/mercer-fl/mercer/internal/job/section/sectiontest"
	"github.com/mercer-fl/mercer/internal/method/all"
)

func TestDeclarations(t *testing.T) {
	for _, m := range all.Reader().Protocols {
		sectiontest.Declared(t, m.New, "{}")
	}
}
