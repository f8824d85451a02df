package coordinator

import (
	"slices"
	"testing"

	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/protocol"
)

// The coordinator does not wait for a party that has left the previous session of a job,
// and waits for all where nobody has left, newcomers among them.
func TestWhoHasLeft(t *testing.T) {
	j := &job.Job{Data: job.Data{Partition: job.Partition{By: job.Devices, Parties: []string{"a", "b", "c"}}}}
	w := &course{job: &Job{Spec: j}, ends: []method.End{
		{Session: protocol.SessionID{1}, Asked: []string{"a", "b", "c"}, Stayed: []string{"c", "b"}},
		{Session: protocol.SessionID{2}, Asked: []string{"a", "b", "c"}, Stayed: []string{"a", "b", "c"}},
		{Session: protocol.SessionID{4}, Asked: []string{"b", "c"}, Stayed: []string{"b"}},
	}}
	for parent, want := range map[protocol.SessionID][]string{{}: nil, {1}: {"a"}, {2}: nil, {3}: nil, {4}: {"c"}} {
		if left := w.leftEarlier(&method.Session{Parent: parent}); !slices.Equal(left, want) {
			t.Errorf("after %v: %v have left, want %v", parent, left, want)
		}
	}
}
