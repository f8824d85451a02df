package gram

import (
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/secagg"
)

// sumCost is the formula of the step that adds up the Gram matrices. A party copies its rows in fixed
// point and computes each product twice, for the hash of its vector and for the messages; the
// coordinator keeps the matrix.
func sumCost(sizes method.Sizes, s *protocol.Session) (protocol.Cost, error) {
	c, err := secagg.Cost(s, sumLimits())
	if err != nil {
		return protocol.Cost{}, err
	}
	n := float64(sizes.Common)
	for party, t := range sizes.Tables {
		c.Load(party, protocol.Load{
			Effort: protocol.Effort{Products: n * n * float64(t.Columns)},
			Held:   8 * int64(sizes.Common) * int64(t.Columns),
		})
	}
	for _, server := range s.With(protocol.RoleServer) {
		c.Load(server, protocol.Load{Kept: 8 * int64(sizes.Common) * int64(sizes.Common)})
	}
	return c, nil
}
