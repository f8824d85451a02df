package okra

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/protocoltest"
	"github.com/mercer-fl/mercer/protocol/sim"
)

func TestProperties(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	small := share(randomRows("properties", 9, 5), 4, 2, 3)
	wide := []Input{{Rows: randomRows("wide", 2, 70_000)}, {Rows: randomRows("wide", 1, 70_000)}}
	for _, c := range []struct {
		name     string
		spec     Spec
		inputs   []Input
		inFlight int64
		runs     int
	}{
		// Small sessions may be under way as a whole.
		{"hadamard", Spec{}, small, 4096, 100},
		{"haar", Spec{Encoder: Haar, Wire: Float64}, small, 8192, 60},
		{"hbh", Spec{Encoder: HBH}, small, 4096, 30},
		{"block", Spec{Mode: Paper}, small, 4096, 30},
		{"flake", Spec{Encoder: Flake}, small, 4096, 30},
		{"flake of the paper", Spec{Encoder: Flake, Mode: Paper}, small, 4096, 30},
		// Two chunks a row: a window less one and a step from each party.
		{"chunks", Spec{Wire: Float64, Rounds: 2}, wide, 2 * (protocoltest.Window - 1 + 2) * protocol.MaxChunkBytes, 3},
	} {
		protocoltest.Run(t, protocoltest.Protocol{Name: c.name, New: func(t testing.TB) protocoltest.Case {
			cfg := training(t, c.spec, c.inputs...)
			return protocoltest.Case{Session: cfg.Session, Nodes: cfg.Nodes, InFlight: c.inFlight, Runs: c.runs,
				Check: sameAs(mustRun(t, cfg)), Trusts: ownWord}
		}})
	}
}

// ownWord reports whether only the sender can know the body: rows, labels, whether they lie on a
// grid; the total, which only the server knows; a model's decisions. A seed is not: a party with
// another one is detected.
func ownWord(h protocol.Header) bool { return h.Kind != kindSeed && h.Kind != kindWelcome }

// sameAs compares every result bit by bit with the results of an undisturbed run.
func sameAs(undisturbed *outcome) func(string, protocol.Machine) error {
	return func(name string, m protocol.Machine) error {
		switch m := m.(type) {
		case *Server:
			return equalServers(m, undisturbed.server())
		case *Party:
			if want := undisturbed.party(name); m.TotalRows() != want.TotalRows() || m.EpochSeed() != want.EpochSeed() {
				return fmt.Errorf("%d rows in all, want %d, or another seed", m.TotalRows(), want.TotalRows())
			}
		case *PredictParty:
			if !slices.Equal(m.Decisions().Data, undisturbed.Outcome(name).Machine.(*PredictParty).Decisions().Data) {
				return errors.New("other decisions")
			}
		}
		return nil
	}
}

func equalServers(got, want *Server) error {
	switch {
	case !slices.Equal(got.Gram().Data, want.Gram().Data):
		return errors.New("another Gram matrix")
	case !slices.Equal(got.Labels(), want.Labels()) || !slices.Equal(got.Test(), want.Test()):
		return errors.New("other labels or held-out rows")
	case !slices.Equal(got.Owner(), want.Owner()) || got.Grid() != want.Grid() || got.Tag() != want.Tag():
		return errors.New("other owners, grid or tag")
	case !slices.Equal(matrixOf(got.Rows([]int{0})).Data, matrixOf(want.Rows([]int{0})).Data):
		return errors.New("other encoded rows")
	}
	return nil
}

func TestPredictionProperties(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	for _, c := range []struct {
		name     string
		spec     Spec
		f, n     int
		columns  int // decisions for each row
		inFlight int64
		runs     int
	}{
		{"small", Spec{}, 5, 4, 3, 2048, 60},
		{"haar", Spec{Encoder: Haar, Wire: Float64}, 5, 4, 1, 4096, 30},
		{"chunks of rows", Spec{Wire: Float64, Rounds: 2}, 70_000, 1, 2, (protocoltest.Window - 1 + 2) * protocol.MaxChunkBytes, 3},
		{"chunks of decisions", Spec{}, 5, 3, 30_000, (protocoltest.Window - 1 + 2) * protocol.MaxChunkBytes, 3},
	} {
		protocoltest.Run(t, protocoltest.Protocol{Name: c.name, New: func(t testing.TB) protocoltest.Case {
			trained := train(t, c.spec, share(randomRows("train", 4, c.f), 2, 2)...)
			support := trained.server().Rows(make([]int, c.columns))
			cfg := trained.prediction(t, query{spec: c.spec, epoch: trained.party("south").EpochSeed(),
				rows: randomRows("new", c.n, c.f), answer: score(support)})
			return protocoltest.Case{Session: cfg.Session, Nodes: cfg.Nodes, InFlight: c.inFlight, Runs: c.runs,
				Check: sameAs(mustRun(t, cfg)), Trusts: ownWord}
		}})
	}
}

// The transcripts fix the bytes on the wire: a change in them is a new version
// of the protocol. Values are few and exact, and encoded by permutations,
// signs and halvings, so that every machine gives the same bits.
func TestTranscripts(t *testing.T) {
	inputs := share(grid(7, 6), 3, 2, 2)
	for _, c := range []struct {
		file     string
		schedule sim.Schedule
	}{
		{"train.txt", sim.Schedule{}},
		{"rough.txt", sim.Schedule{Seed: 3, Loss: .4, Duplicate: .4, Reorder: 1, MaxDelay: 9, Crash: []sim.Crash{{Node: "hub", Event: 5}, {Node: "south", Event: 2}}}},
		{"silent.txt", sim.Schedule{Gone: map[string]int{"south": 2, "east": 2}}},
		{"leaderless.txt", sim.Schedule{Gone: map[string]int{"north": 0}}},
	} {
		t.Run(c.file, func(t *testing.T) {
			cfg := training(t, Spec{Wire: Float64}, inputs...)
			cfg.Schedule = c.schedule
			protocoltest.Golden(t, c.file, run(t, cfg).Transcript())
		})
	}
	t.Run("predict.txt", func(t *testing.T) {
		trained := train(t, Spec{Wire: Float64}, inputs...)
		cfg := trained.prediction(t, query{spec: Spec{Wire: Float64}, epoch: trained.party("south").EpochSeed(), rows: grid(2, 6),
			answer: func(encoded linalg.Matrix[float64]) (linalg.Matrix[float64], error) {
				return grid(encoded.Rows, 2), nil
			}})
		protocoltest.Golden(t, "predict.txt", mustRun(t, cfg).Transcript())
	})
}

// grid returns rows of small multiples of 1/4.
func grid(n, f int) linalg.Matrix[float64] {
	m := linalg.New[float64](n, f)
	for i := range m.Data {
		m.Data[i] = float64(i*7%9) / 4
	}
	return m
}
