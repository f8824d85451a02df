package local

import "github.com/mercer-fl/mercer/internal/method/fedcfk"

// Intersection attacks the requests as the server of mode paper can: it counts how often each
// device requests each item. Decoys are drawn anew each time, but the items that a person likes are
// requested repeatedly.
type Intersection struct {
	decoys  int
	omitted float64
	items   int
	rounds  int
	asked   [][]uint16 // by device and item
}

// NewIntersection returns an attack on the given number of devices.
func NewIntersection(c fedcfk.Devices, devices int) *Intersection {
	p := c.Keys()
	return &Intersection{decoys: p.Decoys, omitted: p.Omitted, items: c.Items, asked: make([][]uint16, devices)}
}

// Begin starts the counts of another round.
func (n *Intersection) Begin() { n.rounds++ }

// Count counts a device's request.
func (n *Intersection) Count(device int, items []int) {
	if n.asked[device] == nil {
		n.asked[device] = make([]uint16, n.items)
	}
	for _, i := range items {
		n.asked[device][i]++
	}
}

// Guess returns the items that the server guesses to be liked by the device's owner: those whose
// frequency is nearer to the frequency of liked items than to that of others. The size of requests
// reveals how many items are liked.
func (n *Intersection) Guess(device int) []int {
	total := 0
	for _, times := range n.asked[device] {
		total += int(times)
	}
	size := float64(total) / float64(max(1, n.rounds))
	liked, other := 1-n.omitted, 1.0
	if count := size / (1 - n.omitted + float64(n.decoys)); count*float64(1+n.decoys) < float64(n.items) {
		other = float64(n.decoys) * count / (float64(n.items) - count)
	}
	var list []int
	for i, times := range n.asked[device] {
		often := float64(times) / float64(n.rounds)
		if (liked-often)*(liked-often) < (other-often)*(other-often) {
			list = append(list, i)
		}
	}
	return list
}
