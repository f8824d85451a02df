package stage

import (
	"crypto/ed25519"
	"crypto/sha256"
	"math"

	"github.com/mercer-fl/mercer/internal/fault"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/wire"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/secagg"
)

// Summation is one secure sum of a crowd's job.
type Summation struct {
	Session *protocol.Session
	Params  secagg.Params
}

// newSummation describes a secure sum over the listed clients. The session names
// its purpose, and what else tells it from others of the job.
func newSummation(id job.ID, stage int, roster [sha256.Size]byte, s Session, server string, clients []string, spec secagg.Spec) (Summation, error) {
	params, err := secagg.NewParams(spec, len(clients))
	if err != nil {
		return Summation{}, fault.BadInput(err)
	}
	s = s.adding(params, server, clients)
	opened, err := protocol.NewSession(s.Descriptor(id, stage, roster, 1))
	return Summation{opened, params}, err
}

// Figures are what there is to tell of the sum before it has run.
func (s Summation) Figures() CrowdSum {
	degree, layout := s.Params.Degree(), s.Params.Layout()
	return CrowdSum{
		Purpose: s.Session.Purpose, Clients: len(s.Session.Members) - 1, Holders: degree.Holders, Threshold: degree.Threshold,
		Entries: layout.Entries(), Vector: 8 * layout.Words(),
	}
}

// adding is a session that adds up vectors of the listed clients.
func (s Session) adding(params secagg.Params, server string, clients []string) Session {
	s.Protocol, s.Version, s.Params, s.Members = secagg.Name, secagg.Version, params.Encode(), served(server, clients)
	return s
}

// served lists a server and its clients.
func served(server string, clients []string) []protocol.Member {
	list := []protocol.Member{{Name: server, Role: protocol.RoleServer}}
	for _, name := range clients {
		list = append(list, protocol.Member{Name: name, Role: protocol.RoleParty})
	}
	return list
}

// HashKeys is what a crowd's descriptors carry for its clients' keys.
func HashKeys(names []string, keys []ed25519.PublicKey) [sha256.Size]byte {
	var w wire.Writer
	w.String("mercer/v1/crowd")
	w.Uint32(uint32(len(names)))
	for i, name := range names {
		w.String(name)
		w.Bytes32(keys[i])
	}
	return sha256.Sum256(w.Bytes())
}

// Share counts a share of the clients, forgiving it the rounding of a decimal.
func Share(part float64, clients int) int {
	return int(math.Floor((part + 1e-14) * float64(clients)))
}
