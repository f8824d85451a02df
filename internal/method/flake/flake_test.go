package flake

import (
	"strings"
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
	for _, want := range []okramachines.Spec{
		{Wire: okramachines.Float64, Mode: okramachines.Paper}, {Wire: okramachines.Float32, Mode: okramachines.Hardened},
	} {
		want.Encoder = okramachines.Flake
		j := methodtest.Read(t, Protocol(), strings.NewReplacer("paper", want.Mode, "float64", want.Wire).Replace(text))
		if got := job.As[okra.Settings](j.Protocol).Spec(); got != want {
			t.Errorf("%+v, want %+v", got, want)
		}
	}
}
