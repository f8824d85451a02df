package collective

import "github.com/mercer-fl/mercer/protocol"

// AllGatherCost returns the cost of an all-gather in which each statement has the given
// number of bytes.
func AllGatherCost(s *protocol.Session, bytes int) protocol.Cost {
	t := protocol.Cost{Rounds: 1}
	for _, from := range s.With(protocol.RoleParty, protocol.RoleLeader) {
		for _, to := range s.Members {
			if to.Name != from {
				t.Send(from, to.Name, roundStatement, kindStatement, bytes)
			}
		}
	}
	return t
}

// GatherCost returns the cost of a gather. The session's parameters hold the length of the
// bodies.
func GatherCost(s *protocol.Session) (protocol.Cost, error) {
	return gatherForm().cost(s, func(server, party string) (from, to string) { return party, server })
}

// BroadcastCost returns the cost of a broadcast. The session's parameters hold the length of
// the body.
func BroadcastCost(s *protocol.Session) (protocol.Cost, error) {
	return broadcastForm().cost(s, func(server, party string) (from, to string) { return server, party })
}

// cost returns the messages between the server and each party. The function way returns the sender
// and the receiver.
func (f form) cost(s *protocol.Session, way func(server, party string) (from, to string)) (protocol.Cost, error) {
	bytes, err := f.decode(s.Params)
	if err != nil {
		return protocol.Cost{}, err
	}
	split := frame{form: f, bytes: bytes, piece: protocol.MaxChunkBytes}
	t := protocol.Cost{Rounds: 1}
	for _, server := range s.With(protocol.RoleServer) {
		for _, party := range s.With(protocol.RoleParty) {
			from, to := way(server, party)
			t.Add(protocol.Flow{From: from, To: to, Round: round, Kind: f.Kind, Messages: split.pieces(), Bytes: int64(bytes)})
		}
	}
	return t, nil
}
