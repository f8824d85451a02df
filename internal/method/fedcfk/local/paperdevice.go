package local

import (
	"slices"

	"github.com/mercer-fl/mercer/internal/crypto/prg"
	"github.com/mercer-fl/mercer/internal/method/fedcfk"
	"github.com/mercer-fl/mercer/learn/komd"
	"github.com/mercer-fl/mercer/linalg"
)

// PaperDevice is a device in FedCFK's mode paper. It requests rows in every round, and hides the rows
// that it needs among requests for other rows (section 3.2 of the paper).
type PaperDevice struct {
	fedcfk.Device
	random *prg.Stream
	held   []heldRow // newest kernel row of each liked item
}

// heldRow is the newest kernel row of an item at a device.
type heldRow struct {
	round  int // round in which the server sent the row; 0 if the device has no row of the item
	values []uint16
}

// NewPaperDevice returns the device of a person who likes the given items, ascending.
func NewPaperDevice(c fedcfk.Devices, liked []int, random *prg.Stream) *PaperDevice {
	return &PaperDevice{fedcfk.Device{Devices: c, Liked: liked}, random, make([]heldRow, len(liked))}
}

// Request draws, in ascending order, the items whose rows the device requests. They are most of the
// liked items and random others.
func (a *PaperDevice) Request() []int {
	var list, others []int
	for _, i := range a.Liked {
		if a.random.Float64() >= a.Keys().Omitted {
			list = append(list, i)
		}
	}
	for i := range a.Items {
		if _, likes := slices.BinarySearch(a.Liked, i); !likes {
			others = append(others, i)
		}
	}
	order := a.random.Perm(len(others))
	for _, at := range order[:min(len(order), a.Keys().Decoys*len(a.Liked))] {
		list = append(list, others[at])
	}
	slices.Sort(list)
	return list
}

// Keep stores the rows of the requested items. Rounds count from 1.
func (a *PaperDevice) Keep(round int, items []int, rows [][]uint16) {
	for at, i := range items {
		if place, likes := slices.BinarySearch(a.Liked, i); likes {
			a.held[place] = heldRow{round, rows[at]}
		}
	}
}

// Rank returns a score for every item of the catalogue, and reports whether the minimised quadratic
// form was convex. If it was not, the weights come from [komd.Descend]. A device without any row
// uses the mean of each item's row, and so recommends items that are similar to all others.
func (a *PaperDevice) Rank(mean []float64, lambda float64) (scores []float64, convex bool, err error) {
	s := a.stripe(mean)
	if len(s.Liked) == 0 {
		return mean, true, nil
	}
	return s.Scores(lambda)
}

// stripe returns the stored rows as the input of package komd. If rows of different rounds have
// different values for a pair of liked items, the newer row counts.
func (a *PaperDevice) stripe(mean []float64) komd.Stripe {
	s := komd.Stripe{Mean: mean}
	var held []heldRow
	for at, row := range a.held {
		if row.round > 0 {
			s.Liked, held = append(s.Liked, a.Liked[at]), append(held, row)
		}
	}
	s.Rows = linalg.New[float64](len(held), len(mean))
	for r, row := range held {
		for j, v := range row.values {
			s.Rows.Row(r)[j] = float64(v) / fedcfk.One
		}
		for c, other := range held {
			if other.round > row.round {
				s.Rows.Row(r)[s.Liked[c]] = float64(other.values[s.Liked[r]]) / fedcfk.One
			}
		}
	}
	return s
}
