package control

import (
	"crypto/sha256"
	"errors"
	"fmt"

	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/protocol"
)

// Report tells the coordinator how a session ended for a party. Of the data it contains only the
// facts that the leakage statement needs.
type Report struct {
	fault.Notice        // the outcome; after success its trouble and text are empty
	Blamed       string // name of the member at fault, [protocol.Transport], or ""
	PID          uint32
	Sent         uint64 // bytes of messages that the party sent
	Received     uint64
	CPU          float64 // seconds of processor time of the party's process since it took up the job
	PeakRSS      uint64  // peak memory in bytes
	Facts        method.Facts
	// Word says which accuracy figures over its own held-out rows the party permits. Reports of
	// earlier programs lack this field.
	Word learner.FigurePermission
}

func readGrid(r *wire.Reader) method.Grid {
	g := method.Grid(r.Uint8())
	if g > method.AllGrid {
		r.Fail(fmt.Errorf("the grid number %d is unknown", g))
	}
	return g
}

// Encode returns the canonical encoding of the report.
func (p *Report) Encode() []byte {
	var w wire.Writer
	w.Uint8(uint8(p.Code))
	w.String(p.Blamed)
	w.String(fault.Printable(p.Text))
	w.Uint32(p.PID)
	w.Uint64(p.Sent)
	w.Uint64(p.Received)
	w.Float64(p.CPU)
	w.Uint64(p.PeakRSS)
	w.Bool(p.Facts.Known)
	w.Uint8(uint8(p.Facts.Grid))
	w.Uint32(p.Facts.Features)
	if p.Word != learner.Denied || p.Trouble != fault.NoTrouble {
		w.Uint8(uint8(p.Word))
	}
	if p.Trouble != fault.NoTrouble {
		w.Uint8(uint8(p.Trouble))
	}
	return w.Bytes()
}

// DecodeReport decodes a report that Encode has encoded.
func DecodeReport(b []byte) (*Report, error) {
	r := wire.NewReader(b)
	p := &Report{
		Notice: fault.Notice{Code: readCode(r)}, Blamed: r.String(protocol.MaxNameBytes),
	}
	p.Text = readReason(r)
	p.read(r)
	return p, r.Close("control: report")
}

// read reads the fields that follow the outcome. A report with neither a permission nor a trouble
// ends before the fields for them.
func (p *Report) read(r *wire.Reader) {
	p.PID, p.Sent, p.Received, p.CPU, p.PeakRSS = r.Uint32(), r.Uint64(), r.Uint64(), r.Float64(), r.Uint64()
	p.Facts = method.Facts{Known: r.Bool(), Grid: readGrid(r), Features: r.Uint32()}
	if r.Err() != nil || r.Len() == 0 {
		return
	}
	if p.Word = learner.FigurePermission(r.Uint8()); p.Word > learner.Allowed {
		r.Fail(fmt.Errorf("the report's permission %d for figures is unknown", p.Word))
	}
	if r.Err() == nil && r.Len() > 0 {
		if p.Trouble = readTrouble(r); p.Trouble == fault.NoTrouble {
			r.Fail(errors.New("the report has a field for trouble, but the field is empty"))
		}
	}
	if none := p.Trouble == fault.NoTrouble; none && p.Word == learner.Denied || !none && p.Text != "" {
		r.Fail(fmt.Errorf("the report has trouble %d, permission %d and a text of %d bytes, which exclude each other", p.Trouble, p.Word, len(p.Text)))
	}
}

// Closing ends a job at a party. The party destroys its secrets of the job, except what the job
// retains at the party for predictions or later jobs.
type Closing struct {
	Job            job.ID
	Outcome        string // how the job ended, for the party's audit record
	Done           bool   // true if the job has a result
	method.Closing        // data that parties store for prediction queries
}

// Encode returns the canonical encoding of the closing.
func (c *Closing) Encode() []byte {
	var w wire.Writer
	w.Fixed(c.Job[:])
	w.String(fault.Printable(c.Outcome))
	w.Bool(c.Done)
	w.Strings(c.Classes)
	return w.Bytes()
}

// DecodeClosing decodes a closing that Encode has encoded. Closed has the same body.
func DecodeClosing(b []byte) (*Closing, error) {
	r := wire.NewReader(b)
	c := &Closing{}
	r.Fixed(c.Job[:])
	c.Outcome = readReason(r)
	c.Done = r.Bool()
	for range r.Count(maxClasses, 2) {
		c.Classes = append(c.Classes, readText(r))
	}
	return c, r.Close("control: closing")
}

// Topic returns the session id under which control messages about a whole job are sent.
func Topic(id job.ID) protocol.SessionID {
	return sha256.Sum256(append([]byte("mercer/v1/job/"), id[:]...))
}
