package rows

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/mercer-fl/mercer/dataset/prepare"
	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/sums"
	"github.com/mercer-fl/mercer/protocol"
)

// statement describes a party's preparation to all others and the coordinator. The
// digest is under a key of the parties: a digest without one would let the coordinator try guesses
// at agreed words and medians.
type statement struct {
	columns int
	digest  [sha256.Size]byte
}

// stated returns a party's statement.
func stated(made *prepare.Preparation, key [32]byte) []byte {
	hash, mac := made.Hash(), hmac.New(sha256.New, key[:])
	_, _ = mac.Write([]byte("mercer/v1/preparation"))
	_, _ = mac.Write(hash[:])
	return statement{made.Width(), [sha256.Size]byte(mac.Sum(nil))}.encode()
}

func (s statement) encode() []byte {
	var w wire.Writer
	w.Uint32(uint32(s.columns))
	w.Fixed(s.digest[:])
	return w.Bytes()
}

func decodeStatement(b []byte) (statement, error) {
	r := wire.NewReader(b)
	s := statement{columns: int(r.Uint32())}
	r.Fixed(s.digest[:])
	if r.Err() == nil && (s.columns < 1 || s.columns > job.MaxFeatures) {
		r.Fail(fmt.Errorf("%d prepared columns", s.columns))
	}
	return s, r.Close("rows: statement about a preparation")
}

// Witness is the coordinator's part of a job's preparation: it hears the parties' statements.
type Witness struct {
	of    method.Case
	heard *learner.Prepared
}

// WitnessOf returns the coordinator's part of a job.
func WitnessOf(c method.Case) Witness { return Witness{of: c} }

// hear is the coordinator's machine of the step in which the parties state what they have fitted.
func (w *Witness) hear(setup method.Setup) (*method.Run, error) {
	var parties []string // of the session: some may come later, or have left
	for _, m := range setup.Session.Members {
		if m.Role != protocol.RoleServer {
			parties = append(parties, m.Name)
		}
	}
	return sums.Listener(setup, func(statements [][]byte) error { return w.take(parties, statements) })
}

// take refuses statements that differ.
func (w *Witness) take(parties []string, statements [][]byte) error {
	for i, b := range statements {
		s, err := decodeStatement(b)
		if err != nil {
			return protocol.Blame(parties[i], protocol.KindMalformed, err)
		}
		if !bytes.Equal(b, statements[0]) {
			return fault.BadInputf("rows: %s and %s state different preparations, so that nothing is learnt from their rows; look for a program that differs", parties[0], parties[i])
		}
		w.heard = &learner.Prepared{Columns: s.columns, Digest: hex.EncodeToString(s.digest[:]), Keyed: true}
	}
	return nil
}

// Prepared returns what the coordinator reads, nil without a schema. What is not fitted follows from
// the job.
func (w *Witness) Prepared() (*learner.Prepared, error) {
	data := &w.of.Job.Data
	if w.heard != nil || !data.Prepares() || data.FitsSchema() {
		return w.heard, nil
	}
	plan, err := prepare.NewPlan(data.Schema, data.Fitted())
	if err != nil {
		return nil, err
	}
	made, err := plan.Fit(nil)
	if err != nil {
		return nil, err
	}
	hash := made.Hash()
	return &learner.Prepared{Columns: made.Width(), Digest: hex.EncodeToString(hash[:])}, nil
}
