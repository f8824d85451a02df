package columnorder

import "github.com/mercer-fl/mercer/protocol"

// Cost returns the cost of a session in which all tables have the same columns. The function
// tables returns a member's table. Cost uses its width and classes, and whether its columns have
// names, but not the columns' names.
func Cost(s *protocol.Session, tables func(member string) Table) protocol.Cost {
	t := protocol.Cost{Rounds: 3}
	for _, leader := range s.With(protocol.RoleLeader) {
		own := tables(leader)
		l := newLayout(own.Columns != nil, own.Width, bulk())
		columns := len(l.encode([keyBytes]byte{}, digests{}))
		for _, party := range s.With(protocol.RoleParty) {
			t.Add(protocol.Flow{From: leader, To: party, Round: roundColumns, Kind: kindColumns, Messages: l.chunks(), Bytes: int64(columns) * int64(l.chunks())})
			t.Send(party, leader, roundMatch, MatchKind, len(match{classes: tables(party).Classes}.encode()))
			t.Send(leader, party, roundVerdict, kindVerdict, len(encodeVerdict("")))
		}
	}
	return t
}
