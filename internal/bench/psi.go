package bench

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/mercer-fl/mercer/internal/crypto/ristretto"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/psi"
)

// MaxPSIRows is the largest number of rows of a party that the benchmark accepts.
const MaxPSIRows = psi.MaxIDs

// PSI returns a benchmark of private set intersection. Each set has the given number of ids,
// half of which are in all sets. It measures two parties, and three parties with a comparer. All
// run in this process, without a network between them.
func PSI(rows int) Benchmark {
	var b Benchmark
	for _, parties := range []int{2, 3} {
		b.cases = append(b.cases, scene{fmt.Sprintf("%d parties", parties), func(context.Context) (race, error) {
			return racePSI(parties, rows)
		}})
	}
	return b
}

// fullWall and fullCPU are the targets for two parties with a million ids each. multiplications is
// the number of elements in one run of multiplyAlone.
const (
	fullRows        = 1_000_000
	fullWall        = 180 // wall time in seconds on two cores
	fullCPU         = 300 // processor time in seconds
	multiplications = 4096
)

func racePSI(parties, rows int) (race, error) {
	tables := make([][][]byte, parties)
	for i := range tables {
		tables[i] = idsOf(i, rows)
	}
	var last alignment
	runs := []run{multiplyAlone(), func(context.Context) (err error) {
		if err := resetPeak(); err != nil {
			return err
		}
		if last, err = align(tables); err != nil {
			return err
		}
		if err := last.run(); err != nil {
			return err
		}
		last.peak, err = peakMemory()
		return err
	}}
	return race{runs: runs, rows: func(best []span) []Row { return psiRows(parties, rows, best[0], best[1], last) }}, nil
}

// psiRows returns the measurements of a session. It compares them with the time of the
// multiplications alone: every party multiplies every set.
func psiRows(parties, rows int, alone, whole span, m alignment) []Row {
	name := fmt.Sprintf("%d parties, %d ids each", parties, rows)
	share := float64(parties*parties*rows) / multiplications
	sent, most := make(map[string]int64), int64(0)
	for r, l := range m.sent {
		sent[r.from] += l.bytes
		most = max(most, sent[r.from])
	}
	list := []Row{
		figure(name+", wall", whole.wall, "s").beside("multiplications alone", share*alone.wall).byCPU(whole.cpu / (share * alone.cpu)),
		figure(name+", cpu", whole.cpu, "s"),
		figure(name+", sent by a party", float64(most)/(1<<20), "MiB"),
		figure(name+", peak memory of all", m.peak/(1<<20), "MiB"),
	}
	if parties != 2 {
		return list
	}
	full := float64(fullRows) / float64(rows)
	as := fmt.Sprintf("2 parties, %d ids each", fullRows)
	if rows != fullRows {
		as += ", extrapolated"
	}
	return append(list, figure(as+", target of wall", full*whole.wall, "s").within(fullWall), figure(as+", target of cpu", full*whole.cpu, "s").within(fullCPU))
}

// alignment holds a measured session of parties. With three or more parties, the session also
// has a comparer.
type alignment struct {
	measuredSession
	parties []*psi.Party
	common  int // number of rows that all parties have
	peak    float64
}

func align(tables [][][]byte) (alignment, error) {
	params, err := psi.NewParams(psi.Spec{MaxIDs: len(tables[0])})
	if err != nil {
		return alignment{}, err
	}
	var members []protocol.Member
	for i := range tables {
		members = append(members, protocol.Members(protocol.RoleParty, fmt.Sprintf("party %d", i))...)
	}
	if len(tables) > 2 {
		members = append(members, protocol.Members(protocol.RoleServer, "comparer")...)
	}
	d := protocol.Descriptor{Protocol: psi.Name, Version: psi.Version, Params: params.Encode(), Members: members, Purpose: "bench"}
	a := alignment{measuredSession: newMeasuredSession(d), common: len(tables[0]) / 2}
	for i, table := range tables {
		party, err := psi.NewParty(a.Setup(members[i].Name), params, table)
		a.Add(members[i].Name, party, err)
		a.parties = append(a.parties, party)
	}
	for _, comparer := range members[len(tables):] {
		server, err := psi.NewServer(a.Setup(comparer.Name), params)
		a.Add(comparer.Name, server, err)
	}
	return a, nil
}

// run runs the session, and checks that every party finds the right number of common rows.
func (a *alignment) run() error {
	if err := a.Run(); err != nil {
		return err
	}
	for i, party := range a.parties {
		if found := len(party.Order()); found != a.common {
			return fmt.Errorf("bench: party %d found %d common rows; it must find %d", i, found, a.common)
		}
	}
	return nil
}

// idsOf returns the ids of a party in a random order. Half of the ids are common to all parties.
func idsOf(party, rows int) [][]byte {
	ids := make([][]byte, rows)
	for i, n := range rand.New(rand.NewPCG(1, uint64(party))).Perm(rows) {
		if n >= rows/2 {
			n += rows * (party + 1)
		}
		ids[i] = fmt.Appendf(nil, "customer-%09d", n)
	}
	return ids
}

// multiplyAlone returns a run that only multiplies and encodes elements, on all cores.
func multiplyAlone() run {
	key := ristretto.NewKey(&[64]byte{1})
	elements := make([]ristretto.Element, multiplications)
	for i := range elements {
		elements[i] = ristretto.Hash("bench", binary.LittleEndian.AppendUint32(nil, uint32(i)))
	}
	dst := make([]byte, ristretto.Size*len(elements))
	return pure(func() {
		linalg.For(len(elements), 64, func(lo, hi int) { key.Multiply(dst[lo*ristretto.Size:], elements[lo:hi]) })
	})
}

// Row is one measured figure with its limit and target. A field that does not apply to the figure
// is nil or empty.
type Row struct {
	Name    string   `json:"name"`
	Value   float64  `json:"value"`
	Unit    string   `json:"unit"`    // unit of Value and Limit
	Against string   `json:"against"` // description of the limit
	Limit   *float64 `json:"limit"`
	Ratio   *float64 `json:"ratio"`    // nil if Limit is nil or the ratio is not finite
	RatioIs string   `json:"ratio_is"` // formula that gives Ratio, such as value/limit
	// Range is the least and the greatest ratio of the turns, or value if there is no ratio. It is nil
	// if the figure is of the best turn.
	Range *[2]float64 `json:"range"`
	// CPURatio is the ratio of processor times instead of wall times. It is more accurate if other
	// programs run. It is nil for a row without such a ratio.
	CPURatio *float64 `json:"cpu_ratio"`
	Rule     string   `json:"rule"` // condition under which Pass is true
	Target   *float64 `json:"target"`
	Pass     *bool    `json:"pass"`
}

// Values of Row.RatioIs, the formula of the ratio.
const (
	share      = "value/limit"
	speedUp    = "limit/value"
	difference = "|value-limit|/|limit|"
)

// Values of Row.Rule, the condition under which a row passes.
const (
	ratioAtLeast = "ratio >= target"
	ratioAtMost  = "ratio <= target"
	valueAtMost  = "value <= target"
	valueAtLeast = "value >= target"
)

// figure returns a row with a measured value and no limit.
func figure(name string, value float64, unit string) Row {
	return Row{Name: name, Value: value, Unit: unit}
}

// beside compares the row with a limit by the ratio value/limit. The ratio is the reached share of
// a rate, or the multiple of a cost.
func (r Row) beside(against string, limit float64) Row {
	return r.compared(share, against, limit, r.Value/limit)
}

// outruns compares the row's seconds with those of a peer. The ratio limit/value says how many
// times faster the row is.
func (r Row) outruns(peer string, seconds float64) Row {
	return r.compared(speedUp, peer, seconds, seconds/r.Value)
}

// agrees compares the row's value with another value by their relative difference.
func (r Row) agrees(with string, other float64) Row {
	return r.compared(difference, with, other, math.Abs(r.Value-other)/math.Abs(other))
}

func (r Row) compared(how, against string, limit, ratio float64) Row {
	r.RatioIs, r.Against, r.Limit = how, against, &limit
	r.Ratio = finite(ratio)
	return r
}

// byCPU sets the row's ratio of processor times and returns the row.
func (r Row) byCPU(ratio float64) Row {
	r.CPURatio = finite(ratio)
	return r
}

// finite returns a pointer to v, or nil for a number that JSON cannot hold.
func finite(v float64) *float64 {
	if math.IsInf(v, 0) || math.IsNaN(v) {
		return nil
	}
	return &v
}

// atLeast sets the smallest ratio with which the row passes. A row without a ratio fails.
func (r Row) atLeast(target float64) Row {
	return r.judged(ratioAtLeast, target, r.Ratio != nil && *r.Ratio >= target)
}

// atMost sets the largest ratio with which the row passes. A row without a ratio fails.
func (r Row) atMost(target float64) Row {
	return r.judged(ratioAtMost, target, r.Ratio != nil && *r.Ratio <= target)
}

// within sets the largest value with which the row passes.
func (r Row) within(target float64) Row { return r.judged(valueAtMost, target, r.Value <= target) }

func (r Row) judged(rule string, target float64, pass bool) Row {
	r.Rule, r.Target, r.Pass = rule, &target, &pass
	return r
}

// Missed reports whether the row has a target and does not reach it.
func (r Row) Missed() bool { return r.Pass != nil && !*r.Pass }
