//go:build slow

package daemon

import "testing"

// A thousand jobs in one life leave nothing behind in the daemons' memory.
func TestThousandJobsInOneLife(t *testing.T) { manyJobs(t, 1000) }

// Two hundred idle parties in one process hold little.
func TestTwoHundredIdleParties(t *testing.T) { wantIdle(t, 200) }
