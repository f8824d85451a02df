package coordinator_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/jobtest"
	"github.com/mercer-fl/mercer/internal/node/disclosure"
)

// A job dies while FLAKE's matrix is made and ends in an identical model.
func TestCrashOfFlake(t *testing.T) {
	t.Parallel()
	j := jobtest.Parse(t, strings.Replace(fmt.Sprintf(jobFile, ""), "{name: okra}", "{name: flake}", 1))
	w := newTestbed(t, tumours(t, j))
	done := w.mustRun(j)
	w.diesAndEndsTheSame(j, tumours(t, j), done, []death{
		{hub, 1, "send okra/Grant"}, {"north", 1, "send okra/Labels"}, {"north", 1, "send okra/Rows"}, {"south", 1, "send okra/Announce"},
	})
}

// A job whose parties meet in pairs dies in the middle of its messages and ends in an identical model;
// every release of a party is in its ledger once.
func TestCrashOfEscaped(t *testing.T) {
	t.Parallel()
	j := jobtest.Parse(t, strings.Replace(fmt.Sprintf(jobFile, ""), "{name: okra}", "{name: escaped, mode: paper}", 1))
	w := newTestbed(t, tumours(t, j))
	w.policy.Modes = []string{string(job.Paper)}
	done := w.mustRun(j)
	list, err := w.releases("south").List()
	if err != nil || len(list) != 1 || list[0].Kind != method.ReleaseRows || list[0].State != disclosure.Released {
		t.Errorf("releases %+v, error %v", list, err)
	}
	if b, err := w.members[hub].boss.Download(done.ID); fault.CodeOf(err) != fault.CodeBadInput || b != nil {
		t.Errorf("%d bytes are downloaded, error %v", len(b), err)
	}
	w.diesAndEndsTheSame(j, tumours(t, j), done, []death{
		{hub, 1, "send escaped/Grant"}, {hub, 2, "send escaped/Receipt"}, {hub, 1, "send control/Closing"},
		{"north", 1, "send escaped/Announce"}, {"north", 1, "send escaped/Mask"}, {"north", 2, "send escaped/Component"},
		{"south", 1, "send escaped/Masked"}, {"south", 1, "send escaped/Own"}, {"east", 2, "send escaped/Unmasker"}, {"east", 2, "send control/Report"},
	})
}
