package okra

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/dataset/prepare"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/methodtest"
	"github.com/mercer-fl/mercer/internal/node/disclosure/disclosuretest"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/protocol"
)

// Each of these tests plays two jobs, or more, without any ledger and computes what an adversary
// reads. Then it asks the ledger of the party that has the patient about the second job, before its
// first session, as the party's daemon does.

const hospitalFile = `apiVersion: mercer/v1
kind: Job
metadata: {name: hospitals}
spec:
  data:
    source: patients
    label: label
    partition: {parties: [north, south, east]}
    schema: {%s}
    scale: standard
    test: {fraction: 0.25}
  protocol: {name: okra, wire: float64}
  kernel: {name: linear}
  learner: {name: svc}
`

const hospitalSchema = "age: {range: [0, 120], missing: mean}, krea: {range: [1, 400], missing: median, transform: log}, postcode: {range: [10000, 99999], missing: mean}, bmi: {range: [10, 60]}, hiv: {type: category, categories: [no, yes], missing: most-frequent}, smoker: {type: category, categories: agree, missing: most-frequent}"

// What the ledger says.
const (
	anotherFit    = "prepared or scaled by another fit than in the earlier job, or may be"
	anotherSchema = "the job's schema or views differ from those of an earlier job"
)

// hospital is the job with other settings: pairs of old and new text.
func hospital(settings ...string) string {
	return strings.NewReplacer(settings...).Replace(fmt.Sprintf(hospitalFile, hospitalSchema))
}

func hospitals(t testing.TB, text string, number byte, tables map[string]string) *methodtest.Federation {
	t.Helper()
	return methodtest.Hospitals(t, Protocol(), text, number, tables)
}

// patient is a person of east's, all of whose cells are read.
const patient = "person-7,38.0,233.7,48149,31.25,yes,often,b"

// numbers are the sums that a party receives, from the next one on.
type numbers []int64

// told returns the sums of the preparation that a party receives.
func told(t testing.TB, f *methodtest.Federation, party string) numbers {
	t.Helper()
	chunks := f.Received[party]["preparation-broadcast"]
	slices.SortFunc(chunks, func(a, b protocol.Message) int { return int(a.Chunk) - int(b.Chunk) })
	var sum numbers
	for _, m := range chunks {
		for b := m.Body; len(b) > 0; b = b[8:] {
			sum = append(sum, int64(binary.LittleEndian.Uint64(b)))
		}
	}
	if len(sum) == 0 {
		t.Fatalf("%s is told nothing", party)
	}
	return sum
}

func (n numbers) less(other numbers) numbers {
	d := slices.Clone(n)
	for i, v := range other {
		d[i] -= v
	}
	return d
}

// place reads a sum in limbs, which is one person's place in a column's range.
func (n *numbers) place(limbs int) float64 {
	sum := new(big.Int)
	for i := limbs - 1; i >= 0; i-- {
		sum.Add(sum.Lsh(sum, 32), big.NewInt((*n)[i]))
	}
	*n = (*n)[limbs:]
	v, _ := new(big.Rat).SetFrac(sum, new(big.Int).Lsh(big.NewInt(1), 52)).Float64()
	return v
}

// which reads counts of values, and returns the one person's.
func (n *numbers) which(many int) int {
	at := slices.Index((*n)[:many], 1)
	*n = (*n)[many:]
	return at
}

func (n *numbers) skip(many int) { *n = (*n)[many:] }

// row reads one person from the sums over that person, in the order of hospitalSchema.
func (n numbers) row() string {
	const squares, gaps = 5, 1
	n.skip(1) // rows
	age := 120 * n.place(3)
	n.skip(3 + squares + gaps)
	n.skip(prepare.Bins)
	krea := math.Exp(n.place(3) * math.Log(400))
	n.skip(squares + gaps)
	postcode := 10000 + 89999*n.place(3)
	n.skip(3 + squares + gaps)
	bmi := 10 + 50*n.place(3)
	n.skip(squares)
	hiv := n.which(2)
	n.skip(gaps)
	smoker := n.which(prepare.MaxUnited)
	return fmt.Sprintf("%.1f,%.1f,%.0f,%.2f,%s,%s", age, krea, postcode, bmi, []string{"no", "yes"}[max(hiv, 0)], []string{"never", "often"}[max(smoker, 0)])
}

// cells are a patient's, as row writes them.
func cells(line string) string {
	f := strings.Split(line, ",")
	return strings.Join(f[1:len(f)-1], ",")
}

// The strongest adversary is one party, south, that follows the protocol and is told the
// preparations of two jobs between which east's table got one patient: the sums' difference is that
// patient's row, cell by cell. East's ledger holds the second job before anything is told.
func TestAttackTwoPreparationsReadThePatientBetween(t *testing.T) {
	before, after := methodtest.Three(150), methodtest.Three(150, patient)
	one := hospitals(t, hospital(), 1, before).Until(t, "prepared")
	two := hospitals(t, hospital(), 2, after).Until(t, "prepared")
	d := told(t, two, "south").less(told(t, one, "south"))
	if d[0] != 1 || d.row() != cells(patient) {
		t.Errorf("south reads %q of %d patients; east's patient is %q", d.row(), d[0], cells(patient))
	}
	ledgers := disclosuretest.NewLedgers(t, "east")
	ledgers.MustPlay(t, hospitals(t, hospital(), 1, before), "protocol")
	ledgers.Holds(t, "east", hospitals(t, hospital(), 2, after), anotherFit)
	ledgers.Holds(t, "east", hospitals(t, hospital(), 3, methodtest.Three(165)), anotherFit) // ten people and more are no excuse
}

// The same for jobs that end before the ledger sees their rows: a coordinator aborts the first job
// after the fit was sent. The fit stays in the ledger.
func TestAttackAFitOfAnAbortedJob(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	for _, last := range []string{"categories", "preparation-broadcast", "prepared"} {
		ledgers := disclosuretest.NewLedgers(t, "east")
		ledgers.MustPlay(t, hospitals(t, hospital(), 1, methodtest.Three(150)), last)
		ledgers.Abort(t, "east")
		ledgers.Holds(t, "east", hospitals(t, hospital(), 2, methodtest.Three(150, patient)), anotherFit)
	}
	listed := hospital("label: label", "label: {column: label, classes: [a, b]}")
	ledgers := disclosuretest.NewLedgers(t, "east")
	ledgers.MustPlay(t, hospitals(t, listed, 1, methodtest.Three(150)), "column-order")
	ledgers.Abort(t, "east")
	if err := ledgers.Begin(hospitals(t, listed, 2, methodtest.Three(150, patient))); err != nil {
		t.Errorf("an order of columns alone counts as a fit: %v", err)
	}
	// Where the job does not list the classes, east tells the leader its own.
	ledgers = disclosuretest.NewLedgers(t, "east")
	ledgers.MustPlay(t, hospitals(t, hospital(), 1, methodtest.Three(150)), "column-order")
	ledgers.Abort(t, "east")
	ledgers.Holds(t, "east", hospitals(t, hospital(), 2, methodtest.Three(150, patient)), anotherFit)
}

// scaledTables are three tables of numbers without a schema. East may have one row more.
func scaledTables(more ...float64) map[string]method.Table {
	all := make(map[string]method.Table)
	for i, name := range []string{"north", "south", "east"} {
		n := 150
		if name == "east" && more != nil {
			n++
		}
		m, labels := linalg.New[float64](n, 3), make([]string, n)
		for r := range n {
			row := []float64{float64(20 + (7*r+11*i)%60), 40 + math.Mod(float64(r*r+i)*1.37, 200), float64(10000 + (r*7919+i*13)%89999)}
			if r == 150 {
				row = more
			}
			copy(m.Row(r), row)
			labels[r] = string(rune('a' + r%2))
		}
		all[name] = method.Table{Set: &dataset.Set{Name: name, X: dataset.NewDense(m), Labels: labels, Columns: []string{"age", "krea", "postcode"}}, Key: dataset.SplitKey{3, byte(i + 1)}}
	}
	return all
}

func scaledJob(t testing.TB, scale string, number byte, tables map[string]method.Table) *methodtest.Federation {
	t.Helper()
	c := methodtest.Instance(read(t, strings.NewReplacer("[north, south]", "[north, south, east]", "test: %s", "test: {fraction: 0.25}", "scale: %s", "scale: "+scale).Replace(jobFile)))
	c.ID[1] = number
	return methodtest.New(t, Protocol(), c, tables)
}

// The strongest adversary is one party, south, that knows its own scalings of two jobs, and neither
// a sum nor a number of rows: it tries all numbers, finds the right one since squares must agree,
// and reads the patient who came between. East's ledger holds the second job first.
func TestAttackTwoScalingsReadThePatientBetween(t *testing.T) {
	came := []float64{44, 233.7, 48149}
	moments := func(tables map[string]method.Table) (mean, square []float64) {
		f := scaledJob(t, "standard", 1, tables).Until(t, "scale")
		s := methodtest.StatesOf[*server, *party](f).Parties["south"].Scaling
		for c, m := range s.Offset {
			sd := 1 / s.Factor[c]
			mean, square = append(mean, m), append(square, sd*sd+m*m)
		}
		return mean, square
	}
	m1, s1 := moments(scaledTables())
	m2, s2 := moments(scaledTables(came...))
	best, found := math.Inf(1), []float64(nil)
	for n := 10.0; n < 5000; n++ {
		worst, x := 0.0, make([]float64, 3)
		for c := range x {
			x[c] = (n+1)*m2[c] - n*m1[c]
			worst = max(worst, math.Abs((n+1)*s2[c]-n*s1[c]-x[c]*x[c])/(1+x[c]*x[c]))
		}
		if worst < best {
			best, found = worst, x
		}
	}
	for c, v := range came {
		if math.Abs(found[c]-v) > 1e-3*v {
			t.Errorf("south reads %.3f, the patient is %v", found, came)
		}
	}
	for _, scale := range []string{"standard", "minmax"} {
		for _, last := range []string{"scale", "protocol"} { // of a job that is aborted, too
			ledgers := disclosuretest.NewLedgers(t, "east")
			ledgers.MustPlay(t, scaledJob(t, scale, 1, scaledTables()), last)
			ledgers.Abort(t, "east")
			ledgers.Holds(t, "east", scaledJob(t, scale, 2, scaledTables(came...)), anotherFit)
		}
	}
}

// The strongest adversary is one party, south, with a coordinator that writes jobs with bounds a day
// apart over tables that nobody touches. All policies leave the bound to the job. The fits differ by
// who was admitted on that day.
func TestAttackTwoBoundsReadWhoIsBetween(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	tables := make(map[string]string)
	for name, text := range methodtest.Three(300) {
		lines := strings.Split(strings.TrimSpace(text), "\n")
		for k, line := range lines {
			day := []string{"day", fmt.Sprint(1 + k*7%200)}[min(k, 1)]
			if day == "150" {
				day = "151"
			}
			lines[k] = day + "," + line
		}
		tables[name] = strings.Join(lines, "\n") + "\n"
	}
	tables["east"] += "150," + patient + "\n"
	from := func(day int, number byte) *methodtest.Federation {
		return hospitals(t, hospital("{fraction: 0.25}", fmt.Sprintf("{column: day, from: %d}", day)), number, tables)
	}
	one, two := from(150, 1).Until(t, "prepared"), from(151, 2).Until(t, "prepared")
	d := told(t, two, "south").less(told(t, one, "south"))
	if d[0] != 1 || d.row() != cells(patient) {
		t.Errorf("south reads %q of %d patients; east's patient is %q", d.row(), d[0], cells(patient))
	}
	ledgers := disclosuretest.NewLedgers(t, "east")
	ledgers.MustPlay(t, from(150, 1), "protocol")
	ledgers.Holds(t, "east", from(151, 2), anotherFit)
}
