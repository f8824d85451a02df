package escaped

import (
	"errors"
	"fmt"

	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/protocol"
)

// Limits bounds the server's memory for one session. Zero means the default.
type Limits struct {
	Rows int // number of rows of all parties together; default 16,384
}

// LimitError reports that the parties announce more rows than the server allows.
type LimitError struct{ rows, most int }

func (e *LimitError) Error() string {
	return fmt.Sprintf("escaped: the parties announce %d rows; this server allows at most %d; use fewer rows", e.rows, e.most)
}

// Server is the machine that assembles the parties' products into a linear Gram matrix. Its
// results can be read after the session has ended without an error.
type Server struct {
	core
	limits   Limits
	sources  []*source // state of each party, in the descriptor's order
	pairs    map[[2]int]*pair
	labelled bool
	granted  bool
	labels   []string
	test     []bool
	gram     linalg.Matrix[float64]
	fills    []func() // tasks that fill the matrix; nil before all products have arrived
}

// source holds what the server has received from one party.
type source struct {
	announce *announce
	first    int     // index of the party's first row in the matrix
	scale    float64 // 1/a, where a is the factor of the party's mask; 0 before it arrives
	own      *sheet
	labels   []bool // whether each chunk of labels has arrived
	missing  int    // number of chunks of labels that have not arrived
}

// pair holds three matrices, which together give the inner products of two parties' rows. The rows
// of each matrix belong to the party that comes first in the session's order, the columns to the
// other party.
type pair struct{ before, behind, unmasker *sheet }

// NewServer returns the machine of a server with the given limits.
func NewServer(s protocol.Setup, l Limits) (*Server, error) {
	c, err := newCore(s, protocol.RoleServer)
	if err != nil {
		return nil, err
	}
	if l.Rows == 0 {
		l.Rows = 1 << 14
	}
	server := &Server{core: c, limits: l}
	for range c.parties {
		server.sources = append(server.sources, &source{})
	}
	return server, nil
}

// Step implements [protocol.Machine].
func (s *Server) Step(e protocol.Event) (protocol.Effects, error) {
	return s.life.Step(s.setup, e, protocol.Handlers{Start: s.start, Receive: s.receive, Resume: s.resume, Expire: s.expire})
}

func (s *Server) start(protocol.Start) (protocol.Effects, error) {
	return protocol.Effects{Arm: []protocol.Timer{TimerAnnounce}}, nil
}

func (s *Server) receive(m protocol.Message) (protocol.Effects, error) {
	from := s.index(m.Sender)
	switch {
	case from < 0 || s.fills != nil:
	case m.Round == roundAnnounce && m.Kind == kindAnnounce && m.Sequence == 0 && s.sources[from].announce == nil:
		return s.receiveAnnounce(m, s.sources[from])
	case m.Round == roundProducts && s.granted:
		if err := s.takeProduct(m, from); err != nil {
			return protocol.Effects{}, err
		}
		return s.fillIfComplete(), nil
	}
	return protocol.Effects{}, m.Unexpected()
}

func (s *Server) receiveAnnounce(m protocol.Message, from *source) (protocol.Effects, error) {
	if err := checkSingleChunk(m); err != nil {
		return protocol.Effects{}, err
	}
	a, err := decodeAnnounce(m.Body)
	if err != nil {
		return protocol.Effects{}, m.Malformed(err)
	}
	from.announce = &a
	for _, one := range s.sources {
		if one.announce == nil {
			return protocol.Effects{Arm: []protocol.Timer{TimerAnnounce}}, nil
		}
	}
	return s.grant()
}

// grant sends all parties the numbers of rows. It ends the session with an error if there are too
// many rows, or if only some of the parties have labels.
func (s *Server) grant() (protocol.Effects, error) {
	var counts []int
	total := 0
	s.labelled = s.sources[0].announce.labelled
	for i, one := range s.sources {
		if one.announce.labelled != s.labelled {
			return protocol.Finish(protocol.Effects{}, &MismatchError{s.parties[i], s.parties[0]})
		}
		n := one.announce.rows
		counts, one.first = append(counts, n), total
		total += n
	}
	if total > s.limits.Rows {
		return protocol.Finish(protocol.Effects{}, &LimitError{total, s.limits.Rows})
	}
	s.open(total)
	e := protocol.Effects{Arm: []protocol.Timer{TimerProducts}}
	for _, name := range s.parties {
		e.Send = append(e.Send, s.setup.Message(name, roundAnnounce, kindGrant, encodeGrant(counts)))
	}
	return e, nil
}

// open allocates the Gram matrix and the products.
func (s *Server) open(total int) {
	s.granted = true
	s.gram = linalg.New[float64](total, total)
	s.labels, s.test = make([]string, total), make([]bool, total)
	s.pairs = make(map[[2]int]*pair)
	for j, behind := range s.sources {
		n := behind.announce.rows
		behind.own = newSheet(n, n)
		behind.missing = labelChunks(n)
		behind.labels = make([]bool, behind.missing)
		for i, before := range s.sources[:j] {
			rows := before.announce.rows
			s.pairs[[2]int{i, j}] = &pair{newSheet(rows, n), newSheet(rows, n), newSheet(rows, n)}
		}
	}
}

// takeProduct stores a message of round 3: a product, a scale or labels.
func (s *Server) takeProduct(m protocol.Message, from int) error {
	one := s.sources[from]
	switch {
	case m.Sequence == 0 && m.Kind == kindOwn:
		return one.own.take(m)
	case m.Sequence == 0 && m.Kind == kindScale && one.scale == 0:
		return one.takeScale(m)
	case m.Sequence == 0 && m.Kind == kindLabels:
		return s.takeLabels(m, one)
	case m.Kind != kindComponent && m.Kind != kindUnmasker:
		return m.Unexpected()
	}
	partner := int(m.Sequence)
	p := s.pairs[[2]int{min(from, partner), max(from, partner)}]
	switch {
	case p == nil:
	case m.Kind == kindUnmasker && from > partner:
		return p.unmasker.take(m)
	case m.Kind == kindComponent && from > partner:
		return p.behind.take(m)
	case m.Kind == kindComponent:
		return p.before.take(m)
	}
	return m.Unexpected()
}

func (from *source) takeScale(m protocol.Message) error {
	if err := checkSingleChunk(m); err != nil {
		return err
	}
	scale, err := decodeScale(m.Body)
	if err != nil {
		return m.Malformed(err)
	}
	from.scale = scale
	return nil
}

func (s *Server) takeLabels(m protocol.Message, from *source) error {
	switch {
	case int(m.Chunks) != len(from.labels):
		return m.Inconsistent("the labels have %d chunks; %d rows require %d", m.Chunks, from.announce.rows, len(from.labels))
	case from.labels[m.Chunk]:
		return protocol.Blame(m.Sender, protocol.KindUnexpected, fmt.Errorf("chunk %d of the labels has arrived already", m.Chunk))
	}
	lo := int(m.Chunk) * labelsPerChunk
	labels, test, err := decodeLabels(m.Body, min(labelsPerChunk, from.announce.rows-lo), s.labelled)
	if err != nil {
		return m.Malformed(err)
	}
	copy(s.labels[from.first+lo:], labels)
	copy(s.test[from.first+lo:], test)
	from.labels[m.Chunk] = true
	from.missing--
	return nil
}

// fillIfComplete starts to fill the matrix if all messages have arrived.
func (s *Server) fillIfComplete() protocol.Effects {
	if s.firstIncomplete() != "" {
		return protocol.Effects{Arm: []protocol.Timer{TimerProducts}}
	}
	for i, one := range s.sources {
		s.fills = append(s.fills, func() { s.copyDiagonal(one) })
		for j := range i {
			s.fills = append(s.fills, func() { s.fillBlock(j, i) })
		}
	}
	return protocol.Effects{Resume: true}
}

// firstIncomplete returns the name of the first party whose messages are incomplete. It returns ""
// if there is none.
func (s *Server) firstIncomplete() string {
	for i, one := range s.sources {
		if one.scale == 0 || !one.own.complete() || one.missing > 0 {
			return s.parties[i]
		}
	}
	for j := range s.sources {
		for i := range j {
			switch p := s.pairs[[2]int{i, j}]; {
			case !p.before.complete():
				return s.parties[i]
			case !p.behind.complete() || !p.unmasker.complete():
				return s.parties[j]
			}
		}
	}
	return ""
}

// copyDiagonal copies a party's own Gram matrix into the whole matrix. It mirrors the lower half
// and ignores the upper half.
func (s *Server) copyDiagonal(one *source) {
	for i := range one.announce.rows {
		for j, v := range one.own.m.Row(i)[:i+1] {
			s.gram.Row(one.first + i)[one.first+j] = v
			s.gram.Row(one.first + j)[one.first+i] = v
		}
	}
}

// fillBlock writes the inner products of two parties' rows into the matrix.
func (s *Server) fillBlock(i, j int) {
	p, before, behind := s.pairs[[2]int{i, j}], s.sources[i], s.sources[j]
	for r := range before.announce.rows {
		second, third := p.behind.m.Row(r), p.unmasker.m.Row(r)
		for c, v := range p.before.m.Row(r) {
			v += second[c] + before.scale*third[c]
			s.gram.Row(before.first + r)[behind.first+c] = v
			s.gram.Row(behind.first + c)[before.first+r] = v
		}
	}
	delete(s.pairs, [2]int{i, j})
}

func (s *Server) resume() (protocol.Effects, error) {
	if len(s.fills) == 0 {
		return protocol.Effects{}, errors.New("escaped: the server has no work to resume")
	}
	s.fills[0]()
	if s.fills = s.fills[1:]; len(s.fills) > 0 {
		return protocol.Effects{Resume: true}, nil
	}
	e := protocol.Effects{}
	for _, name := range s.parties {
		e.Send = append(e.Send, s.setup.Message(name, roundReceipt, kindReceipt, nil))
	}
	return protocol.Finish(e, nil)
}

func (s *Server) expire(t protocol.Timer) (protocol.Effects, error) {
	switch {
	case t == TimerAnnounce && !s.granted:
		for i, one := range s.sources {
			if one.announce == nil {
				return protocol.Finish(protocol.Effects{}, silent(s.parties[i], "an announcement"))
			}
		}
	case t == TimerProducts && s.granted && s.fills == nil:
		return protocol.Finish(protocol.Effects{}, silent(s.firstIncomplete(), "a product"))
	case t != TimerAnnounce && t != TimerProducts:
		return protocol.Effects{}, fmt.Errorf("escaped: a server has no timer %q", t)
	}
	return protocol.Effects{}, nil
}

// Gram returns the linear Gram matrix of all rows, in the order of the parties.
func (s *Server) Gram() linalg.Matrix[float64] { return s.gram }

// Labels returns the label of each row, or nil if the rows have no labels.
func (s *Server) Labels() []string {
	if !s.labelled {
		return nil
	}
	return s.labels
}

// Test reports for each row whether it is held out.
func (s *Server) Test() []bool { return s.test }

// Counts returns the number of rows of each party, in the descriptor's order. The Gram matrix has
// its rows in the same order.
func (s *Server) Counts() []int {
	var counts []int
	for _, one := range s.sources {
		counts = append(counts, one.announce.rows)
	}
	return counts
}

// MismatchError reports that one party has labels and another has none. It matches
// [protocol.ErrInput].
type MismatchError struct{ Party, First string }

func (e *MismatchError) Error() string {
	return fmt.Sprintf("escaped: one of %s and %s has labels and the other has none; all or none must have labels", e.Party, e.First)
}

// Is reports whether target is [protocol.ErrInput].
func (e *MismatchError) Is(target error) bool { return target == protocol.ErrInput }

func decodeAnnounce(b []byte) (announce, error) {
	r := wire.NewReader(b)
	a := announce{int(r.Uint32()), r.Bool()}
	if r.Err() == nil && (a.rows < 1 || a.rows > MaxRows) {
		r.Fail(fmt.Errorf("the party has %d rows; 1 to %d are allowed", a.rows, MaxRows))
	}
	return a, r.Close("escaped: announcement")
}

// encodeGrant encodes the numbers of rows of all parties, in the session's order.
func encodeGrant(rows []int) []byte {
	var w wire.Writer
	for _, n := range rows {
		w.Uint32(uint32(n))
	}
	return w.Bytes()
}

// decodeScale decodes 1/a, where a is the factor of a party's mask.
func decodeScale(b []byte) (float64, error) {
	one := make([]float64, 1)
	if err := decodeNumbers(b, one); err != nil {
		return 0, err
	}
	if one[0] < 1./maskTop || one[0] > 1 {
		return 0, fmt.Errorf("escaped: the scale is %v; %v to 1 are allowed", one[0], 1./maskTop)
	}
	return one[0], nil
}

// decodeLabels decodes n labels and held-out flags. All labels must be empty if the party has
// announced none; otherwise every label must have text.
func decodeLabels(body []byte, n int, labelled bool) (labels []string, test []bool, err error) {
	r := wire.NewReader(body)
	for range n {
		l, t := r.String(maxLabelBytes), r.Bool()
		if r.Err() == nil && labelled && l == "" {
			r.Fail(errors.New("a row has no label, although the party announced labels"))
		}
		if r.Err() == nil && !labelled && l != "" {
			r.Fail(errors.New("a row has a label, although the party announced none"))
		}
		if r.Err() != nil {
			break
		}
		labels, test = append(labels, l), append(test, t)
	}
	return labels, test, r.Close("escaped: labels")
}
