package local

// Differences finds people whose lists follow from several sums. Each exact sum over a known group
// is a linear equation for the lists of its members. A person is exposed if some combination of the
// equations leaves only that person's list. Two groups that differ by one person are the shortest
// combination (So et al., arXiv 2106.03328). Differences computes modulo a prime; except for rare
// coincidences, its findings also hold for rational numbers.
type Differences struct {
	people int
	rows   map[int][]uint64 // rows in echelon form, by the column of the leading 1
}

// NewDifferences returns an empty system for the given number of people.
func NewDifferences(people int) *Differences {
	return &Differences{people, make(map[int][]uint64)}
}

// prime is the modulus. The product of two residues fits a word.
const prime = 1<<31 - 1

// Add adds the equation of one sum over the people in group.
func (d *Differences) Add(group []int) {
	row := make([]uint64, d.people)
	for _, person := range group {
		row[person] = 1
	}
	for at := range row {
		if row[at] == 0 {
			continue
		}
		if above := d.rows[at]; above != nil {
			subtract(row, above, row[at], at)
			continue
		}
		multiply(row, inverse(row[at]))
		d.rows[at] = row
		return
	}
}

// Solved lists, in ascending order, the people whose lists follow from the equations.
func (d *Differences) Solved() []int {
	reduced := make(map[int][]uint64, len(d.rows))
	var solved []int
	for at := d.people - 1; at >= 0; at-- {
		row := append([]uint64(nil), d.rows[at]...)
		if len(row) == 0 {
			continue
		}
		alone := true
		for below := at + 1; below < d.people; below++ {
			if row[below] != 0 && reduced[below] != nil {
				subtract(row, reduced[below], row[below], below)
			}
			alone = alone && row[below] == 0
		}
		reduced[at] = row
		if alone {
			solved = append([]int{at}, solved...)
		}
	}
	return solved
}

// subtract subtracts factor times pivot from row, beginning at column start.
func subtract(row, pivot []uint64, factor uint64, start int) {
	for i := start; i < len(row); i++ {
		row[i] = (row[i] + (prime-factor)*pivot[i]) % prime
	}
}

func multiply(row []uint64, factor uint64) {
	for i := range row {
		row[i] = row[i] * factor % prime
	}
}

// inverse returns the inverse of x modulo prime, which is x^(prime-2).
func inverse(x uint64) uint64 {
	out := uint64(1)
	for e := prime - 2; e > 0; e >>= 1 {
		if e&1 == 1 {
			out = out * x % prime
		}
		x = x * x % prime
	}
	return out
}
