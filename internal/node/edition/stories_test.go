package edition

import (
	"fmt"
	"hash/fnv"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
)

// visit is a row, with cells of two columns and a class or number.
type visit struct {
	cells [2]int
	label int
}

// visitor is somebody with rows.
type visitor struct {
	held bool
	rows []visit
}

type visitors map[int]visitor

func hashOf(parts ...any) uint64 {
	h := fnv.New64a()
	_, _ = fmt.Fprint(h, parts...)
	return h.Sum64()
}

// people digests as a home does: each column's cells in any order, each label once, and all rows.
func (t visitors) people() (list []Person) {
	for i, one := range t {
		p := Person{ID: element(i), Held: one.held, Several: len(one.rows) > 1, Labels: make([][]uint64, 1)}
		var cells [2][]int
		var whole []string
		for _, r := range one.rows {
			whole = append(whole, fmt.Sprint(r))
			cells[0], cells[1] = append(cells[0], r.cells[0]), append(cells[1], r.cells[1])
			p.Labels[0] = append(p.Labels[0], hashOf("label", r.label))
		}
		slices.Sort(whole)
		slices.Sort(p.Labels[0])
		p.Whole, p.Labels[0] = hashOf(whole), slices.Compact(p.Labels[0])
		for _, of := range cells {
			slices.Sort(of)
			p.Columns = append(p.Columns, hashOf(of))
		}
		list = append(list, p)
	}
	slices.SortFunc(list, func(a, b Person) int { return compareElements(a.ID, b.ID) })
	return list
}

// adds sums up the picked columns of somebody's rows: each row's cells, times the weight of its label.
func (one visitor) adds(columns []int, weight func(label int) int) map[[2]int]int {
	sum := make(map[[2]int]int)
	for _, r := range one.rows {
		key := [2]int{-1, -1}
		for _, c := range columns {
			key[c] = r.cells[c]
		}
		if sum[key] += weight(r.label); sum[key] == 0 {
			delete(sum, key)
		}
	}
	return sum
}

// apart counts those, held out or not, who add something else to a sum.
func apart(now, then visitors, held bool, columns []int, weight func(label int) int) (n int) {
	all := maps.Clone(now)
	maps.Copy(all, then)
	for i := range all {
		a, b := now[i], then[i]
		if a.held != held {
			a.rows = nil
		}
		if b.held != held {
			b.rows = nil
		}
		if !maps.Equal(a.adds(columns, weight), b.adds(columns, weight)) {
			n++
		}
	}
	return n
}

// rowsApart counts those in both who have other rows.
func rowsApart(now, then visitors, columns []int, weight func(label int) int) (n int) {
	for i, a := range now {
		if b, in := then[i]; in && !maps.Equal(a.adds(columns, weight), b.adds(columns, weight)) {
			n++
		}
	}
	return n
}

func each(int) int     { return 1 }
func apiece(y int) int { return 1 << (8 * y) } // labels are told apart
func ofClasses(s int) func(int) int {
	return func(y int) int { return s >> (y - 1) & 1 }
}

// stories draws tables of which few or many change from one to the next.
type stories struct {
	*rand.Rand
	several bool
	held    int // every how manieth is held out
}

func (r stories) visitor(i int) visitor {
	one, n := visitor{held: r.held > 0 && i%r.held == 0}, 1
	if r.several {
		n += r.IntN(3)
	}
	for range n {
		one.rows = append(one.rows, visit{[2]int{r.IntN(3), r.IntN(3)}, 1 + r.IntN(3)})
	}
	return one
}

func (r stories) first() visitors {
	t := make(visitors)
	for i := range 90 {
		t[i] = r.visitor(i)
	}
	return t
}

// next changes some people, all in one way.
func (r stories) next(so []visitors) visitors {
	t := maps.Clone(so[len(so)-1])
	for range 1 + r.IntN(4) {
		n := 1 + r.IntN(3)
		if r.IntN(2) == 0 {
			n = 10 + r.IntN(8)
		}
		from, change := r.IntN(110), r.change(so[r.IntN(len(so))])
		for i := from; i < from+n; i++ {
			change(t, i)
		}
	}
	return t
}

func (r stories) change(old visitors) func(t visitors, i int) {
	column, cell, label := r.IntN(2), r.IntN(3), 1+r.IntN(3)
	edit := func(do func(rows []visit)) func(visitors, int) {
		return func(t visitors, i int) {
			if one, in := t[i]; in {
				one.rows = slices.Clone(one.rows)
				do(one.rows)
				t[i] = one
			}
		}
	}
	return []func(visitors, int){
		func(t visitors, i int) { delete(t, i) },
		func(t visitors, i int) { t[i] = r.visitor(i) },
		edit(func(rows []visit) { rows[0].cells[column] = cell }),
		edit(func(rows []visit) { rows[0].label = label }),
		edit(func(rows []visit) { rows[0].label, rows[len(rows)-1].label = rows[len(rows)-1].label, rows[0].label }),
		edit(func(rows []visit) {
			for k := range rows {
				rows[k].label = label
			}
		}),
		func(t visitors, i int) {
			if one, in := t[i]; in && len(one.rows) > 1 {
				t[i] = visitor{one.held, one.rows[1:]}
			}
		},
		func(t visitors, i int) {
			if one, in := old[i]; in {
				t[i] = one
			}
		},
	}[r.IntN(8)]
}

// toldBy lists, by what is clear, how many people differ in what two jobs tell then.
func toldBy(b Beside, now, then visitors, columns []int) map[string][]int {
	names := make([]string, len(columns))
	for k, c := range columns {
		names[k] = []string{"age", "visit"}[c]
	}
	of := make(map[string][]int)
	in := func(what string, clear bool, held bool, weights ...func(int) int) {
		for _, w := range weights {
			if clear {
				of[what] = append(of[what], apart(now, then, held, columns, w))
			}
		}
	}
	if b.ClearRows(names, "") {
		of["rows"] = []int{rowsApart(now, then, columns, each)}
	}
	if b.ClearRows(names, "ill") {
		of["rows with label"] = []int{rowsApart(now, then, columns, apiece)}
	}
	for _, held := range []bool{false, true} {
		in("sums", b.ClearSums(names), held, each)
	}
	classes, numbers := b.ClearClasses(names, "ill"), b.ClearNumbers(names, "ill")
	for s := 1; s < 8; s++ {
		in("classes", classes, false, ofClasses(s))
		in("classes of those held out", b.ClearHeldOutClasses(names, "ill"), true, ofClasses(s))
	}
	in("classes", classes, false, func(y int) int { return y - 2 })
	in("errors of classes", classes, true, apiece)
	for c := range 4 {
		in("numbers", numbers, false, func(y int) int { return y - c })
	}
	in("errors of numbers", numbers, true, apiece)
	return of
}

// tellNoFew draws stories, and looks whether what is clear of their last tables tells of none or of ten.
func tellNoFew(t *testing.T, from, to uint64) {
	clear := make(map[string]int)
	for seed := from; seed < to; seed++ {
		r := stories{rand.New(rand.NewPCG(seed, 7)), seed%3 == 0, []int{0, 4, 2}[seed%5%3]}
		so, p := []visitors{r.first()}, &past{columns: []string{"age", "visit"}, labels: []string{"ill"}}
		for n := range 2 + r.IntN(5) {
			if n > 0 {
				so = append(so, r.next(so))
			}
			remember(p, fmt.Sprint("id", n), n+1, so[n].people())
		}
		for _, b := range compared(p) {
			for _, columns := range [][]int{{0}, {1}, {0, 1}} {
				for what, counts := range toldBy(b, so[len(so)-1], so[b.Number-1], columns) {
					clear[what]++
					if slices.ContainsFunc(counts, func(n int) bool { return n > 0 && n < Least }) {
						t.Errorf("seed %d, editions %d and %d: %s over %v tell of %v: %+v", seed, b.Number, len(so), what, columns, counts, b)
					}
				}
			}
		}
	}
	for _, what := range []string{"rows", "rows with label", "sums", "classes", "classes of those held out", "numbers"} {
		if clear[what] < int(to-from)/20 {
			t.Errorf("%s are clear %d times: the test tries too little", what, clear[what])
		}
	}
}

func TestStoriesTellNoFew(t *testing.T) { tellNoFew(t, 0, 120) }
