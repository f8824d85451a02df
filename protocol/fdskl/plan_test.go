package fdskl

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What goes over each edge is what Plan says.
func TestPlan(t *testing.T) {
	for _, mode := range []Mode{Hardened, Paper} {
		for _, topology := range []Topology{Binary, Star, Chain} {
			for _, rows := range []int{1, 8, 9, 15, 16, 17, 41} {
				f := newFederation(t, Spec{Mode: mode, Topology: topology, Bits: 16, Rows: rows, Directions: 3}, 5)
				f.chunk = 12 // two rows
				_, r := f.run(t, f.table, nil)
				if err := r.Err(); err != nil {
					t.Fatal(err)
				}
				var got []Edge
				for _, e := range r.Edges {
					got = append(got, Edge{e.From, e.To, e.Messages, e.Bytes})
				}
				want, err := plan(f.session, f.chunk, []Request{{Rows: []Span{{0, rows}}, Directions: Span{0, 3}}})
				if err != nil {
					t.Fatal(err)
				}
				if d := cmp.Diff(want, got); d != "" {
					t.Errorf("%s, %s, %d rows: %s", mode, topology, rows, d)
				}
			}
		}
	}
}

// A tree's edge carries rows x directions words and nothing else that grows.
func TestRequestBytes(t *testing.T) {
	p, err := NewParams(Spec{Bits: 16, Rows: 1_000_000, Directions: 1024})
	if err != nil {
		t.Fatal(err)
	}
	all := Request{Rows: []Span{{0, 1_000_000}}, Directions: Span{0, 1024}}
	if got, want := fmt.Sprint(p.RequestBytes(all), p.HeldBytes(4)), fmt.Sprint(1_000_000*1024*2, 4<<20); got != want {
		t.Errorf("%s bytes, want %s", got, want)
	}
}
