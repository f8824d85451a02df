package privacypass

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"sync"

	"github.com/cloudflare/circl/oprf"
	"github.com/cloudflare/circl/zk/dleq"
)

// elementSize and scalarSize are the lengths of P-384 encodings in bytes.
const (
	elementSize = 49
	scalarSize  = 48
	proofSize   = 2 * scalarSize
)

// VOPRFIssuer issues tokens of type [VOPRF]. Only the issuer can verify them. It is safe for
// concurrent use.
type VOPRFIssuer struct {
	key     []byte
	public  []byte
	servers sync.Pool // holds *oprf.VerifiableServer values; each serves one call at a time
}

// NewVOPRFIssuer derives an issuer's key from a secret seed of 32 bytes and returns the issuer.
func NewVOPRFIssuer(seed []byte) (*VOPRFIssuer, error) {
	if len(seed) != 32 {
		return nil, fmt.Errorf("privacypass: the seed has %d bytes; use 32", len(seed))
	}
	key, err := oprf.DeriveKey(oprf.SuiteP384, oprf.VerifiableMode, seed, []byte("PrivacyPass"))
	if err != nil {
		return nil, fmt.Errorf("privacypass: %w", err)
	}
	return newVOPRFIssuer(key)
}

func newVOPRFIssuer(key *oprf.PrivateKey) (*VOPRFIssuer, error) {
	public, err := key.Public().MarshalBinary()
	if err != nil {
		return nil, fmt.Errorf("privacypass: %w", err)
	}
	secret, err := key.MarshalBinary()
	if err != nil {
		return nil, fmt.Errorf("privacypass: %w", err)
	}
	return &VOPRFIssuer{key: secret, public: public}, nil
}

// server returns an OPRF server that no other call is using. This is necessary because a server of
// package circl changes the coordinates of its public key in place for each proof.
func (i *VOPRFIssuer) server() (*oprf.VerifiableServer, error) {
	if s, ok := i.servers.Get().(*oprf.VerifiableServer); ok {
		return s, nil
	}
	key := new(oprf.PrivateKey)
	if err := key.UnmarshalBinary(oprf.SuiteP384, i.key); err != nil {
		return nil, fmt.Errorf("privacypass: %w", err)
	}
	s := oprf.NewVerifiableServer(oprf.SuiteP384, key)
	return &s, nil
}

// PublicKey returns the issuer's public key as a compressed point of P-384.
func (i *VOPRFIssuer) PublicKey() []byte { return i.public }

// Issue evaluates a blinded input and proves that the issuer's key was used.
func (i *VOPRFIssuer) Issue(request []byte) ([]byte, error) {
	b, err := blindedPart(request, VOPRF, i.public, elementSize)
	if err != nil {
		return nil, err
	}
	blinded := oprf.SuiteP384.Group().NewElement()
	if err := blinded.UnmarshalBinary(b); err != nil || blinded.IsIdentity() {
		return nil, errors.New("privacypass: the request is not a point of P-384")
	}
	server, err := i.server()
	if err != nil {
		return nil, err
	}
	defer i.servers.Put(server)
	e, err := server.Evaluate(&oprf.EvaluationRequest{Elements: []oprf.Blinded{blinded}})
	if err != nil {
		return nil, fmt.Errorf("privacypass: cannot evaluate a request: %w", err)
	}
	response, err := e.Elements[0].MarshalBinaryCompress()
	if err != nil {
		return nil, fmt.Errorf("privacypass: %w", err)
	}
	proof, err := e.Proof.MarshalBinary()
	if err != nil {
		return nil, fmt.Errorf("privacypass: %w", err)
	}
	return append(response, proof...), nil
}

// Verifier returns a verifier of the issuer's own tokens.
func (i *VOPRFIssuer) Verifier() *Verifier {
	return &Verifier{VOPRF, sha256.Sum256(i.public), func(input, output []byte) bool {
		server, err := i.server()
		if err != nil { // impossible, because NewVOPRFIssuer encoded the key
			return false
		}
		defer i.servers.Put(server)
		return server.VerifyFinalize(input, output)
	}}
}

func voprfBlinder(publicKey []byte) (blinder, error) {
	key := new(oprf.PublicKey)
	if err := key.UnmarshalBinary(oprf.SuiteP384, publicKey); err != nil || len(publicKey) != elementSize {
		return nil, errors.New("privacypass: the public key is not a compressed point of P-384")
	}
	c := oprf.NewVerifiableClient(oprf.SuiteP384, key)
	return func(input []byte) ([]byte, func([]byte) ([]byte, error), error) {
		data, request, err := c.Blind([][]byte{input})
		if err != nil {
			return nil, nil, fmt.Errorf("privacypass: cannot blind a request: %w", err)
		}
		return finishVOPRF(c, data, request)
	}, nil
}

// finishVOPRF encodes a blinded input. It returns a function that computes the output from the
// issuer's answer.
func finishVOPRF(c oprf.VerifiableClient, data *oprf.FinalizeData, request *oprf.EvaluationRequest) ([]byte, func([]byte) ([]byte, error), error) {
	blinded, err := request.Elements[0].MarshalBinaryCompress()
	if err != nil {
		return nil, nil, fmt.Errorf("privacypass: cannot blind a request: %w", err)
	}
	return blinded, func(response []byte) ([]byte, error) {
		e, err := parseEvaluation(response)
		if err != nil {
			return nil, err
		}
		outputs, err := c.Finalize(data, e)
		if err != nil {
			return nil, fmt.Errorf("privacypass: the issuer's answer does not prove that the issuer used its key: %w", err)
		}
		return outputs[0], nil
	}, nil
}

func parseEvaluation(b []byte) (*oprf.Evaluation, error) {
	if len(b) != elementSize+proofSize {
		return nil, fmt.Errorf("privacypass: the issuer's answer has %d bytes; an answer of type %v must have %d", len(b), VOPRF, elementSize+proofSize)
	}
	g := oprf.SuiteP384.Group()
	element := g.NewElement()
	if err := element.UnmarshalBinary(b[:elementSize]); err != nil {
		return nil, errors.New("privacypass: the issuer's answer does not contain a point of P-384")
	}
	proof := new(dleq.Proof)
	if err := proof.UnmarshalBinary(g, b[elementSize:]); err != nil {
		return nil, errors.New("privacypass: the issuer's answer does not contain a valid proof")
	}
	return &oprf.Evaluation{Elements: []oprf.Evaluated{element}, Proof: proof}, nil
}
