package scale

import "github.com/mercer-fl/mercer/protocol"

// Cost returns the cost of a session for tables with the given number of columns.
func Cost(s *protocol.Session, width int) protocol.Cost {
	t, l := protocol.Cost{Rounds: 2}, newLayout(width, bulk())
	bytes := int64(len(l.encode(0, columns{}))) * int64(l.chunks())
	for _, leader := range s.With(protocol.RoleLeader) {
		for _, party := range s.With(protocol.RoleParty) {
			t.Add(protocol.Flow{From: party, To: leader, Round: roundStatistics, Kind: kindStatistics, Messages: l.chunks(), Bytes: bytes})
			t.Add(protocol.Flow{From: leader, To: party, Round: roundCombined, Kind: kindCombined, Messages: l.chunks(), Bytes: bytes})
		}
	}
	return t
}
