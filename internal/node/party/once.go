package party

import (
	"crypto/sha256"
	"errors"
	"fmt"

	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/internal/node/journal"
	"github.com/mercer-fl/mercer/protocol"
)

// A job's id stands for one job file, once: releases and what jobs leave go by it.
// Permanent claims remember it, beside the ids of sessions. A question
// has an id that follows from its content, and its sessions are used up by themselves.

// file names what a job's id stands for: it holds the job's claims.
func (w *work) file() protocol.SessionID {
	var b wire.Writer
	b.String("mercer/v1/job-file")
	b.Fixed(w.id[:])
	b.Bytes32(w.job.Encode())
	return sha256.Sum256(b.Bytes())
}

func (w *work) idClaim() string { return "job/" + w.id.String() }

func (w *work) overClaim() string { return "over/" + w.id.String() }

// bind binds a job's id to its file.
func (p *Party) bind(w *work) error {
	if w.inquiry != nil {
		return nil
	}
	return claimed(p.Vault.Claim(w.file(), w.idClaim()), "two different job files under one job id")
}

// remember notes that a job is over. It comes before the destruction, after which
// nothing else would.
func (p *Party) remember(w *work) error {
	if w.inquiry != nil {
		return nil
	}
	return p.Vault.Claim(w.file(), w.overClaim())
}

// notOver refuses a job that is over here.
func (p *Party) notOver(w *work) error {
	if w.inquiry != nil || p.jobs[w.id] != nil {
		return nil
	}
	return claimed(p.Vault.Unclaimed(protocol.SessionID{}, w.overClaim()), fmt.Sprintf("job %v is over here, and its id is not used again", w.id))
}

// claimed translates the error that another session holds a claim.
func claimed(err error, held string) error {
	var other *journal.HeldError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &other):
		return refuse("%s", held)
	}
	return &fault.Error{Code: fault.CodeFailed, Err: err, Public: "it cannot use its ledger; its own log says why"}
}
