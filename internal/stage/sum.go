package stage

import (
	"fmt"

	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/sums"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/secagg"
)

// summing is what a stage of secure aggregation adds, and what becomes of it.
type summing struct {
	epoch  func(Known) string // names what all must have been told alike
	groups func(Known) ([]secagg.Group, error)
	party  func(*Party, Setup) (*Run, error)
	server func(*Server, Setup) (*Run, error)
}

// sumStage adds up a vector of every party by secure aggregation, once for each
// submission of a job.
func sumStage(name string, c Cast, what summing) Stage {
	return Stage{Name: name, Session: adopted(sums.Session(c.framed(), name, func(k method.Known) (sums.Sum, error) {
		groups, err := what.groups(k.(Known))
		return sums.Sum{Epoch: what.epoch(k.(Known)), Groups: groups}, err
	}), what.party, what.server)}
}

// telling is what the server tells all parties, and what a party does with it.
type telling struct {
	length func(Known) int
	body   func(*Server) []byte
	party  func(p *Party, body []byte, s *protocol.Session) error
}

// tellStage tells something public to all parties.
func tellStage(name string, c Cast, what telling) Stage {
	told := sums.Tell(c.framed(), func(k method.Known) int { return what.length(k.(Known)) })
	return Stage{Name: name, Session: adopted(told,
		func(p *Party, setup Setup) (*Run, error) {
			return sums.Hearer(setup, func(body []byte) error { return what.party(p, body, setup.Session) })
		},
		func(s *Server, setup Setup) (*Run, error) { return sums.Teller(setup, what.body(s)) })}
}

// toldWrong blames the server for what it must not tell a party.
func toldWrong(server string, format string, args ...any) error {
	return protocol.Blame(server, protocol.KindInconsistent, fmt.Errorf("stage: "+format, args...))
}
