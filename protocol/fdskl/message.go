package fdskl

import "github.com/mercer-fl/mercer/protocol"

// The rounds. All but the first and the last come once for each request. The
// sequence number of their messages is the request's: (active worker, counter)
// as counter x active workers + active worker.
const (
	roundKeys uint16 = 1 + iota
	roundRequest
	roundWitness
	roundPhases
	roundMasks
	roundFinish
	roundShares
	roundTurn
)

// kindRoom is the other kind of messages in roundPhases and roundMasks, from
// parent to child.
const kindRoom = "Room"

func kindOf(round uint16) string {
	switch round {
	case roundKeys:
		return "Keys"
	case roundRequest:
		return "Request"
	case roundWitness:
		return "Witness"
	case roundPhases:
		return "Phases"
	case roundMasks:
		return "Masks"
	case roundFinish:
		return "Finish"
	case roundShares:
		return "Shares"
	case roundTurn:
		return "Turn"
	}
	return ""
}

// climbs reports whether a round's words climb a tree in this mode, and which.
func (w *worker) climbs(round uint16) (tree int, some bool) {
	tree = int(round) - int(roundPhases)
	return tree, tree == 0 || tree == 1 && w.params.spec.Mode == Paper
}

// verify refuses kinds that do not belong to their round, and pieces of what
// travels whole.
func (w *worker) verify(m protocol.Message) error {
	_, climbs := w.climbs(m.Round)
	switch {
	case climbs && (m.Kind == kindRoom || m.Kind == kindOf(m.Round)):
		return nil
	case climbs || m.Round == roundMasks || m.Kind == "" || m.Kind != kindOf(m.Round), m.Chunks != 1:
		return m.Unexpected()
	}
	return nil
}
