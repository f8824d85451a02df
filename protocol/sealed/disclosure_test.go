package sealed

import (
	"slices"
	"testing"

	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/internal/ring128"
)

func TestOpeningIsFair(t *testing.T) {
	k, in, words := solvedSmall(t)
	for liar := serverA; liar <= dealerC; liar++ {
		for withheld := range 16 {
			j := judgesOf(t, k, in)
			j.alter = func(m protocol.Message) protocol.Message {
				if m.Sender != j.computation.keepers[liar] || m.Kind != kindToken && m.Kind != kindPart {
					return m
				}
				bit := 1 << slices.Index(liar.othersNames(j), m.Receiver)
				if m.Kind == kindPart {
					bit <<= 2
				}
				if withheld&bit != 0 {
					m.Kind = "lost"
				}
				return m
			}
			j.run()
			all := withheld != 15 // somebody gets the liar's token: a part comes with all tokens
			for r, c := range j.keepers {
				if c.done() != all {
					t.Errorf("%d withholds %b: %d has the weights: %v", liar, withheld, r, c.done())
				}
				if c.done() && !slices.Equal(c.weights(), words) {
					t.Errorf("%d withholds %b: %d has other weights", liar, withheld, r)
				}
			}
		}
	}
}

func (r role) othersNames(j *judges) (names []string) {
	for _, o := range r.others() {
		names = append(names, j.computation.keepers[o])
	}
	return names
}

func TestWrongLastTotal(t *testing.T) {
	k, in, _ := solvedSmall(t)
	for liar := serverA; liar <= dealerC; liar++ {
		for _, victim := range liar.others() {
			j := judgesOf(t, k, in)
			last := k.steps() + len(j.keepers[0].course) - 1
			j.alter = func(m protocol.Message) protocol.Message {
				if m.Sender == j.computation.keepers[liar] && m.Receiver == j.computation.keepers[victim] && int(m.Round) == last {
					m.Body = plusAt(m.Body, 0, 16, []ring128.Word{ring128.FromInt64(1)})
				}
				return m
			}
			j.run()
			j.closed()
			j.wants(victim, "different totals")
		}
	}
}

func TestWrongPartIsDropped(t *testing.T) {
	k, in, words := solvedSmall(t)
	for liar := serverA; liar <= dealerC; liar++ {
		for _, at := range []int{96, 128, 128 + 16*9} { // salt, first word, last word
			j := judgesOf(t, k, in)
			j.alter = func(m protocol.Message) protocol.Message {
				if m.Sender == j.computation.keepers[liar] && m.Kind == kindPart {
					m.Body[at] ^= 1
				}
				return m
			}
			if got := j.opened(); !slices.Equal(got, words) {
				t.Errorf("%d changes byte %d: other weights", liar, at)
			}
		}
	}
}

func TestWrongToken(t *testing.T) {
	k, in, _ := solvedSmall(t)
	j := judgesOf(t, k, in)
	j.alter = func(m protocol.Message) protocol.Message {
		if m.Sender == "bergen" && m.Kind == kindToken {
			m.Body[0] ^= 1
		}
		if m.Sender == "bergen" && m.Kind == kindPart {
			m.Body[32*int(serverB)] ^= 1
		}
		return m
	}
	j.run()
	j.closed()
	if len(j.refused) != 2 {
		t.Errorf("refused: %v", j.refused)
	}
	for _, err := range j.refused {
		blames(t, "token", err, "bergen", protocol.KindInconsistent)
	}
}
