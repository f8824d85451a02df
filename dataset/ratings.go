package dataset

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/mercer-fl/mercer/internal/base/humanize"
	"github.com/mercer-fl/mercer/linalg"
)

// Rating is one user's rating of one item. User and Item are indices into the lists of [Ratings].
type Rating struct {
	User, Item int
	Value      float64
	Time       int64 // time in the unit of the text; 0 if the text has none
}

// Ratings holds the ratings that users gave to items. Users and items have the names of the text.
// [ReadRatings] sorts each of the two lists as numbers if all its names are integers, else as text, so that
// the order of the lines does not matter.
type Ratings struct {
	Name         string
	Users, Items []string
	List         []Rating // ratings in the order of the text
	Timed        bool     // whether every rating has a time
}

// RatingsOptions holds the settings for reading ratings.
type RatingsOptions struct {
	Name string // name of the text in messages
}

// longestRating is the largest length of a line in bytes, the newline included.
const longestRating = 4 << 10

// ReadRatings reads ratings in the formats of MovieLens, plain or compressed by gzip. A line has
// the fields user, item and rating. A fourth field, the time, is on all lines or on none. The
// fields are separated by tabs, by commas, or by "::". The first line can be a header that begins
// with "user". Ratings are finite decimal numbers, times are integers. If a user rates an item
// twice, it is unclear which rating holds, and ReadRatings returns an error. Errors are
// *SyntaxError.
func ReadRatings(r io.Reader, o RatingsOptions) (*Ratings, error) {
	return readRatings(r, o, defaultLimits())
}

func readRatings(r io.Reader, o RatingsOptions, bounds limits) (*Ratings, error) {
	b, err := open(text(o.Name), r)
	if err != nil {
		return nil, err
	}
	p := &ratingsParser{text: text(o.Name), bounds: bounds, users: newNaming(), items: newNaming(), lines: make(map[[2]int]int)}
	lines := bufio.NewScanner(b)
	lines.Buffer(nil, longestRating)
	for lines.Scan() {
		p.line++
		if err := p.add(lines.Text()); err != nil {
			return nil, err
		}
	}
	switch err := lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return nil, p.errorf(p.line+1, "the line is longer than %d bytes, its end included; a rating has three or four short fields", longestRating)
	case err != nil:
		return nil, p.unreadable(p.line+1, err)
	case len(p.list) == 0:
		return nil, p.errorf(0, "the text has no ratings; give lines of user, item, rating and, if known, time")
	}
	return p.ratings(o.Name), nil
}

// ratingsParser collects ratings.
type ratingsParser struct {
	text
	bounds       limits
	line         int
	separator    string
	fields       int // number of fields in a line; 0 before the first line
	users, items *naming
	list         []Rating
	lines        map[[2]int]int // line of each pair of user and item
}

// separators lists the separators in the order in which they are tried. Fields can contain a comma
// only if the separator is not a comma.
func separators() []string { return []string{"\t", "::", ","} }

func (p *ratingsParser) add(line string) error {
	line = strings.TrimSuffix(line, "\r")
	if p.fields == 0 {
		header, err := p.begin(line)
		if header || err != nil {
			return err
		}
	}
	fields := strings.Split(line, p.separator)
	switch {
	case p.fields == 0 && len(fields) != 3 && len(fields) != 4:
		return p.errorf(p.line, "the line has %d fields; a rating is user, item, rating and, if known, time", len(fields))
	case p.fields > 0 && len(fields) != p.fields:
		return p.errorf(p.line, "the line has %s, but the lines before have %d; give every line the same number of fields", humanize.Count(len(fields), "field"), p.fields)
	case len(p.list) == p.bounds.cells/4:
		return p.errorf(p.line, "the text has more than %d ratings; split it", p.bounds.cells/4)
	}
	p.fields = len(fields)
	return p.rating(fields)
}

// begin detects the separator and a header.
func (p *ratingsParser) begin(line string) (header bool, err error) {
	at := slices.IndexFunc(separators(), func(s string) bool { return strings.Contains(line, s) })
	if at < 0 {
		return false, p.errorf(p.line, "there is no separator in %s; separate user, item, rating and time by tabs, commas or ::", quote(line))
	}
	p.separator = separators()[at]
	return p.line == 1 && strings.HasPrefix(strings.ToLower(line), "user"), nil
}

func (p *ratingsParser) rating(fields []string) error {
	for i, what := range []string{"user", "item"} {
		if name := fields[i]; name == "" || name != strings.TrimSpace(name) {
			return p.errorf(p.line, "the %s is %s; write a name without blanks around it", what, quote(name))
		}
	}
	value, err := parseNumber(fields[2])
	if err != nil {
		return p.errorf(p.line, "the rating %s %w; write a number", quote(fields[2]), err)
	}
	rating := Rating{User: p.users.place(fields[0]), Item: p.items.place(fields[1]), Value: value}
	if len(fields) == 4 {
		if rating.Time, err = strconv.ParseInt(fields[3], 10, 64); err != nil {
			return p.errorf(p.line, "the time %s is not a whole number; write seconds since 1970", quote(fields[3]))
		}
	}
	key := [2]int{rating.User, rating.Item}
	if first, twice := p.lines[key]; twice {
		return p.errorf(p.line, "user %s has rated item %s already, in line %d; keep one of the two ratings", quote(fields[0]), quote(fields[1]), first)
	}
	p.lines[key] = p.line
	p.list = append(p.list, rating)
	return nil
}

// ratings returns the collected ratings, with users and items sorted.
func (p *ratingsParser) ratings(name string) *Ratings {
	r := &Ratings{Name: name, List: p.list, Timed: p.fields == 4}
	var users, items []int
	r.Users, users = p.users.sorted()
	r.Items, items = p.items.sorted()
	for i := range r.List {
		r.List[i].User, r.List[i].Item = users[r.List[i].User], items[r.List[i].Item]
	}
	return r
}

// naming numbers the distinct names from 0 in the order in which they first occur.
type naming struct {
	places map[string]int
	names  []string
}

func newNaming() *naming { return &naming{places: make(map[string]int)} }

func (n *naming) place(name string) int {
	i, known := n.places[name]
	if !known {
		i = len(n.names)
		name = strings.Clone(name) // the copy does not keep the whole line in memory
		n.places[name], n.names = i, append(n.names, name)
	}
	return i
}

// sorted returns the names in sorted order. The indices in places lead from old to new positions.
func (n *naming) sorted() (names []string, places []int) {
	order := linalg.Range(0, len(n.names))
	numbers := make([]int64, len(n.names))
	numbered := true
	for i, name := range n.names {
		var err error
		numbers[i], err = strconv.ParseInt(name, 10, 64)
		numbered = numbered && err == nil
	}
	slices.SortFunc(order, func(a, b int) int {
		if numbered && numbers[a] != numbers[b] {
			return cmp.Compare(numbers[a], numbers[b])
		}
		return strings.Compare(n.names[a], n.names[b])
	})
	places = make([]int, len(order))
	for at, i := range order {
		names, places[i] = append(names, n.names[i]), at
	}
	return names, places
}

// Liked returns the ratings of at least the given value. Users and items stay, even those without
// such a rating.
func (r *Ratings) Liked(least float64) *Ratings {
	liked := *r
	liked.List = slices.DeleteFunc(slices.Clone(r.List), func(x Rating) bool { return x.Value < least })
	return &liked
}

// Within returns the same ratings with another list of items. It refuses a rating of an item that
// is not in the list.
func (r *Ratings) Within(items []string) (*Ratings, error) {
	places := make(map[string]int, len(items))
	for i, name := range items {
		places[name] = i
	}
	within := *r
	within.Items, within.List = slices.Clone(items), slices.Clone(r.List)
	for i := range within.List {
		x := &within.List[i]
		place, known := places[r.Items[x.Item]]
		if !known {
			return nil, fmt.Errorf("dataset: %s: user %s rates item %s, which is not among the %d given items", r.Name, quote(r.Users[x.User]), quote(r.Items[x.Item]), len(items))
		}
		x.Item = place
	}
	return &within, nil
}

// First returns the ratings of the first users, up to the given number. It keeps the list of all
// items.
func (r *Ratings) First(users int) *Ratings {
	first := *r
	first.Users = r.Users[:min(users, len(r.Users))]
	first.List = slices.DeleteFunc(slices.Clone(r.List), func(x Rating) bool { return x.User >= users })
	return &first
}

// Profiles returns, for each user, the items that the user rates in the given ratings, in ascending
// order. The ratings are given as indices into List.
func (r *Ratings) Profiles(list []int) [][]int {
	profiles := make([][]int, len(r.Users))
	for _, i := range list {
		u := r.List[i].User
		profiles[u] = append(profiles[u], r.List[i].Item)
	}
	for _, p := range profiles {
		slices.Sort(p)
	}
	return profiles
}

// EveryPerUser makes a test set of every k-th rating of each user, in the order of the text. It
// uses no randomness. It refuses a k below 2.
func (r *Ratings) EveryPerUser(k int) (train, test []int, err error) {
	if k < 2 {
		return nil, nil, fmt.Errorf("dataset: cannot hold out every %d-th rating of a user; choose a number of 2 or more", k)
	}
	seen := make([]int, len(r.Users))
	for i, x := range r.List {
		seen[x.User]++
		if seen[x.User]%k == 0 {
			test = append(test, i)
		} else {
			train = append(train, i)
		}
	}
	return train, test, nil
}

// NewestPerUser makes a test set of the newest ratings of each user. It takes the given fraction of
// a user's ratings, in (0, 1), rounded down. Among ratings with the same time, the later one in the
// text counts as newer. It refuses ratings without times.
func (r *Ratings) NewestPerUser(fraction float64) (train, test []int, err error) {
	byUser := make([][]int, len(r.Users))
	for i, x := range r.List {
		byUser[x.User] = append(byUser[x.User], i)
	}
	return r.newest(byUser, fraction)
}

// Newest makes a test set of the newest of all ratings. It takes the given fraction of the ratings,
// in (0, 1), rounded down. It refuses ratings without times.
func (r *Ratings) Newest(fraction float64) (train, test []int, err error) {
	return r.newest([][]int{linalg.Range(0, len(r.List))}, fraction)
}

func (r *Ratings) newest(groups [][]int, fraction float64) (train, test []int, err error) {
	if !r.Timed {
		return nil, nil, errors.New("dataset: the ratings have no times, so none are the newest; hold out every k-th rating of each user instead")
	}
	if err := checkFraction(len(r.List), fraction); err != nil {
		return nil, nil, err
	}
	for _, list := range groups {
		slices.SortStableFunc(list, func(a, b int) int { return cmp.Compare(r.List[a].Time, r.List[b].Time) })
		// Adding 1e-9 keeps rounding errors from lowering a tenth of 30 to 2.
		held := int(math.Floor(float64(fraction*float64(len(list))) + 1e-9))
		train, test = append(train, list[:len(list)-held]...), append(test, list[len(list)-held:]...)
	}
	slices.Sort(train)
	slices.Sort(test)
	return train, test, nil
}
