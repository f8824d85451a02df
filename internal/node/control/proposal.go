package control

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/node/access"
	"github.com/mercer-fl/mercer/protocol"
)

// These are the kinds of control messages.
const (
	KindProposal   = "Proposal"
	KindAcceptance = "Acceptance"
	KindRefusal    = "Refusal"
	KindDirectory  = "Directory"
	KindReport     = "Report"
	KindAbort      = "Abort"
	KindClosing    = "Closing"
	KindClosed     = "Closed"
	KindQuestion   = "Question"
	KindBusy       = "Busy" // tells the party to send its prediction query again later
	KindForget     = "Forget"
	KindForgotten  = "Forgotten"
	KindHoldings   = "Holdings"
	KindRecord     = "Record"
	KindStall      = "Stall" // tells the session's members that one of them cannot continue for now, or continues again
)

// These constants bound the parts of a message from a peer.
const (
	maxJobBytes        = 1 << 20
	maxDescriptorBytes = 2 << 20
	maxAnnouncedBytes  = 1 << 18
	maxTextBytes       = 4 << 10
	maxClasses         = 1 << 16
)

// Proposal asks a party to take part in one session of a job.
type Proposal struct {
	Job        job.ID
	Spec       []byte // the job file in canonical YAML
	Stage      uint16 // index of the session's step in the job's plan, or StagePredict
	Descriptor protocol.Descriptor
	// Announced holds facts that only the coordinator knows and that determine the session's
	// descriptor. The stage defines their format.
	Announced []byte
	// Inquiry is the prediction query for which the session runs, and the field Job then holds its ID.
	// Inquiry is nil in a session of the job itself, and in one with [StagePredict].
	Inquiry *Inquiry
	// Submitter is who submitted the job, as the coordinator says. Without a member it is not known.
	Submitter access.Person
}

// Predicts reports whether the session predicts new rows after the end of a job. The session is not
// resumed after a restart, since the party that asked can ask again.
func (p *Proposal) Predicts() bool { return p.Stage == StagePredict || p.Inquiry != nil }

// Encode returns the canonical encoding of the proposal.
func (p *Proposal) Encode() []byte {
	var w wire.Writer
	w.Fixed(p.Job[:])
	w.Bytes32(p.Spec)
	w.Uint16(p.Stage)
	w.Bytes32(p.Descriptor.Encode())
	w.Bytes32(p.Announced)
	w.Bool(p.Inquiry != nil)
	if p.Inquiry != nil {
		p.Inquiry.write(&w)
	}
	if p.Submitter.Member != "" {
		p.Submitter.Write(&w)
	}
	return w.Bytes()
}

// DecodeProposal decodes a proposal that Encode has encoded.
func DecodeProposal(b []byte) (*Proposal, error) {
	r := wire.NewReader(b)
	p := &Proposal{}
	r.Fixed(p.Job[:])
	p.Spec = r.Bytes32(maxJobBytes)
	p.Stage = r.Uint16()
	d := r.Bytes32(maxDescriptorBytes)
	if announced := r.Bytes32(maxAnnouncedBytes); len(announced) > 0 {
		p.Announced = announced
	}
	if r.Bool() {
		p.Inquiry = readInquiry(r)
	}
	if r.Len() > 0 {
		p.Submitter = readSubmitter(r)
	}
	if err := r.Close("control: proposal"); err != nil {
		return nil, err
	}
	descriptor, err := protocol.DecodeDescriptor(d)
	if err != nil {
		return nil, fmt.Errorf("control: proposal: %w", err)
	}
	p.Descriptor = *descriptor
	return p, nil
}

// readSubmitter reads the end of a proposal. A proposal of an earlier build, or without a known submitter, lacks it.
func readSubmitter(r *wire.Reader) access.Person {
	by := access.Read(r)
	if by.Member == "" {
		r.Fail(errors.New("the submitter has no member"))
	}
	return by
}

func readInquiry(r *wire.Reader) *Inquiry {
	return &Inquiry{Question: readQuestion(r), Asker: r.String(protocol.MaxNameBytes)}
}

// Refusal says that a party or the coordinator refuses a request. It gives a reason for the user of
// the other side. It is also the body of Abort, and then says why the session has failed.
type Refusal struct{ fault.Notice }

// Refuse returns a refusal with the public text of an error as its reason.
func Refuse(err error) *Refusal { return &Refusal{fault.NoticeOf(err)} }

// rejected begins the text by which a party refuses a job that its operator has rejected. The operator's reason
// follows.
const rejected = "the operator has rejected the job: "

// Rejected returns the error by which a party refuses a job that its operator has rejected. The other members read the
// operator's reason.
func Rejected(reason string) error { return fault.Forbiddenf("%s%s", rejected, reason) }

// Rejection returns the reason of an operator who has rejected the job, as one printable line of bounded length. It
// returns false if the party refuses for another reason.
func (f *Refusal) Rejection() (reason string, is bool) {
	if f.Code != fault.CodePolicy {
		return "", false
	}
	return strings.CutPrefix(f.Sentence(), rejected)
}

// Encode returns the canonical encoding of the refusal.
func (f *Refusal) Encode() []byte {
	var w wire.Writer
	w.Uint8(uint8(f.Code))
	w.Uint8(uint8(f.Trouble))
	w.String(fault.Printable(f.Text))
	return w.Bytes()
}

// DecodeRefusal decodes a refusal that Encode has encoded.
func DecodeRefusal(b []byte) (*Refusal, error) {
	r := wire.NewReader(b)
	f := &Refusal{fault.Notice{Code: readCode(r), Trouble: readTrouble(r), Text: readReason(r)}}
	f.check(r)
	return f, r.Close("control: refusal")
}

// check rejects a refusal that has both a trouble number and a text, because each trouble has a
// fixed text.
func (f *Refusal) check(r *wire.Reader) {
	if f.Trouble != fault.NoTrouble && f.Text != "" {
		r.Fail(fmt.Errorf("the refusal has trouble %d and also a text; it must have only one of them", f.Trouble))
	}
}

// readTrouble reads the number of a trouble and rejects unknown numbers.
func readTrouble(r *wire.Reader) fault.Trouble {
	t := fault.Trouble(r.Uint8())
	if !t.Known() {
		r.Fail(fmt.Errorf("the trouble number %d is unknown", t))
		return fault.NoTrouble
	}
	return t
}

// readReason reads a peer's text: one printable line of bounded length.
func readReason(r *wire.Reader) string {
	s := r.String(maxTextBytes)
	if s != fault.Printable(s) {
		r.Fail(errors.New("the reason contains characters that cannot be printed"))
	}
	return s
}

// readCode reads the number of a fault code and rejects unknown numbers.
func readCode(r *wire.Reader) fault.Code {
	c := fault.Code(r.Uint8())
	if !c.Known() {
		r.Fail(fmt.Errorf("the fault code %d is unknown", c))
	}
	return c
}

// clip replaces control and invalid characters in a text, and cuts the text to the length that
// peers accept.
func clip(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == utf8.RuneError {
			return ' '
		}
		return r
	}, s)
	if len(s) <= maxTextBytes {
		return s
	}
	return strings.ToValidUTF8(s[:maxTextBytes], "")
}

// readText reads a peer's text. It rejects control characters, because the text will be shown on a
// terminal.
func readText(r *wire.Reader) string {
	s := r.String(maxTextBytes)
	if s != clip(s) {
		r.Fail(errors.New("the text contains control characters, which are not allowed"))
	}
	return s
}
