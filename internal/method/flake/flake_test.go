package flake

import (
	"testing"

	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method/methodtest"
	"github.com/mercer-fl/mercer/internal/method/okra"
	okramachines "github.com/mercer-fl/mercer/protocol/okra"
)

const text = `apiVersion: mercer/v1
kind: Job
metadata: {name: dense}
spec:
  data: {source: own, label: label, partition: {parties: [guest, friend]}}
  protocol: {name: flake, mode: paper, wire: float64}
  kernel: {name: linear}
  learner: {name: svc}
`

// A job of protocol flake encodes by the encoder of FLAKE, with the job's mode and wire.
func TestJobsEncodeByFlake(t *testing.T) {
	j := methodtest.Read(t, Protocol(), text)
	want := okramachines.Spec{Encoder: okramachines.Flake, Wire: "float64", Mode: okramachines.Paper}
	if got := job.As[okra.Settings](j.Protocol).Spec(); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}
