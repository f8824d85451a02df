package transcript

import (
	"fmt"
	"slices"
	"strings"
)

// Message is one message that a member of a session sent, or a chunk of a long message.
type Message struct {
	Step, From, To, Protocol, Kind string
	Whole                          string // identifier of the whole message, the same in all its chunks
	Bytes                          int
}

// Group holds the members of a session that have the same role.
type Group struct {
	Role    string // role in the singular, such as "party" or "device"
	Members []string
}

// most is the largest number of members that a line lists by name.
const most = 4

// pair holds the messages of one kind from one member to another.
type pair struct {
	from, to string
	bytes    int
	wholes   []string // identifiers of whole messages
	sizes    []int    // sizes of whole messages
}

// folded holds all messages of one kind in one step, from one group to another.
type folded struct {
	Message // first message of this kind
	pairs   []*pair
	beyond  bool // whether each member of the group also sends to a member outside
}

// fold groups the messages of a step by kind. The kinds are in the order in which they first
// appear.
func (g Group) fold(list []Message) (all []*folded) {
	for _, m := range list {
		at := slices.IndexFunc(all, func(f *folded) bool {
			return f.Protocol == m.Protocol && f.Kind == m.Kind && g.has(f.From) == g.has(m.From) && g.has(f.To) == g.has(m.To)
		})
		if at < 0 {
			at, all = len(all), append(all, &folded{Message: m})
		}
		all[at].add(m)
	}
	return g.join(all)
}

// join merges two entries for messages of one kind and size. It does so if every member of the
// group sends such messages to all other members of the group, and also to a member outside the
// group.
func (g Group) join(list []*folded) (all []*folded) {
	each := "each " + g.Role + " -> "
	inside := each + "each other " + g.Role
	for _, f := range list {
		if n := len(all); n > 0 {
			last := all[n-1]
			a, b := last.route(g), f.route(g)
			if last.Protocol == f.Protocol && last.Kind == f.Kind && last.size() == f.size() && g.has(last.To) != g.has(f.To) &&
				(a == inside && strings.HasPrefix(b, each) || b == inside && strings.HasPrefix(a, each)) {
				last.pairs, last.beyond = append(last.pairs, f.pairs...), true
				continue
			}
		}
		all = append(all, f)
	}
	return all
}

func (g Group) has(name string) bool { return slices.Contains(g.Members, name) }

func (f *folded) add(m Message) {
	at := slices.IndexFunc(f.pairs, func(p *pair) bool { return p.from == m.From && p.to == m.To })
	if at < 0 {
		at, f.pairs = len(f.pairs), append(f.pairs, &pair{from: m.From, to: m.To})
	}
	p := f.pairs[at]
	p.bytes += m.Bytes
	whole := slices.Index(p.wholes, m.Whole)
	if whole < 0 {
		whole, p.wholes, p.sizes = len(p.wholes), append(p.wholes, m.Whole), append(p.sizes, 0)
	}
	p.sizes[whole] += m.Bytes
}

// route returns a text that describes senders and receivers.
func (f *folded) route(g Group) string {
	if f.beyond {
		return "each " + g.Role + " -> each other member"
	}
	var from, to []string
	between := make(map[string]bool)
	for _, p := range f.pairs {
		if !slices.Contains(from, p.from) {
			from = append(from, p.from)
		}
		if !slices.Contains(to, p.to) {
			to = append(to, p.to)
		}
		between[p.from+" "+p.to] = true
	}
	slices.SortFunc(from, g.order)
	slices.SortFunc(to, g.order)
	every := true
	for _, a := range from {
		for _, b := range to {
			every = every && (a == b || between[a+" "+b])
		}
	}
	switch n := len(f.pairs); {
	case every && len(from) == len(to) && len(from) == len(g.Members) && n > 2:
		return "each " + g.Role + " -> each other " + g.Role
	case every && !slices.ContainsFunc(from, func(name string) bool { return slices.Contains(to, name) }):
		return g.listNames(from, to) + " -> " + g.listNames(to, from)
	case n == len(g.Members) && g.ring(between, 1):
		return "each " + g.Role + " -> the next " + g.Role
	case n == len(g.Members) && g.ring(between, n-1):
		return "each " + g.Role + " -> the previous " + g.Role
	}
	var list []string
	for _, p := range f.pairs {
		list = append(list, p.from+" -> "+p.to)
	}
	return strings.Join(list, ", ")
}

// order compares two names by their positions in the group.
func (g Group) order(a, b string) int { return slices.Index(g.Members, a) - slices.Index(g.Members, b) }

// ring reports whether each member sends to the member that is the given number of places later in
// the group. After the last member, the places continue at the first. The caller has checked that
// there are no other messages.
func (g Group) ring(between map[string]bool, places int) bool {
	for i, name := range g.Members {
		if !between[name+" "+g.Members[(i+places)%len(g.Members)]] {
			return false
		}
	}
	return true
}

// listNames returns a text that lists the senders or the receivers. The slice others holds the
// members at the other end.
func (g Group) listNames(names, others []string) string {
	n := len(g.Members)
	switch {
	case len(names) == 1:
		return names[0]
	case len(names) == n:
		return "each " + g.Role
	case len(names) == n-1 && len(others) == 1 && g.has(others[0]) && !slices.Contains(names, others[0]):
		return "each other " + g.Role
	case len(names) > most:
		return fmt.Sprintf("%d of %d %ss", len(names), n, g.Role)
	}
	return strings.Join(names, ", ")
}

// size returns a text about number and size of the messages.
func (f *folded) size() string {
	each := ""
	if len(f.pairs) > 1 {
		each = " each"
	}
	var bytes, times, sizes []int
	for _, p := range f.pairs {
		bytes, times, sizes = append(bytes, p.bytes), append(times, len(p.wholes)), append(sizes, p.sizes...)
	}
	switch number := span(times); {
	case slices.Max(bytes) == 0:
		return "empty"
	case number == "1":
		return units(bytes) + each
	case slices.Min(sizes) == slices.Max(sizes):
		return number + " messages" + each + ", of " + units(sizes)
	default:
		return number + " messages" + each + ", together " + units(bytes)
	}
}

// units returns the range of a list of byte counts as text.
func units(list []int) string {
	if slices.Max(list) == 1 {
		return "1 byte"
	}
	return span(list) + " bytes"
}

// span returns the least and the greatest number of a list as text, or one number if all are
// equal.
func span(list []int) string {
	least, greatest := slices.Min(list), slices.Max(list)
	if least == greatest {
		return plain(least)
	}
	return plain(least) + " to " + plain(greatest)
}

// plain formats a number with commas between thousands.
func plain(n int) string {
	text := fmt.Sprint(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}
