package edition

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/mercer-fl/mercer/internal/base/extsort"
	"github.com/mercer-fl/mercer/internal/base/wire"
)

// someOf draws elements with values.
func someOf[V any](r *rand.Rand, n int, value func() V) map[Element]V {
	list := make(map[Element]V)
	for i := range n {
		if r.IntN(3) > 0 {
			list[element(i)] = value()
		}
	}
	return list
}

// Several cuts at once divide people like one cut after the other.
func TestCutsTogetherEqualCutsOneByOne(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	part := func() Part { return Part{r.IntN(2) == 0, r.IntN(4) == 0} }
	for range 40 {
		var before []Known[uint32]
		for range r.IntN(3) {
			before, _ = refine(before, Ascending(someOf(r, 400, part)))
		}
		rows := someOf(r, 400, part)
		cuts := []Stream[Part]{InMemory(Ascending(rows))}
		want, small := refine(before, Ascending(rows))
		for range r.IntN(3) {
			cut := maps.Clone(rows) // a cut of a new edition has the edition's people
			for e := range cut {
				cut[e] = part()
			}
			next, few := refine(want, Ascending(cut))
			want, small = next, append(small, few...)
			cuts = append(cuts, InMemory(Ascending(cut)))
		}
		d, err := divide(InMemory(before), cuts...)
		if err != nil {
			t.Fatal(err)
		}
		got, err := collect(d.groups())
		if err != nil {
			t.Fatal(err)
		}
		slices.Sort(small)
		if diff := gocmp.Diff(want, got); diff != "" || !slices.Equal(small, d.small) || d.all != len(want) {
			t.Fatalf("%v and %v, of %d: %s", small, d.small, d.all, diff)
		}
	}
}

// People are marked whose cells differ from those of an earlier edition; cells of those who are gone
// stay.
func TestChangedCellsAreMarked(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	cells := func() Element { return Element{byte(r.IntN(2))} }
	for range 40 {
		rows, last, now := someOf(r, 60, func() Part { return Part{r.IntN(2) == 0, r.IntN(9) == 0} }), someOf(r, 60, cells), someOf(r, 60, cells)
		marks, kept := maps.Clone(rows), maps.Clone(last)
		for e, own := range now {
			part, in := marks[e]
			if then, was := last[e]; was && in && then != own {
				part.Changed = true
				marks[e] = part
			}
			kept[e] = own
		}
		got, err := collect(marked(InMemory(Ascending(rows)), InMemory(Ascending(last)), InMemory(Ascending(now))))
		if diff := gocmp.Diff(Ascending(marks), got); err != nil || diff != "" {
			t.Fatal(err, diff)
		}
		all, err := collect(withGone(InMemory(Ascending(last)), InMemory(Ascending(now))))
		if diff := gocmp.Diff(Ascending(kept), all); err != nil || diff != "" {
			t.Fatal(err, diff)
		}
	}
}

// failing is a stream that breaks off after some elements.
func failing[V any](list []Known[V], after int, broken error) Stream[V] {
	return func(yield func(Known[V], error) bool) {
		for _, k := range list[:after] {
			if !yield(k, nil) {
				return
			}
		}
		yield(Known[V]{}, broken)
	}
}

// failsBy returns a function that demands an error which wraps broken.
func failsBy(t *testing.T, broken error) func(what string, after int, err error) {
	return func(what string, after int, err error) {
		t.Helper()
		if !errors.Is(err, broken) {
			t.Errorf("%s, after %d elements: %v", what, after, err)
		}
	}
}

// Whichever stream breaks off, and wherever, the result is an error, and never a shorter list.
func TestStreamsThatBreakOff(t *testing.T) {
	broken := errors.New("the disk has gone")
	r := rand.New(rand.NewPCG(7, 8))
	rows := Ascending(someOf(r, 30, func() Part { return Part{} }))
	cells := Ascending(someOf(r, 30, func() Element { return Element{} }))
	var before []Known[uint32]
	for i, k := range cells {
		before = append(before, Known[uint32]{k.Element, uint32(i + 1)})
	}
	mustFail := failsBy(t, broken)
	for after := range min(len(rows), len(cells)) {
		badRows, badCells := failing(rows, after, broken), failing(cells, after, broken)
		_, err := divide(failing(before, after, broken), InMemory(rows))
		mustFail("groups", after, err)
		_, err = divide(InMemory(before), badRows)
		mustFail("rows", after, err)
		_, err = divide(InMemory(before), InMemory(rows), badRows)
		mustFail("a cut", after, err)
		for what, s := range map[string]iter.Seq2[Known[Part], error]{
			"rows to mark": marked(badRows, InMemory(cells), InMemory(cells)), "last cells": marked(InMemory(rows), badCells, InMemory(cells)), "cells of now": marked(InMemory(rows), InMemory(cells), badCells),
		} {
			_, err = collect(s)
			mustFail(what, after, err)
		}
		_, err = collect(withGone(badCells, InMemory(cells)))
		mustFail("cells of those gone", after, err)
		_, err = collect(withGone(InMemory(cells), badCells))
		mustFail("cells of those here", after, err)
	}
}

// Whichever list of people breaks off, and wherever, neither a comparison nor a record is made.
func TestPeopleThatBreakOff(t *testing.T) {
	broken := errors.New("the disk has gone")
	mustFail := failsBy(t, broken)
	everyone := many(0, 30, 1)
	slices.SortFunc(everyone, func(a, b Person) int { return compareElements(a.ID, b.ID) })
	for after := range everyone {
		bad := func(yield func(*Person, error) bool) {
			for i := range everyone[:after] {
				if !yield(&everyone[i], nil) {
					return
				}
			}
			yield(nil, broken)
		}
		_, err := countPeople(differing(bad, Everybody(everyone)))
		mustFail("people then", after, err)
		_, err = countPeople(differing(Everybody(everyone), bad))
		mustFail("people now", after, err)
		p := &past{columns: []string{"age", "visit"}, labels: []string{"ill"}, last: Everybody(everyone), count: len(everyone)}
		p.editions = []pastEdition{{"id1", 1, len(everyone), bad}, {"id2", 2, 0, nil}}
		_, err = p.beside(new(extsort.Memory))
		mustFail("former states", after, err)
		mustFail("former states to write", after, p.writeTo(io.Discard))
		p.editions[0].people, p.last = Everybody(everyone), bad
		if after < len(everyone)-1 {
			_, err = p.beside(new(extsort.Memory))
			mustFail("the last edition", after, err)
		}
		mustFail("the last edition to write", after, p.writeTo(io.Discard))
		_, err = countPeople(bad)
		mustFail("people", after, err)
	}
}

// A stored list that is cut off, is longer or has another format is an error, wherever it is cut.
func TestDamagedItemsAreErrors(t *testing.T) {
	g, _ := refine(nil, people(0, 40))
	p := pastOf(t, false, patients(nil).with(0, 30, 1), patients(nil).with(3, 40, 1))
	for what, tt := range map[string]struct {
		whole []byte
		read  func(opener) error
	}{
		"groups": {encodedGroups(g), func(o opener) error { _, err := collect(storedGroups(o)); return err }},
		"past":   {encoded(p), func(o opener) error { _, err := readPast(o); return err }},
	} {
		if err := tt.read(opening(tt.whole)); err != nil {
			t.Fatal(err)
		}
		for n := range len(tt.whole) {
			if err := tt.read(opening(tt.whole[:n])); err == nil {
				t.Errorf("%s of %d bytes are read, of %d", what, n, len(tt.whole))
			}
		}
		if err := tt.read(opening(append(slices.Clone(tt.whole), 0))); err == nil {
			t.Errorf("%s and a byte are read", what)
		}
		tt.whole[3] ^= 1
		if err := tt.read(opening(tt.whole)); err == nil {
			t.Errorf("%s of another format are read", what)
		}
	}
	if err := writeList(io.Discard, groupsMagic, len(g)+1, InMemory(g), (*wire.Writer).Uint32); err == nil {
		t.Error("a list is written with another number of elements")
	}
}

// Who has not changed leaves no former state, although streams reuse the memory of people.
func TestOnlyChangesAreRecorded(t *testing.T) {
	p := &past{columns: []string{"age", "visit"}, labels: []string{"ill"}}
	first := patients(nil).with(0, 200, 1)
	for i, now := range []patients{first, first, first.edited(3, 5, 1, 9).without(7, 8).with(300, 304, 2)} {
		remember(p, fmt.Sprint("id", i), i+1, now.people())
	}
	if p.editions[0].count != 0 || p.editions[1].count != 7 {
		t.Errorf("%d and %d states are kept", p.editions[0].count, p.editions[1].count)
	}
}

// besideInMemory compares editions with all states of people in memory: a second way to compare with.
func besideInMemory(t *testing.T, p *past) (list []Beside) {
	t.Helper()
	present, was := make(map[Element]*Person), make(map[Element]*Person)
	for one, err := range p.last {
		if err != nil {
			t.Fatal(err)
		}
		own := one.clone()
		present[own.ID] = &own
	}
	former := make([][]*Person, len(p.editions))
	for state, err := range p.former {
		if err != nil {
			t.Fatal(err)
		}
		own := state.clone()
		former[state.edition] = append(former[state.edition], &own)
	}
	rows, sums, out := newDifference(p), newDifference(p), newDifference(p)
	for i := len(p.editions) - 2; i >= 0; i-- {
		for _, then := range former[i] {
			now, before := present[then.ID], was[then.ID]
			if now == nil {
				gone := outsider(then.ID)
				now = &gone
			}
			if before == nil {
				before = now
			}
			rows.count(now, before, -1)
			rows.count(now, then, 1)
			sums.count(onSide(now, false), onSide(before, false), -1)
			sums.count(onSide(now, false), onSide(then, false), 1)
			out.count(onSide(now, true), onSide(before, true), -1)
			out.count(onSide(now, true), onSide(then, true), 1)
			was[then.ID] = then
		}
		list = append(list, rows.beside(sums, out, p.editions[i]))
		list[len(list)-1].Compared = p.compared()
	}
	return list
}

// What sorted changes reveal is what all states in memory reveal, whether editions are read back before
// the next or not.
func TestBesideEqualsBesideInMemory(t *testing.T) {
	few := 0
	for seed := range uint64(40) {
		r := stories{rand.New(rand.NewPCG(seed, 9)), seed%3 == 0, []int{0, 4, 2}[seed%5%3]}
		p, so := &past{columns: []string{"age", "visit"}, labels: []string{"ill"}, byRows: seed%4 == 0}, []visitors{r.first()}
		for n := range 5 {
			if n > 0 {
				so = append(so, r.next(so))
			}
			remember(p, fmt.Sprint("id", n), n+1, so[n].people())
			got, want := compared(p), besideInMemory(t, p)
			if diff := gocmp.Diff(want, got); diff != "" {
				t.Fatalf("seed %d, edition %d: %s", seed, n+1, diff)
			}
			for _, b := range want {
				if b.Sums.Any || b.Sums.Columns != nil {
					few++
				}
			}
			if seed%2 == 0 {
				again, err := readPast(opening(encoded(p)))
				if err != nil {
					t.Fatal(err)
				}
				if string(encoded(again)) != string(encoded(p)) {
					t.Fatal("a past that is read is written otherwise")
				}
				p = again
			}
		}
	}
	if few < 20 {
		t.Errorf("%d comparisons tell of few: the test tries too little", few)
	}
}

// clone returns a copy of the person that shares no memory.
func (t *Person) clone() Person {
	own := *t
	own.Columns, own.Labels = slices.Clone(t.Columns), slices.Clone(t.Labels)
	for l := range own.Labels {
		own.Labels[l] = slices.Clone(t.Labels[l])
	}
	return own
}
