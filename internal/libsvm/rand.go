package libsvm

// sequence is the generator behind rand of the GNU C library: the additive feedback generator
// x^31 + x^28 + 1 (D. Knuth, The Art of Computer Programming, volume 2, section 3.2.2).
type sequence struct {
	state [31]uint32
	next  int
}

// newSequence returns the numbers that rand yields in a process that never seeds it, from the first.
func newSequence() *sequence {
	const seed, discarded = 1, 310
	s := &sequence{next: 3}
	v := uint64(seed)
	for i := range s.state {
		s.state[i] = uint32(v)
		v = v * 16807 % (1<<31 - 1)
	}
	for range discarded {
		s.draw()
	}
	return s
}

// draw returns the next number, from 0 to 2^31 - 1.
func (s *sequence) draw() int {
	n := len(s.state)
	i := s.next
	s.state[i] += s.state[(i+n-3)%n]
	s.next = (i + 1) % n
	return int(s.state[i] >> 1)
}

// shuffle permutes list as LIBSVM does: each entry changes places with a later one, or stays.
func (s *sequence) shuffle(list []int) {
	for i := range list {
		j := i + s.draw()%(len(list)-i)
		list[i], list[j] = list[j], list[i]
	}
}
