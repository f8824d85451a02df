package secureboost

// The rounds of a session.
const (
	roundHello uint16 = iota + 1
	roundGradients
	roundSums
	roundChoose
	roundBits
	roundDivide
	roundFinish
)

const (
	kindKey   = "Key"
	kindShape = "Shape"
)

// kindOf names the messages of a round from the second on.
func kindOf(round uint16) string {
	return [...]string{"", "", "Gradients", "Sums", "Choose", "Bits", "Divide", "Finish"}[round]
}

// choice is a split of a node of the level by a host's own column.
type choice struct{ node, column, bin int }
