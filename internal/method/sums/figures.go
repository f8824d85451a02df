package sums

import (
	"fmt"
	"strconv"

	"github.com/mercer-fl/mercer/internal/base/say"
	"github.com/mercer-fl/mercer/internal/method"
)

// Figures describes how a secure sum of a crowd went.
type Figures struct {
	Purpose    string `json:"purpose"`
	Clients    int    `json:"clients"`
	Holders    int    `json:"holders"`   // of shares of each client's secrets
	Threshold  int    `json:"threshold"` // of them that can put a secret together
	Added      int    `json:"added"`     // clients in the sum
	Vanished   int    `json:"vanished"`
	Entries    int    `json:"entries"`
	Vector     int    `json:"vector_bytes"`
	ToServer   uint64 `json:"to_server_bytes"` // of all clients
	FromServer uint64 `json:"from_server_bytes"`
}

// Table shows the sums; of many rounds the first and the last, the result has all.
func Table(sums []Figures) method.Block {
	if len(sums) > 2 {
		sums = []Figures{sums[0], sums[len(sums)-1]}
	}
	t := method.Block{Header: []string{"sum", "clients", "vanished", "of them added", "added", "holders", "threshold", "entries", "vector", "sent by each", "to each"}}
	for _, s := range sums {
		row := []string{s.Purpose}
		for _, n := range []int{s.Clients, s.Vanished, late(s), s.Added, s.Holders, s.Threshold, s.Entries} {
			row = append(row, strconv.Itoa(n))
		}
		n := uint64(max(1, s.Clients))
		t.Rows = append(t.Rows, append(row, say.Bytes(s.Vector), say.Bytes(s.ToServer/n), say.Bytes(s.FromServer/n)))
	}
	return t
}

// late counts clients who vanish after their vectors have come, and are in the sum.
func late(s Figures) int { return s.Added + s.Vanished - s.Clients }

// Describe counts a sum's clients.
func Describe(s Figures) string {
	return fmt.Sprintf("%d of %d clients added; %d vanished, %d of them after their vectors had come; %d holders, threshold %d",
		s.Added, s.Clients, s.Vanished, late(s), s.Holders, s.Threshold)
}
