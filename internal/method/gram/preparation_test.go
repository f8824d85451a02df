package gram

import (
	"testing"

	"github.com/mercer-fl/mercer/internal/method/columns/columnstest"
)

func TestEachPartyHasAPreparationToRetain(t *testing.T) {
	columnstest.CheckPreparations(t, Protocol(), "svc")
}
