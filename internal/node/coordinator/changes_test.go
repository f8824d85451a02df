package coordinator_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/internal/method/jobtest"
)

// A job that a party joins and another leaves dies in the middle of its sessions, and ends in
// an identical model.
func TestCrashOfChangingParties(t *testing.T) {
	t.Parallel()
	text := strings.NewReplacer("{name: okra}", "{name: okra, late: [east], withdrawn: [north], preparation: keep}",
		"label: label", "label: label\n    scale: minmax").Replace(fmt.Sprintf(jobFile, ""))
	j := jobtest.Parse(t, text)
	w := newWorld(t, tumours(t, j))
	done := w.mustRun(j)
	w.diesAndEndsTheSame(j, tumours(t, j), done, []death{
		{hub, 2, "send okra/Receipt"}, {hub, 2, "send okra/Grant"}, {hub, 4, "send okra/Receipt"},
		{"south", 1, "send okra/Confirm"}, {"south", 1, "send okra/Welcome"}, {"south", 2, "send okra/Confirm"}, {"south", 2, "send okra/Rows"},
		{"east", 1, "send okra/Confirm"}, {"east", 1, "send okra/Rows"}, {"north", 1, "send okra/Rows"},
	})
}
