package moments

import (
	"crypto/sha256"
	"fmt"
	"math"
	"slices"

	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/rows"
	"github.com/mercer-fl/mercer/internal/method/sums"

	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/kernel/feature"
	"github.com/mercer-fl/mercer/learn/moments"
	"github.com/mercer-fl/mercer/protocol"
)

// party is the state of a party with rows during a job.
type party struct {
	*rows.Party
	counted  headcount
	session  protocol.SessionID // ID of the session that adds up the sums
	features feature.Mapping
	own      *moments.Partial
	fitted   *fitted
	digest   [32]byte // SHA-256 of the received solution
}

func newParty(c method.Instance, self string, t method.Table) (*party, error) {
	p, err := rows.Of(c, self, t)
	if err != nil {
		return nil, err
	}
	if err := p.CheckLimits(); err != nil {
		return nil, err
	}
	if n := p.Count(false); n > moments.MaxRows {
		return nil, fault.BadInputf("this table has %d training rows, and protocol moments adds up at most %d of a party; leave some out", n, moments.MaxRows)
	}
	if usesHistogram(c.Job) {
		err = p.CheckHeldOutClasses()
	}
	own := &party{Party: p}
	p.Lets = own.release
	return own, err
}

func (p *party) public() public {
	k := p.counted.public()
	k.solution = p.digest
	return k
}

// solutionReceiver builds the machine that receives the solution.
func (p *party) solutionReceiver(setup method.Setup) (*method.Run, error) {
	return sums.Receiver(setup, func(body []byte) error { return p.takeSolution(body, setup.Session) })
}

// release returns one release, which says that the party's training rows enter the sums. At a party
// whose rows are all held out, all rows enter the sums of errors. With privacy see noiseRelease.
func (p *party) release() ([]method.Release, error) {
	if p.Job.Data.Private {
		return p.noiseRelease(), nil
	}
	r := p.Release(method.ReleaseSums)
	r.Split, r.Classes = p.Job.Data.Test.Chosen(), p.Job.Task().Classes
	if p.Job.Protocol.Demands().Counts {
		r.Edition = r.Edition.Counting()
	}
	if r.Blocks == nil {
		r.Among = p.Split.Rows(p.Tested()) // all rows of a party that is held out enter only sums of errors
	}
	if !p.Tested() {
		r.Numbers, r.Cells = p.sizesOfSums(p.Count(false))
	}
	return []method.Release{r}, nil
}

// noiseRelease states the one release of a job with privacy: everything that follows from the party's rows has noise.
// Held-out rows have the same cost as training rows, so all rows are in it.
func (p *party) noiseRelease() []method.Release {
	g := job.As[*Keys](p.Job.Protocol).Privacy.Guarantee
	r := p.Release(method.ReleaseNoise)
	r.Classes, r.Rho, r.Epsilon, r.Delta = p.Job.Task().Classes, g.Rho(), g.Epsilon, g.Delta
	return []method.Release{r}
}

// sizesOfSums returns how many numbers the job's sums have and how many table cells enter them.
// Before all parties have declared their rows, it uses the party's own rows or, with the default number of
// features, the greatest possible ratio: one number for cellsPerNumber cells.
func (p *party) sizesOfSums(own int) (numbers, cells int64) {
	rows := p.counted.total()
	switch {
	case rows > 0:
	case job.As[*Keys](p.Job.Protocol).Directions == 0:
		return 1, cellsPerNumber
	default:
		rows = int64(own)
	}
	k := p.counted.public()
	return numbersIn(int64(k.features(p.Job)), objectiveOf(p.Job).width()), rows * int64(p.Width())
}

// numbersIn returns how many numbers are in the sums of m features. Each pair has a product, and
// each feature has width more sums.
func numbersIn(m int64, width int) int64 { return m*(m+1)/2 + m*int64(width) }

// trainingCounts returns the row counts of the parties that train, without the party that is held
// out.
func (p *party) trainingCounts(rows []int64) []int64 {
	at := slices.Index(p.Parties, p.Job.Data.Test.Party)
	if at < 0 {
		return rows
	}
	return slices.Delete(slices.Clone(rows), at, at+1)
}

// summand builds the machine that adds the moments of the party's training rows to the secure sum.
func (p *party) summand(setup method.Setup) (*method.Run, error) {
	features, err := directions(p.Job, setup.Session.ID(), p.public().features(p.Job), p.Width())
	if err != nil {
		return nil, err
	}
	own, err := addUp(objectiveOf(p.Job), features, func(use panel) error { return p.Each(false, use) })
	if err == nil {
		err = p.blur(own, setup.Setup)
	}
	if err != nil {
		return nil, err
	}
	return sums.Client(setup, sumVector{own}, func() {
		p.session, p.features, p.own = setup.Session.ID(), features, own
		p.NoticeCommon()
	})
}

// blur adds the party's noise to its moments, if the job has privacy.
func (p *party) blur(own *moments.Partial, s protocol.Setup) error {
	noise, err := noiseOf(p.Job, own.Features)
	if err != nil || noise == nil {
		return err
	}
	return noise.blur(own, s)
}

// directions returns the random features, which all members know. Their seed is the ID of the
// session that adds up the sums, which no member can know before job and roster are fixed. With kernel
// linear the features are the columns.
func directions(j *job.Job, sums protocol.SessionID, features, columns int) (feature.Mapping, error) {
	if isLinear(j) {
		return job.As[*Keys](j.Protocol).Privacy.Linear(&j.Data, columns)
	}
	return moments.Features(j.Kernel.Spec(), sums, features, columns)
}

func (p *party) takeSolution(body []byte, s *protocol.Session) error {
	t, err := decodeFitted(p.Job, p.public().features(p.Job), body)
	if err != nil {
		return protocol.Blame(s.With(protocol.RoleServer)[0], protocol.KindInconsistent, fmt.Errorf("moments: %w", err))
	}
	p.fitted, p.digest = t, sha256.Sum256(body)
	return nil
}

// errorSummand builds the machine that adds the solution's errors on the party's held-out rows to
// the secure sum.
func (p *party) errorSummand(setup method.Setup) (*method.Run, error) {
	n, room := p.Count(true), p.public().room
	if int64(n) > room {
		return nil, fault.BadInputf("this party holds out %d rows, but the job's sums have room for %d, because no party trains on more", n, room)
	}
	figures, err := errorsOf(p.Job, p.features, p.fitted, func(use panel) error { return p.Each(true, use) })
	if err != nil {
		return nil, err
	}
	vector, err := p.errorVector(figures, setup.Setup)
	if err != nil {
		return nil, err
	}
	return sums.Client(setup, vector, func() { p.own = nil })
}

// errorVector returns the party's entries of the secure sum of errors: with noise, or rounded and with its membership
// figure.
func (p *party) errorVector(h *HeldOut, s protocol.Setup) (sums.Vector, error) {
	noise, err := noiseOf(p.Job, p.features.Len())
	if err != nil {
		return nil, err
	}
	if noise == nil {
		membership, err := p.membership()
		return h.vector(objectiveOf(p.Job), membership), err
	}
	figures := h.rounded(objectiveOf(p.Job))
	return sums.Vector{{int64(h.Rows)}, figures}, noise.blurErrors(figures, s)
}

// membershipSample is the greatest number of training rows, and of held-out rows, on which a party
// measures the membership attack.
const membershipSample = 1024

// membership measures how well the party's own sums separate its training rows from its held-out
// rows. It returns the area under the curve, in multiples of 1/membershipOne, and 1. It returns two zeros
// if the party lacks training rows or held-out rows.
func (p *party) membership() ([]int64, error) {
	if p.Count(true) == 0 || p.own.Rows == 0 {
		return []int64{0, 0}, nil
	}
	training, err := p.Sample(false, membershipSample)
	if err != nil {
		return nil, err
	}
	held, err := p.Sample(true, membershipSample)
	if err != nil {
		return nil, err
	}
	auc, err := moments.Membership(p.own.Sums(), p.features, training, held)
	if err != nil {
		return nil, err
	}
	return []int64{int64(math.RoundToEven(auc * membershipOne)), 1}, nil
}

// cellsPerNumber is the least number of table cells in the training rows for each number in the
// sums. It applies to the default number of features. With as many numbers as cells, the sums would
// reveal the rows.
const cellsPerNumber = 4

// DefaultFeatures returns the default number of random features. It is the largest even number up to
// MaxDirections with at least rowsPerFeature training rows for each feature and cellsPerNumber cells of
// training rows for each number in the sums. width is the number of sums of each feature besides its products.
func DefaultFeatures(rows int64, columns, width int) int {
	m := min(rows/rowsPerFeature/2*2, MaxDirections)
	if rows < 1<<40 { // for more rows the check always passes, and its products could overflow
		for cells := rows * int64(columns) / cellsPerNumber; m > 0 && numbersIn(m, width) > cells; {
			m -= 2
		}
	}
	return int(m)
}

// isLinear reports whether the features of a job are the columns and a constant.
func isLinear(j *job.Job) bool { return j.Kernel.Name == job.Linear }

// boundOf returns the greatest length of a row with kernel linear; 0 for other kernels.
func boundOf(j *job.Job) (float64, error) {
	if !isLinear(j) {
		return 0, nil
	}
	return job.As[*Keys](j.Protocol).Privacy.Length(&j.Data)
}

// features returns the job's number of random features, or the default for the declared rows. With kernel linear each
// column is a feature, and a constant is one more.
func (k public) features(j *job.Job) int {
	if isLinear(j) {
		return min(k.columns, MaxDirections-1) + 1
	}
	if job.As[*Keys](j.Protocol).Directions > 0 {
		return job.As[*Keys](j.Protocol).Directions
	}
	return DefaultFeatures(k.rows, k.columns, objectiveOf(j).width())
}

// declarer builds the machine that declares a party's numbers of training rows and of columns to all
// members. Each party checks the largest share of one party, because a sum mostly over one party's rows
// does not protect that party from the others.
func (p *party) declarer(setup method.Setup) (*method.Run, error) {
	return sums.AllGatherer(setup, encodeCount(p.Count(false), p.Width()), p.takeCounts)
}

// encodeCount encodes a party's declaration of rows and columns.
func encodeCount(rows, columns int) []byte {
	var w wire.Writer
	w.Uint64(uint64(rows))
	w.Uint32(uint32(columns))
	return w.Bytes()
}

// headcount holds the parties' declared numbers of training rows and of columns.
type headcount struct {
	list    []int64 // training rows by party, in the job's order; nil before the count
	columns int     // columns of each prepared table
	digest  [sha256.Size]byte
}

// total returns the number of training rows of all parties.
func (c headcount) total() int64 {
	sum := int64(0)
	for _, n := range c.list {
		sum += n
	}
	return sum
}

// public returns the public values that follow from the counts.
func (c headcount) public() public {
	return public{rows: c.total(), room: roomFor(slices.Max(append(c.list, 0))), columns: c.columns, counted: c.digest}
}

// readCounts decodes and checks the parties' declarations of rows and columns.
func readCounts(j *job.Job, parties []string, statements [][]byte) (headcount, error) {
	var c headcount
	digest, err := sums.Statements(parties, statements, func(b []byte) error {
		r := wire.NewReader(b)
		n := r.Uint64()
		if r.Err() == nil && n > moments.MaxRows {
			r.Fail(fmt.Errorf("the party declares %d training rows; at most %d are allowed", n, moments.MaxRows))
		}
		columns := int(r.Uint32())
		switch {
		case r.Err() != nil:
		case columns < 1 || columns > job.MaxFeatures:
			r.Fail(fmt.Errorf("the party declares %d columns; 1 to %d are allowed", columns, job.MaxFeatures))
		case c.list != nil && columns != c.columns:
			r.Fail(fmt.Errorf("the party declares %d columns, but %s declares %d; all tables must have equally many", columns, parties[0], c.columns))
		}
		c.list, c.columns = append(c.list, int64(n)), columns
		return r.Close("moments: number of rows")
	})
	if err != nil {
		return headcount{}, err
	}
	c.digest = digest
	if room := c.public().room; room > leastRoom && int64(len(parties))*room > moments.MaxTotal {
		return headcount{}, fault.Public(fault.BadInputf("moments: with %d rows of the largest of %d parties, the sums need room for %d rows of each; %d rows together are the limit; let fewer parties or fewer rows take part", slices.Max(c.list), len(parties), room, int64(moments.MaxTotal)))
	}
	if isLinear(j) && c.columns >= MaxDirections {
		return headcount{}, fault.Public(fault.BadInputf("moments: kernel linear takes at most %d columns, and the tables have %d; leave some out", MaxDirections-1, c.columns))
	}
	if rows := c.total(); c.public().features(j) < 2 {
		return headcount{}, fault.Public(fault.BadInputf(`moments: %d training rows of %d columns are too few for two random features, which need %d rows each and four table cells for each number in the sums; to learn from so few rows, write "directions" in the job, but the sums then reveal who is among the rows`, rows, c.columns, rowsPerFeature))
	}
	return c, nil
}

// takeCounts checks and stores the declared numbers of training rows. A party cannot verify that
// they count real rows. Its operator's limits on shares and on features protect it.
func (p *party) takeCounts(statements [][]byte) error {
	all, err := readCounts(p.Job, p.Parties, statements)
	if err != nil {
		return err
	}
	if err := p.Limits.CheckShares(p.trainingCounts(all.list)); err != nil {
		return err
	}
	most, m := p.Limits.Directions, all.public().features(p.Job)
	if job.As[*Keys](p.Job.Protocol).Directions == 0 && most > 0 && m > most {
		return fault.Forbiddenf("for the parties' %d training rows the sums have %d features; this party allows at most %d (max_directions in its policy)", all.total(), m, most)
	}
	p.counted = all
	return nil
}
