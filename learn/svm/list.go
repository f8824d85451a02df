package svm

// list is the slots of a cache, the most recently used first.
type list struct {
	// links[0] is the head: links[0].next is the first slot plus 1,
	// links[0].prev the last. Slot s has links[s+1].
	links []link
}

type link struct{ prev, next int }

// append adds slot n, if there were n, behind all others.
func (l *list) append() {
	if len(l.links) == 0 {
		l.links = append(l.links, link{})
	}
	l.links = append(l.links, link{})
	l.insert(len(l.links)-1, l.links[0].prev)
}

// insert links at behind after.
func (l *list) insert(at, after int) {
	next := l.links[after].next
	l.links[at] = link{prev: after, next: next}
	l.links[after].next, l.links[next].prev = at, at
}

// touch brings slot to the front.
func (l *list) touch(slot int) {
	at := l.links[slot+1]
	l.links[at.prev].next, l.links[at.next].prev = at.next, at.prev
	l.insert(slot+1, 0)
}

// last returns the slot that was idle longest, if there is one.
func (l *list) last() (slot int, ok bool) {
	if len(l.links) < 2 {
		return 0, false
	}
	return l.links[0].prev - 1, true
}

// backwards calls f for all slots, the one that was idle longest first.
func (l *list) backwards(f func(slot int)) {
	if len(l.links) == 0 {
		return
	}
	for at := l.links[0].prev; at != 0; at = l.links[at].prev {
		f(at - 1)
	}
}
