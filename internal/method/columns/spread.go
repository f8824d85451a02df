package columns

import (
	"slices"

	"github.com/mercer-fl/mercer/internal/crypto/prg"
)

// Spread lists the common rows whose labels a party has, for a job whose labels are spread over
// several parties. Both lists hold indices in Party.Set.
type Spread struct{ Training, HeldOut []int }

// Spread returns the indices of the common rows whose labels the party has.
func (p *Party) Spread() Spread {
	rows := p.Set.Labelled()
	at, _ := slices.BinarySearch(rows, p.train)
	return Spread{rows[:at], rows[at:]}
}

// Tally returns a number by which the coordinator checks that each training row has exactly one
// label. If so, the tallies of all active parties add up to 0 modulo 2^32. If not, the sum is 0 only by
// chance, about once in 2^32 times. Each training row has a random number that all parties know and the
// coordinator does not. A party adds up the random numbers of the rows whose labels it has, and the
// first party subtracts the random numbers of all training rows. So the coordinator learns only whether
// the sum is 0.
func (p *Party) Tally() uint32 {
	random := prg.New(p.key, "columns/tally")
	numbers := make([]uint32, p.train)
	var tally uint32
	for i := range numbers {
		numbers[i] = uint32(random.Uint64())
		if p.Self == p.Parties[0] {
			tally -= numbers[i]
		}
	}
	for _, row := range p.Spread().Training {
		tally += numbers[row]
	}
	return tally
}
