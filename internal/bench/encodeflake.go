package bench

import (
	"fmt"

	"github.com/mercer-fl/mercer/protocol/okra"
)

// raceFlake encodes rows by FLAKE and by OKRA's encoders, each with the making of the encoder. Of
// flake that is nearly all of the time.
func raceFlake(rows, features int) func(encodeSize) (race, error) {
	return func(encodeSize) (race, error) {
		specs := []okra.Spec{{Encoder: okra.Flake}, {Encoder: okra.Haar}, {Encoder: okra.Hadamard, Rounds: hadamardRounds}}
		var runs []run
		for _, spec := range specs {
			e, err := newEncoding(spec, rows, features)
			if err != nil {
				return race{}, err
			}
			runs = append(runs, pure(func() {
				if fresh, err := newEncoding(spec, 0, features); err == nil { // as it was above
					fresh.Encode(e.dst, e.src)
				}
			}))
		}
		return race{runs: runs, rows: func(best []span) []Row {
			var list []Row
			for i, spec := range specs[1:] {
				name := fmt.Sprintf("%s, made and used on %d rows of %d features", spec.Encoder, rows, features)
				list = append(list, figure(name, best[i+1].wall, "s").outruns(okra.Flake, best[0].wall))
			}
			return list
		}}, nil
	}
}
