package invitation

import (
	"crypto/ed25519"
	"errors"
	"fmt"

	"github.com/mercer-fl/mercer/internal/base/identity"
	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/internal/node/roster"
)

const (
	claimMagic = "mercer/v1/claim"
	maxMember  = 8 << 10 // bytes of a member file
)

// MaxClaim bounds the length of a claim in bytes.
const MaxClaim = maxMember + 256

// Sign returns the claim of an invitation by the member m, whose keys are of the identity id. key is the
// public key of the invitation's secret, to which the claim is bound.
func Sign(id *identity.Identity, m roster.Member, key string) ([]byte, error) {
	file, err := roster.MarshalMember(m)
	if err != nil {
		return nil, err
	}
	var w wire.Writer
	w.String(claimMagic)
	w.Bytes32(file)
	w.Bytes32(ed25519.Sign(id.SigningKey(), claimed(key, file)))
	return w.Bytes(), nil
}

// claimed returns the message that a claim signs.
func claimed(key string, file []byte) []byte {
	var w wire.Writer
	w.String("mercer/v1/claim/signature")
	w.String(key)
	w.Bytes32(file)
	return w.Bytes()
}

// OpenClaim returns the member that claims an invitation. It checks that the claim is for this invitation
// and is signed by the member's own key.
func OpenClaim(b []byte, key string) (roster.Member, error) {
	r := wire.NewReader(b)
	r.Magic(len(claimMagic), claimMagic, "the format %q is unknown")
	file, signature := r.Bytes32(maxMember), r.Bytes32(ed25519.SignatureSize)
	if err := r.Close("the claim of an invitation"); err != nil {
		return roster.Member{}, fmt.Errorf("invitation: %w", err)
	}
	m, err := roster.ParseMember(file)
	if err != nil {
		return roster.Member{}, fmt.Errorf("invitation: the member file of the claim: %w", err)
	}
	if !ed25519.Verify(m.Sign, claimed(key, file), signature) {
		return roster.Member{}, errors.New("invitation: the signature of the claim does not belong to its keys and to this invitation")
	}
	return m, nil
}

// State is what has become of a claim.
type State uint8

// These are the states of a claim.
const (
	Refused  State = iota // the answer's Reason says why
	Pending               // the coordinator's operator has not decided
	Approved              // the roster has the newcomer
)

// Answer is the coordinator's answer to a claim.
type Answer struct {
	State  State
	Reason string // reason of a refusal
	Roster []byte // the roster file, if State is Approved
}

const (
	answerMagic = "mercer/v1/claim/answer"
	maxReason   = 1024
	// MaxRoster bounds the length of the roster file in an answer, which is one message of the broker. It is
	// enough for about 450 members.
	MaxRoster = 900 << 10
)

// Encode returns the encoding of the answer. A reason of more than maxReason bytes is shortened.
func (a Answer) Encode() []byte {
	var w wire.Writer
	w.String(answerMagic)
	w.Uint8(uint8(a.State))
	w.String(a.Reason[:min(len(a.Reason), maxReason)])
	w.Bytes32(a.Roster)
	return w.Bytes()
}

// DecodeAnswer decodes an answer.
func DecodeAnswer(b []byte) (Answer, error) {
	r := wire.NewReader(b)
	r.Magic(len(answerMagic), answerMagic, "the format %q is unknown")
	a := Answer{State: State(r.Uint8()), Reason: r.String(maxReason), Roster: r.Bytes32(MaxRoster)}
	if a.State > Approved {
		r.Fail(fmt.Errorf("the state %d is unknown", a.State))
	}
	if err := r.Close("the answer to a claim"); err != nil {
		return Answer{}, fmt.Errorf("invitation: %w", err)
	}
	return a, nil
}
