package local

import "github.com/mercer-fl/mercer/internal/method/fedcfk"

// Intersection is an attack of the server on requests in mode paper. It counts how often each
// device requests each item. Each request has new decoys, but the items that a person likes recur.
type Intersection struct {
	decoys  int
	omitted float64
	items   int
	rounds  int
	asked   [][]uint16 // number of requests by device and item
}

// NewIntersection returns an attack on the given number of devices.
func NewIntersection(c fedcfk.Devices, devices int) *Intersection {
	p := c.Keys()
	return &Intersection{decoys: p.Decoys, omitted: p.Omitted, items: c.Items, asked: make([][]uint16, devices)}
}

// Begin starts the counts of the next round.
func (n *Intersection) Begin() { n.rounds++ }

// Count adds one request of a device to the counts.
func (n *Intersection) Count(device int, items []int) {
	if n.asked[device] == nil {
		n.asked[device] = make([]uint16, n.items)
	}
	for _, i := range items {
		n.asked[device][i]++
	}
}

// Guess returns the items that, according to the attack, the device's owner likes. Their request
// frequency is nearer to the frequency of liked items than to the frequency of decoys. The size of
// requests reveals how many items are liked.
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
