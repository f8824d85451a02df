package edition

import (
	"fmt"
	"runtime"
	"slices"
	"testing"

	"github.com/mercer-fl/mercer/internal/node/vault"
)

// one is somebody in training, with a row for each label.
func one(i int, age uint64, labels ...uint64) Person {
	slices.Sort(labels)
	return Person{ID: element(i), Several: len(labels) > 1, Whole: age<<32 | uint64(len(labels))<<16 | labels[0], Columns: []uint64{age, 1}, Labels: [][]uint64{slices.Compact(labels)}}
}

func many(from, to int, labels ...uint64) (list []Person) {
	for i := from; i < to; i++ {
		list = append(list, one(i, uint64(i), labels...))
	}
	return list
}

func outOf(list []Person) []Person {
	for i := range list {
		list[i].Held = true
	}
	return list
}

// besideOf compares two editions in age, visit and ill.
func besideOf(then, now []Person) Beside {
	p := &past{columns: []string{"age", "visit"}, labels: []string{"ill"}}
	for k, list := range [][]Person{then, now} {
		list = slices.Clone(list)
		slices.SortFunc(list, func(a, b Person) int { return compareElements(a.ID, b.ID) })
		remember(p, fmt.Sprint("id", k+1), k+1, list)
	}
	return compared(p)[0]
}

// clearOf returns what is clear of the column age and the label ill.
type clearOf struct{ sums, classes, numbers, heldOut bool }

func TestCutsBetweenClasses(t *testing.T) {
	then := slices.Concat(many(0, 40, 1), many(40, 80, 2), many(80, 120, 3), outOf(many(200, 240, 1)))
	all := clearOf{true, true, true, true}
	for name, tt := range map[string]struct {
		now   []Person
		clear clearOf
	}{
		"nobody": {then, all},
		"ten go from class 2 to 1, beside one who comes; and few who come to 3 hide beside ten": {
			// The sums of classes 1 and 2 together differ by one person.
			slices.Concat(many(0, 50, 1), many(50, 80, 2), many(80, 120, 3), many(300, 301, 1), many(310, 320, 3), then[120:]),
			clearOf{true, false, false, true}},
		"ten go from class 2 to 1": {slices.Concat(many(0, 50, 1), many(50, 80, 2), then[80:]), all},
		"ten leave class 2, nine of them for 1": {
			slices.Concat(many(0, 49, 1), many(49, 50, 3), many(50, 80, 2), then[80:]), clearOf{true, false, true, true}},
		"one number changes": {slices.Concat(many(0, 1, 6), then[1:]), clearOf{true, false, false, false}},
		"one label of those held out changes": {
			slices.Concat(then[:120], outOf(many(200, 201, 2)), then[121:]), clearOf{true, false, false, false}},
		"twenty of those held out come, few of one class": {
			slices.Concat(then, outOf(many(300, 316, 1)), outOf(many(316, 320, 2))), clearOf{true, true, true, false}},
		"ten come, one of them with ten more numbers": {
			slices.Concat(then, many(400, 409, 7), many(409, 410, 7, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20)),
			clearOf{true, false, false, true}},
		"ten come with a row of class 1 and one of 2 each": { // which may be equal
			slices.Concat(then, many(400, 410, 1, 2)), clearOf{true, false, false, true}},
		"beside ten of each class alone": {
			slices.Concat(then, many(400, 410, 1, 2), many(410, 420, 1), many(420, 430, 2)), all},
	} {
		b, age := besideOf(then, tt.now), []string{"age"}
		got := clearOf{b.ClearSums(age), b.ClearClasses(age, "ill"), b.ClearNumbers(age, "ill"), b.ClearHeldOutClasses(age, "ill")}
		if got != tt.clear {
			t.Errorf("%s: %+v, want %+v: %+v", name, got, tt.clear, b)
		}
	}
}

// Nothing is known of a column or a label with which no edition was made, nor by an earlier program's rule.
func TestUnknownIsNotClear(t *testing.T) {
	b := besideOf(many(0, 80, 1), many(0, 80, 1))
	clear := func(columns []string, label string) []bool {
		return []bool{b.ClearRows(columns, label), b.ClearClasses(columns, label), b.ClearNumbers(columns, label), b.ClearHeldOutClasses(columns, label), label != "" || b.ClearSums(columns)}
	}
	if known := slices.Concat(clear([]string{"visit", "age"}, "ill"), clear([]string{"age"}, "")); slices.Contains(known, false) {
		t.Errorf("what has not changed is not clear: %v", known)
	}
	if unknown := slices.Concat(clear([]string{"age"}, "outcome")[:4], clear([]string{"zip"}, "")); slices.Contains(unknown, true) {
		t.Errorf("what is not known is clear: %v", unknown)
	}
	for _, b.Compared = range []*Compared{nil, {Rule: 1, Columns: b.Compared.Columns, Labels: b.Compared.Labels}} {
		if older := clear([]string{"age"}, ""); slices.Contains(older, true) || !b.Outdated() {
			t.Errorf("what an earlier rule found is clear: %v", older)
		}
	}
}

// Ten have other labels than before, of several rows each: of which numbers the sums changed nobody knows. Ten who surely
// go from class 1 to 2 hide those of these numbers, but not who goes between other classes.
func TestLabelsOfSeveralRows(t *testing.T) {
	then, age := many(0, 80, 1), []string{"age"}
	before, after := many(100, 110, 1, 3), many(100, 110, 2, 4)
	for i := range after { // surely
		after[i].Columns[0]++
	}
	b := besideOf(slices.Concat(then, before), slices.Concat(then, after))
	if !b.ClearRows(age, "ill") || b.ClearNumbers(age, "ill") || b.ClearClasses(age, "ill") {
		t.Errorf("%+v", b)
	}
	b = besideOf(slices.Concat(then, before), slices.Concat(many(0, 10, 2), then[10:], after))
	if !b.ClearNumbers(age, "ill") || b.ClearClasses(age, "ill") {
		t.Errorf("beside ten who surely move: %+v", b)
	}
}

// A list that an earlier program wrote has jobs wait, until the table is frozen again.
func TestAnEarlierProgramsListWaits(t *testing.T) {
	s := store(t)
	freeze := func(number int) {
		d := draft(people(0, 100), nil)
		everyone := many(0, 100, 1)
		slices.SortFunc(everyone, func(a, b Person) int { return compareElements(a.ID, b.ID) })
		d.Columns, d.Labels, d.People = []string{"visit", "age"}, []string{"ill"}, Everybody(everyone)
		mustMake(t, s, d, number)
	}
	clear := func() (of []bool) {
		e, err := s.Newest("patients", "abc")
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range e.Beside {
			of = append(of, b.ClearClasses([]string{"age", "visit"}, "ill"))
		}
		return of
	}
	freeze(1)
	freeze(2)
	if got := clear(); !slices.Equal(got, []bool{true}) {
		t.Errorf("clear beside edition 1: %v", got)
	}
	err := s.change(func(b *book, _ *vault.Artifacts) error {
		for i := range b.Editions {
			b.Editions[i].Compared = nil // as it was
		}
		return s.write(b)
	})
	if got := clear(); err != nil || !slices.Equal(got, []bool{false}) {
		t.Errorf("clear in a list of an earlier program: %v, %v", got, err)
	}
	freeze(3)
	if got := clear(); !slices.Equal(got, []bool{true, true}) {
		t.Errorf("clear once the table is frozen again: %v", got)
	}
}

// Sixty people, thirty of each class, have a second row of the same class: each class's sum changes by thirty.
func TestFurtherRowsOfTheSameClass(t *testing.T) {
	further := func(n int) (list []Person) {
		for i := range 200 {
			p := one(i, uint64(i), uint64(i%2))
			if i < n {
				p.Several, p.Whole, p.Columns = true, uint64(1000+i), []uint64{uint64(1000 + i), 2}
			}
			list = append(list, p)
		}
		return list
	}
	age := []string{"age"}
	if b := besideOf(further(0), further(60)); !b.ClearRows(age, "ill") || !b.ClearClasses(age, "ill") || !b.ClearNumbers(age, "ill") {
		t.Errorf("jobs wait: %+v", b)
	}
	if b := besideOf(further(0), further(9)); b.ClearRows(age, "") || b.ClearClasses(age, "ill") {
		t.Errorf("nine pass: %+v", b)
	}
}

// Editions in which one person was otherwise take memory for one.
func TestSmallEditionsTakeLittleMemory(t *testing.T) {
	p := &past{columns: []string{"age", "visit"}, labels: []string{"ill"}, last: Everybody(many(0, 1, 1)), count: 1}
	for n := range 1000 {
		p.editions = append(p.editions, pastEdition{fmt.Sprint("id", n), n + 1, 1, Everybody(many(0, 1, 1))})
	}
	b := encoded(p)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	again, err := readPast(opening(b))
	if err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	if took := int(after.TotalAlloc - before.TotalAlloc); took > 10*len(b) {
		t.Errorf("a file of %d KiB takes %d KiB", len(b)>>10, took>>10)
	}
	runtime.KeepAlive(again)
}

func TestPeopleOutOfOrderAreRefused(t *testing.T) {
	p := &past{columns: []string{"age", "visit"}, labels: []string{"ill"}}
	list := patients(nil).with(0, 12, 1).people()
	remember(p, "id1", 1, list)
	slices.Reverse(list)
	if _, err := readPast(opening(encoded(p))); err == nil {
		t.Error("people out of order are read")
	}
	p.last, p.count = Everybody(slices.Repeat(list[:1], 2)), 2
	if _, err := readPast(opening(encoded(p))); err == nil {
		t.Error("one person twice is read")
	}
}

// One visit of somebody with several rows may be a change of each of a thousand columns: the list names none of them.
func TestAllColumnsAreNotListed(t *testing.T) {
	p := &past{labels: []string{"ill"}}
	for c := range 1000 {
		p.columns = append(p.columns, fmt.Sprint("gene", c))
	}
	for week := range uint64(2) {
		one := Person{ID: element(1), Several: true, Whole: week, Columns: make([]uint64, 1000), Labels: [][]uint64{{1}}}
		remember(p, fmt.Sprint("id", week), int(week)+1, []Person{one})
	}
	b := compared(p)[0]
	if !slices.Equal(b.Rows.Columns, everyColumn) || !slices.Equal(b.Classes["ill"], everyColumn) || b.ClearRows([]string{"gene7"}, "") || b.ClearClasses([]string{"gene7"}, "ill") {
		t.Errorf("%+v", b)
	}
}
