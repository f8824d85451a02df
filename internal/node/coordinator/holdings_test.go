package coordinator_test

import (
	"testing"
	"time"

	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/node/control"
	"github.com/mercer-fl/mercer/protocol"
)

// A hostile party asks about jobs in which it has no part, floods the coordinator with
// lists, and sends bytes that are none: it hears nothing of others' jobs, no job that is
// under way is closed to it, and the others' job ends well.
func TestHostileHoldings(t *testing.T) {
	t.Parallel()
	j := hasty(t, "  prediction: open\n")
	j.Data.Partition.Parties = []string{"north", "south"}
	w := newTestbed(t, tumours(t, parse(t, "")))
	heard := make(chan protocol.Message, 1<<14)
	east := w.actor("east", func(_ *actor, m protocol.Message) { heard <- m })
	for _, name := range []string{hub, "north", "south"} {
		w.start(name, never)
	}
	others := w.wait(w.submit(j)).ID
	if _, err := w.members[hub].boss.Forget(t.Context(), others); err != nil {
		t.Fatal(err)
	}
	waiting := w.submit(hasty(t, "")) // for east, which does not come
	ask := func(h control.Holdings) { east.tell(control.HoldingsTopic(), control.KindHoldings, h.Encode()) }
	ask(control.Holdings{{Job: others, Open: true}, {Job: others}, {Job: waiting, Open: true}, {Job: waiting}, {Job: job.ID{9}}})
	for range 200 {
		ask(make(control.Holdings, control.MaxHoldings))
		east.tell(control.HoldingsTopic(), control.KindHoldings, []byte("junk"))
	}
	unknown, proposed := job.ID{8}, make(map[protocol.SessionID]bool)
	w.eventually("a question after the flood is answered", func() bool {
		ask(control.Holdings{{Job: unknown, Open: true}})
		for {
			select {
			case m := <-heard:
				switch {
				case m.Kind == control.KindProposal:
					proposed[m.Session] = true
				case m.Kind == control.KindAbort && proposed[m.Session]: // of the waiting job, which it does not join in time
				case m.Kind == control.KindClosing && m.Session == control.Topic(unknown):
					return true
				case m.Session == control.Topic(others) || m.Kind != control.KindClosing:
					t.Fatalf("east hears %v", m.Header)
				}
			case <-time.After(100 * time.Millisecond):
				return false
			}
		}
	})
	two := hasty(t, "")
	two.Data.Partition = job.Partition{Parties: []string{"north", "south"}, By: two.Data.Partition.By}
	if done := w.wait(w.submit(two)); done.Failure != nil {
		t.Errorf("%+v", done.Failure)
	}
}
