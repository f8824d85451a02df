package simulate

import (
	"testing"
	"time"

	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/transport"
)

// The members of a job with a link have that link's rate, latency and loss. A loss of 20 % lowers
// the rate to 80 %, so 1,000 bytes take 1.25 s at 1,000 bytes a second, and .1 s of latency.
func TestMessagesTakeTheJobsLink(t *testing.T) {
	n, err := networkOf(&job.Job{Link: job.Link{Rate: 1000, Latency: 100 * time.Millisecond, Loss: .2}})
	if err != nil {
		t.Fatal(err)
	}
	from, err := n.join("a")
	if err != nil {
		t.Fatal(err)
	}
	to, err := n.join("b")
	if err != nil {
		t.Fatal(err)
	}
	if err := from.Send(t.Context(), "b", transport.Bulk, make([]byte, 1000)); err != nil {
		t.Fatal(err)
	}
	if _, err := to.Receive(t.Context(), transport.Bulk); err != nil {
		t.Fatal(err)
	}
	if got := n.simulatedCost(); got.Bytes != 1000 || got.Messages != 1 || got.Seconds != 1.35 {
		t.Errorf("%+v, want 1,000 bytes in 1.35 s", got)
	}
	if n, err = networkOf(&job.Job{}); err != nil || n.simulatedCost() != nil {
		t.Errorf("a job without a link has the cost %+v, error %v", n.simulatedCost(), err)
	}
}
