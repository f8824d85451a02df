package stage

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/secagg"
	"github.com/mercer-fl/mercer/protocol/sim"
)

// signing is a member's identity key.
func signing(name string) ed25519.PrivateKey {
	seed := sha256.Sum256([]byte(name))
	return ed25519.NewKeyFromSeed(seed[:])
}

func setup(s *protocol.Session, name string) Setup {
	return Setup{
		Setup: protocol.Setup{Session: s, Self: name, Seed: sha256.Sum256([]byte("seed of " + name))},
		Sign:  func(message []byte) []byte { return ed25519.Sign(signing(name), message) },
		Key:   func(member string) ed25519.PublicKey { return signing(member).Public().(ed25519.PublicKey) },
	}
}

// federated is a job that runs over the deterministic network.
type federated struct {
	server  *Server
	parties map[string]*Party
	sent    map[string][]protocol.Message // to the server, by stage
}

// runStages runs all stages of a job between parties with these tables.
func runStages(t *testing.T, j *job.Job, tables map[string]Table) *federated {
	t.Helper()
	f, plan := federate(t, j, tables)
	for i, st := range plan {
		if st.Session != nil {
			f.session(t, st, i)
		} else if err := st.Compute(f.server, t.Context(), nil); err != nil {
			t.Fatalf("%s: %v", st.Name, err)
		}
	}
	return f
}

// federate makes everybody ready for the stages of a job.
func federate(t *testing.T, j *job.Job, tables map[string]Table) (*federated, []Stage) {
	t.Helper()
	cast := Cast{job.ID{1}, "hub", j.Parties()}
	f := &federated{NewServer(j, cast), make(map[string]*Party), make(map[string][]protocol.Message)}
	for name, table := range tables {
		p, err := NewParty(j, name, table)
		if err != nil {
			t.Fatal(err)
		}
		f.parties[name] = p
	}
	plan, err := Plan(j, cast)
	if err != nil {
		t.Fatal(err)
	}
	return f, plan
}

// session runs one stage.
func (f *federated) session(t *testing.T, st Stage, index int) {
	t.Helper()
	if err := f.try(st, index, func() {}); err != nil {
		t.Fatalf("%s: %v", st.Name, err)
	}
}

// settle returns the session as it follows from what is known.
func settle(t *testing.T, s *Session, k Known) *Session {
	t.Helper()
	settled, err := s.After(k, nil)
	if err != nil {
		t.Fatal(err)
	}
	return settled
}

// try runs one stage; everybody settles for it alone. Between the session's end and
// what members make of its result it calls ended.
func (f *federated) try(st Stage, index int, ended func()) error {
	settled, err := st.Session.After(f.server.Known(), nil)
	if err != nil {
		return err
	}
	s, err := protocol.NewSession(settled.Descriptor(job.ID{1}, index, [32]byte{}, 0))
	if err != nil {
		return err
	}
	var nodes []sim.Node
	runs := make(map[string]*Run)
	for _, m := range s.Members {
		build := func() (*Run, error) {
			if m.Name == "hub" {
				return settled.Server(f.server, setup(s, m.Name))
			}
			own, err := st.Session.After(f.parties[m.Name].Known(), nil)
			if err != nil {
				return nil, err
			}
			if !slices.Equal(own.Params, settled.Params) {
				return nil, fmt.Errorf("%s settles for other parameters than the server", m.Name)
			}
			return own.Party(f.parties[m.Name], setup(s, m.Name))
		}
		if runs[m.Name], err = build(); err != nil {
			return fmt.Errorf("%s: %w", m.Name, err)
		}
		nodes = append(nodes, sim.Node{Name: m.Name, InputHash: runs[m.Name].InputHash, New: func() (protocol.Machine, error) { return runs[m.Name].Machine, nil }})
	}
	r, err := sim.Run(sim.Config{Session: s, Nodes: nodes, Intercept: func(m protocol.Message) []protocol.Message {
		if m.Receiver == "hub" {
			f.sent[st.Name] = append(f.sent[st.Name], m)
		}
		return []protocol.Message{m}
	}})
	if err == nil {
		err = r.Err()
	}
	if err != nil {
		return err
	}
	ended()
	var errs error
	for _, m := range s.Members {
		errs = errors.Join(errs, runs[m.Name].Finish())
	}
	f.server.Ended(st.Name, Ended{Session: s.ID(), Stayed: f.server.Cast.Parties})
	return errs
}

func every(lo, hi int) []int {
	var rows []int
	for i := lo; i < hi; i++ {
		rows = append(rows, i)
	}
	return rows
}

// looksLikeNoise checks that the server is sent nothing but what secure
// aggregation sends, and that half of the bits of vectors are set.
func (f *federated) looksLikeNoise(t testing.TB, step string) {
	t.Helper()
	kinds := []string{"AdvertiseKeys", "Holders", "ShareKeys", "MaskedInput", "ConsistencyCheck", "Unmask"}
	set, total := 0, 0
	for _, m := range f.sent[step] {
		if !slices.Contains(kinds, m.Kind) || m.Protocol != secagg.Name {
			t.Errorf("%s: the server is sent %v", step, m.Header)
		}
		if m.Kind != "MaskedInput" {
			continue
		}
		for b := m.Body; len(b) > 0; b = b[8:] {
			for word := binary.LittleEndian.Uint64(b); word != 0; word &= word - 1 {
				set++
			}
			total += 64
		}
	}
	// Six standard deviations of a fair coin.
	if d := float64(2*set - total); total == 0 || d*d > 36*float64(total) {
		t.Errorf("%s: %d of %d bits of masked vectors are set", step, set, total)
	}
}
