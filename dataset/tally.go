package dataset

// Tally counts the values of a column to find out whether it is nearly constant. It stops counting
// when enough rows differ from the value that is the commonest so far. It therefore holds few different values, even
// for many rows.
type Tally struct {
	Least  int // a column varies if at least this many rows differ from its commonest value
	values []float64
	counts []int
	seen   int
	most   int // number of rows that hold the commonest value
	varies bool
}

// Add counts a value that the given number of rows hold. It reports whether the column can still be
// nearly constant.
func (t *Tally) Add(v float64, rows int) bool {
	if t.varies {
		return false
	}
	at := t.place(v)
	t.counts[at] += rows
	t.seen += rows
	t.most = max(t.most, t.counts[at])
	t.varies = t.seen-t.most >= t.Least // further rows cannot make a varying column constant
	return !t.varies
}

// Varies reports whether enough rows differ from the commonest value.
func (t *Tally) Varies() bool { return t.varies }

// place returns the index of a value, and adds a new value to the list.
func (t *Tally) place(v float64) int {
	for at, known := range t.values {
		if known == v {
			return at
		}
	}
	t.values, t.counts = append(t.values, v), append(t.counts, 0)
	return len(t.values) - 1
}

// Steady returns the commonest value of a nearly constant column, and the number of rows with other
// values. It returns false for a column that varies, and before any row is counted.
func (t *Tally) Steady() (value float64, others int, steady bool) {
	if t.varies || t.seen == 0 {
		return 0, 0, false
	}
	for at, n := range t.counts {
		if n == t.most {
			value = t.values[at]
			break
		}
	}
	return value + 0, t.seen - t.most, true // adding 0 turns -0 into 0
}

// NearConstant describes a column of numbers in which all but a few of the given rows hold one
// value.
type NearConstant struct {
	Column int
	Value  float64 // commonest value
	Few    int     // rows with another value; 0 for a constant column
}

// NearConstantColumns lists the columns in which almost all of the given rows hold one value: the
// number of rows with another value is below limit. Of a sparse table it reads the stored entries
// only.
func NearConstantColumns(t Table, rows []int, limit int) []NearConstant {
	tallies := make([]Tally, t.Cols())
	for j := range tallies {
		tallies[j].Least = limit
	}
	if sparse, is := t.(*CSR); is {
		sparse.tally(tallies, rows)
	} else {
		tallyDense(t, tallies, rows)
	}
	var list []NearConstant
	for j := range tallies {
		if value, few, steady := tallies[j].Steady(); steady {
			list = append(list, NearConstant{j, value, few})
		}
	}
	return list
}

// tallyDense counts the values of one row after another until all columns vary.
func tallyDense(t Table, tallies []Tally, rows []int) {
	open := Complement(len(tallies), nil)
	row := make([]float64, len(tallies))
	for _, i := range rows {
		if len(open) == 0 {
			return
		}
		t.Row(i, row)
		still := open[:0]
		for _, j := range open {
			if tallies[j].Add(row[j], 1) {
				still = append(still, j)
			}
		}
		open = still
	}
}

// tally counts the stored entries of the given rows, and all other cells as zeros.
func (c *CSR) tally(tallies []Tally, rows []int) {
	stored := make([]int, len(tallies))
	for _, i := range rows {
		cols, values := c.Entries(i)
		for k, j := range cols {
			tallies[j].Add(values[k], 1)
			stored[j]++
		}
	}
	for j, n := range stored {
		if zeros := len(rows) - n; zeros > 0 {
			tallies[j].Add(0, zeros)
		}
	}
}
