package okra

import (
	"errors"
	"fmt"

	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/protocol"
)

// Limits bound the server's memory for one session. Zero means the default.
type Limits struct {
	Rows  int   // largest number of rows of all parties; default 1,048,576
	Bytes int64 // largest size of encoded rows and Gram matrix, kept ones included, in bytes; default 8 GiB
}

func (l Limits) orDefault() Limits {
	if l.Rows == 0 {
		l.Rows = 1 << 20
	}
	if l.Bytes == 0 {
		l.Bytes = 8 << 30
	}
	return l
}

// LimitError reports that the announced rows exceed the server's limits.
type LimitError struct{ problem string }

func (e *LimitError) Error() string { return "okra: " + e.problem }

// check refuses rows that exceed the limits. Each row has width numbers of word bytes; extra is the
// number of further bytes that the session needs.
func (l Limits) check(rows, width, word int, extra int64) error {
	if rows > l.Rows {
		return &LimitError{fmt.Sprintf("the parties announce %d rows, but this server takes at most %d; bring fewer rows", rows, l.Rows)}
	}
	if need := int64(rows)*int64(width)*int64(word) + extra; need > l.Bytes {
		const gib = 1 << 30
		return &LimitError{fmt.Sprintf("%d rows of %d encoded numbers need %.1f GiB with their Gram matrix, but this server allows %.1f GiB; bring fewer rows", rows, width, float64(need)/gib, float64(l.Bytes)/gib)}
	}
	return nil
}

// Server receives encoded rows and computes their linear Gram matrix. Its results can be read once
// the session has ended without error.
type Server struct {
	core
	params  Params
	limits  Limits
	sources []*source // one for each party, in the descriptor's order
	total   int
	base    *Base // data kept from earlier sessions; nil in a first session
	store   store // nil until all announcements agree
	labels  []string
	test    []bool
	gram    *assembly // the Gram matrix; nil until all rows have arrived
}

// source holds what the server knows about one party.
type source struct {
	name     string
	announce *announce
	kept     int // number of the party's rows that the server kept from earlier sessions
	first    int // row of the Gram matrix at which the party's rows begin
	bytes    int64
	layout   layout // layout of the new rows
	rows     tally
	labels   tally
}

// end returns the index after the party's last row.
func (s *source) end() int { return s.first + s.kept + s.announce.rows }

// firstNew returns the index of the party's first new row.
func (s *source) firstNew() int { return s.first + s.kept }

func (s *source) complete() bool { return s.rows.missing == 0 && s.labels.missing == 0 }

// NewServer returns the machine of the server. It refuses a session of another protocol, or with
// other parameters than p.
func NewServer(s protocol.Setup, p Params, l Limits) (*Server, error) {
	d, err := newCore(s, p, protocol.RoleServer)
	if err != nil {
		return nil, err
	}
	if n := len(s.Session.With(protocol.RoleLeader)); n != 1 {
		return nil, fmt.Errorf("okra: the session has %d leaders; a training session has exactly one", n)
	}
	server := &Server{core: d, params: p, limits: l.orDefault()}
	for _, name := range d.parties() {
		server.sources = append(server.sources, &source{name: name})
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
	if err := checkSequence(m); err != nil {
		return protocol.Effects{}, err
	}
	from := s.source(m.Sender)
	switch {
	case from == nil || s.gram != nil:
	case m.Round == roundAnnounce && m.Kind == kindAnnounce && from.announce == nil && s.base == nil:
		return s.receiveAnnounce(m, from)
	case m.Round == roundAnnounce && m.Kind == kindConfirm && from.announce == nil && s.base != nil:
		return s.receiveConfirm(m, from)
	case m.Round == roundRows && m.Kind == kindLabels:
		return s.receiveChunk(m, from, s.takeLabels)
	case m.Round == roundRows && m.Kind == kindRows:
		return s.receiveChunk(m, from, s.takeRows)
	}
	return protocol.Effects{}, m.Unexpected()
}

// source returns the state of a party, or nil if the member is not a party.
func (s *Server) source(name string) *source {
	for _, from := range s.sources {
		if from.name == name {
			return from
		}
	}
	return nil
}

func (s *Server) receiveAnnounce(m protocol.Message, from *source) (protocol.Effects, error) {
	if err := checkUndivided(m); err != nil {
		return protocol.Effects{}, err
	}
	a, err := decodeAnnounce(m.Body)
	if err != nil {
		return protocol.Effects{}, m.Malformed(err)
	}
	if a.wire != s.params.wordBytes() {
		return protocol.Effects{}, m.Inconsistent("numbers have %d bytes; the session's have %d", a.wire, s.params.wordBytes())
	}
	from.announce = &a
	if s.partiesWhere(func(from *source) bool { return from.announce == nil }) != nil {
		return protocol.Effects{Arm: []protocol.Timer{TimerAnnounce}}, nil
	}
	leader := s.source(s.setup.Session.With(protocol.RoleLeader)[0])
	if err := compareAnnouncements(leader, s.sources); err != nil {
		return protocol.Finish(protocol.Effects{}, err)
	}
	return s.grantUpload()
}

// partiesWhere returns the names of the parties for which the function condition returns true.
func (s *Server) partiesWhere(condition func(*source) bool) (names []string) {
	for _, from := range s.sources {
		if condition(from) {
			names = append(names, from.name)
		}
	}
	return names
}

// grantUpload allocates the memory for all rows and allows the parties to send their rows. The
// server calls it once all announcements have arrived and agree.
func (s *Server) grantUpload() (protocol.Effects, error) {
	total := 0
	for _, from := range s.sources {
		total += from.kept + from.announce.rows
	}
	width, word := s.Width(), s.params.wordBytes()
	if err := s.limits.check(total, width, word, 8*int64(total)*int64(total)+s.base.memoryBound()); err != nil {
		return protocol.Finish(protocol.Effects{}, err)
	}
	s.store = newStore(total, width, word)
	s.labels, s.test = make([]string, total), make([]bool, total)
	for _, from := range s.sources {
		from.first, s.total = s.total, s.total+from.kept+from.announce.rows
		from.layout = layout{from.announce.rows, width, word}
		from.rows = newTally(from.layout.chunks())
		from.labels = newTally(labelChunks(from.announce.rows))
		s.restore(from)
	}
	e := protocol.Effects{Arm: []protocol.Timer{TimerRows}}
	if s.partiesWhere(func(from *source) bool { return !from.complete() }) == nil { // no party has new rows to send
		s.gram, e.Arm, e.Resume = s.assemble(), nil, true
	}
	for _, from := range s.sources {
		if from.announce.rows > 0 {
			e.Send = append(e.Send, s.setup.Message(from.name, roundAnnounce, kindGrant, nil))
		}
	}
	return e, nil
}

// restore copies a party's kept rows, labels and flags to their places in this session.
func (s *Server) restore(from *source) {
	if from.kept == 0 {
		return
	}
	lo := s.base.partOf(from.name).first
	s.store.copyFrom(from.first, s.base.rows, lo, lo+from.kept)
	copy(s.labels[from.first:], s.base.labels[lo:lo+from.kept])
	copy(s.test[from.first:], s.base.test[lo:lo+from.kept])
}

// receiveChunk processes a chunk of rows or of labels. The function handler stores the chunk's
// content. Once all rows are complete, receiveChunk starts the Gram matrix. It refuses a chunk
// before the grant, or from a party that has announced no rows.
func (s *Server) receiveChunk(m protocol.Message, from *source, handler func(protocol.Message, *source) error) (protocol.Effects, error) {
	if s.store == nil || from.announce.rows == 0 {
		return protocol.Effects{}, m.Unexpected()
	}
	if err := handler(m, from); err != nil {
		return protocol.Effects{}, err
	}
	e := protocol.Effects{Progress: s.receiveProgress()}
	if s.partiesWhere(func(from *source) bool { return !from.complete() }) != nil {
		e.Arm = []protocol.Timer{TimerRows}
		return e, nil
	}
	s.gram, e.Resume = s.assemble(), true
	return e, nil
}

// receiveProgress returns how many chunks of rows have arrived, and how many are expected.
func (s *Server) receiveProgress() protocol.Progress {
	p := protocol.Progress{Stage: "receive"}
	for _, from := range s.sources {
		p.Total += int64(len(from.rows.seen))
		p.Done += int64(len(from.rows.seen) - from.rows.missing)
	}
	return p
}

func (s *Server) takeRows(m protocol.Message, from *source) error {
	if err := from.rows.check(m); err != nil {
		return err
	}
	if err := s.store.put(from.layout.span(int(m.Chunk)), from.firstNew(), m.Body); err != nil {
		return m.Malformed(err)
	}
	from.rows.take(m.Chunk)
	from.bytes += int64(len(m.Body))
	return nil
}

func (s *Server) takeLabels(m protocol.Message, from *source) error {
	if err := from.labels.check(m); err != nil {
		return err
	}
	lo, hi := labelRange(from.announce.rows, int(m.Chunk))
	labels, test, err := decodeLabels(m.Body, hi-lo, from.announce.labelled)
	if err != nil {
		return m.Malformed(err)
	}
	copy(s.labels[from.firstNew()+lo:], labels)
	copy(s.test[from.firstNew()+lo:], test)
	from.labels.take(m.Chunk)
	from.bytes += int64(len(m.Body))
	return nil
}

// resume computes one step of the Gram matrix. After the last step it sends the receipts and ends.
func (s *Server) resume() (protocol.Effects, error) {
	if s.gram == nil {
		return protocol.Effects{}, errors.New("okra: the server was resumed before all rows arrived")
	}
	s.gram.step()
	e := protocol.Effects{Progress: s.gram.progress(), Resume: !s.gram.done()}
	if e.Resume {
		return e, nil
	}
	for _, from := range s.sources {
		e.Send = append(e.Send, s.setup.Message(from.name, roundReceipt, kindReceipt, encodeReceipt(s.total)))
	}
	return protocol.Finish(e, nil)
}

func encodeReceipt(rows int) []byte {
	var w wire.Writer
	w.Uint64(uint64(rows))
	return w.Bytes()
}

func (s *Server) expire(t protocol.Timer) (protocol.Effects, error) {
	switch {
	case t == TimerAnnounce && s.store == nil:
		late := s.partiesWhere(func(from *source) bool { return from.announce == nil })
		return protocol.Finish(protocol.Effects{}, silence(late, "an announcement"))
	case t == TimerRows && s.store != nil && s.gram == nil:
		late := s.partiesWhere(func(from *source) bool { return !from.complete() })
		return protocol.Finish(protocol.Effects{}, silence(late, "rows"))
	case t == TimerAnnounce || t == TimerRows:
		return protocol.Effects{}, nil
	}
	return protocol.Effects{}, fmt.Errorf("okra: a server has no timer %q", t)
}

// Gram returns the linear Gram matrix of all rows, n x n, in the order of
// Owner.
func (s *Server) Gram() linalg.Matrix[float64] { return s.gram.gram }

// Labels returns the label of each row, or nil if the session has none.
func (s *Server) Labels() []string {
	if !s.labelled() {
		return nil
	}
	return s.labels
}

func (s *Server) labelled() bool { return s.sources[0].announce.labelled }

// Test reports for each row whether it is held out.
func (s *Server) Test() []bool { return s.test }

// Range is the range of a party's rows, from Lo to Hi-1.
type Range struct {
	Party  string
	Lo, Hi int
}

// Owner returns the range of each party's rows, in the descriptor's order.
func (s *Server) Owner() []Range {
	var ranges []Range
	for _, from := range s.sources {
		ranges = append(ranges, Range{from.name, from.first, from.end()})
	}
	return ranges
}

// Rows returns the encodings of the rows in index, such as a model's support vectors, without
// copying them. The result is len(index) x Width().
func (s *Server) Rows(index []int) linalg.Rows { return linalg.Pick(s.store.rows(), index) }

// Costs counts the data received and the products computed in a session.
type Costs struct {
	Bytes    []int64 // bytes of rows and labels that each party sent, in the order of Owner
	Products int64   // inner products of two rows; each pair counts once
}

// Costs returns the costs of the session.
func (s *Server) Costs() Costs {
	c := Costs{Products: s.gram.products}
	for _, from := range s.sources {
		c.Bytes = append(c.Bytes, from.bytes)
	}
	return c
}

// Width returns f+k, the number of coordinates of an encoded row.
func (s *Server) Width() int { return s.sources[0].announce.width }

// Tag returns the tag that identifies prediction sessions under the same seed.
func (s *Server) Tag() Tag { return s.sources[0].announce.tag }

// Grid reports whether a party has stated that its values lie on a grid.
func (s *Server) Grid() bool {
	for _, from := range s.sources {
		if from.announce.grid || s.base != nil && s.base.partOf(from.name).Grid {
			return true
		}
	}
	return false
}
