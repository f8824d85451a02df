package all_test

import (
	"testing"

	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/all"
)

// wrapping is a protocol put into a kind of a program's own, to log or to measure.
type wrapping struct{ *method.Protocol }

// If a program wraps a protocol in another type, no coordinator, party or device runs it, and no
// party accepts a job of it. So nothing that a wrapper hides or adds can come between a protocol
// and the ledger.
func TestNobodyRunsAWrappedProtocol(t *testing.T) {
	for _, k := range all.Reader().Protocols {
		bare, federated := k.(*method.Protocol)
		if !federated {
			continue // pooled: one process has all rows
		}
		j := &job.Job{Protocol: job.Named{Kind: wrapping{bare}, Values: bare.New()}}
		if _, err := method.Of(j); err == nil {
			t.Errorf("%s: a federation runs it", bare.Name())
		}
		if _, _, err := method.OfDevices(j); err == nil {
			t.Errorf("%s: devices run it", bare.Name())
		}
		if err := method.DefaultLimits().CheckJob(j); err == nil {
			t.Errorf("%s: no floor holds for it", bare.Name())
		}
		whole := &job.Job{Protocol: job.Named{Kind: bare, Values: bare.New()}}
		if _, err := method.Of(whole); (err == nil) != method.Federated(whole) {
			t.Errorf("%s by itself: %v", bare.Name(), err)
		}
	}
}
