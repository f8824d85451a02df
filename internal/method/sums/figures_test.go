package sums

import (
	"slices"
	"testing"
)

func TestASumsClientsAddUp(t *testing.T) {
	got := Describe(Figures{Clients: 250, Added: 233, Vanished: 25, Holders: 78, Threshold: 55})
	const want = "233 of 250 clients added; 25 vanished, 8 of them after their vectors had come; 78 holders, threshold 55"
	if got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestTableOfSums(t *testing.T) {
	of := func(purpose string) Figures {
		return Figures{Purpose: purpose, Clients: 250, Added: 233, Vanished: 25, Holders: 48, Threshold: 31, Entries: 140, Vector: 144, ToServer: 250 * 2048}
	}
	if rows := Table([]Figures{of("1"), of("2"), of("3")}).Rows; len(rows) != 2 || rows[1][0] != "3" {
		t.Errorf("of three rounds %v", rows)
	}
	got := Table([]Figures{of("a")})
	want := []string{"a", "250", "25", "8", "233", "48", "31", "140", "144 B", "2.0 KiB", "0 B"}
	if len(got.Rows) != 1 || !slices.Equal(got.Rows[0], want) || len(got.Header) != len(want) {
		t.Errorf("%v, want %v", got, want)
	}
}
