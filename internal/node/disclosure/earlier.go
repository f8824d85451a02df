package disclosure

import (
	"slices"

	"github.com/mercer-fl/mercer/internal/base/humanize"
	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/internal/method"
)

// Earlier is an earlier release that reveals more together with one that awaits approval. It names jobs and columns, so
// only the party's own people are allowed to see it. Both, There and Here list columns as a text: the first names in
// quotes, and the number of the others; "" if there are none. Without names nobody knows which columns two different
// tables have in common: then Both says so, and There and Here have all columns.
type Earlier struct {
	Job   string
	Day   string // date of the latest disclosure, YYYY-MM-DD; "" if there was none yet, or in old formats
	Kind  method.ReleaseKind
	Both  string // columns in both releases
	There string // columns in the earlier release alone
	Here  string // columns in the waiting release alone
}

// These constants bound what a note says about earlier releases.
const (
	maxEarlier = 16       // largest number of earlier releases
	maxShown   = 32       // largest number of names in a list of columns
	maxShownAs = 16 << 10 // largest number of bytes of such a list, whose names are quoted and shortened
)

// remember keeps an earlier release for the note, once.
func (c *comparison) remember(h head) {
	if !slices.ContainsFunc(c.with, func(o head) bool { return o.id == h.id }) {
		c.with = append(c.with, h)
	}
}

// jobs names the jobs of the earlier releases that reveal something together with this one.
func (c *comparison) jobs() (names []string) {
	for _, h := range c.with {
		if !slices.Contains(names, h.Job) {
			names = append(names, h.Job)
		}
	}
	return names
}

// earlier describes the first of the earlier releases that reveal something together with this one, and counts the
// others.
func (c *comparison) earlier() (list []Earlier, others int) {
	for _, h := range c.with[:min(len(c.with), maxEarlier)] {
		list = append(list, c.now.beside(h.Entry))
	}
	return list, len(c.with) - len(list)
}

// beside describes an earlier release beside this one.
func (e *Entry) beside(o *Entry) Earlier {
	d := Earlier{Job: o.Job, Day: o.Day, Kind: o.Kind}
	if e.Columns == nil || o.Columns == nil {
		if e.sameColumns(o) {
			d.Both = shownColumns(nil, e.Width)
			return d
		}
		d.There, d.Here = shownColumns(o.Columns, o.Width), shownColumns(e.Columns, e.Width)
		if e.Width > 0 && o.Width > 0 {
			d.Both = "not known; perhaps some of these"
		}
		return d
	}
	there, here := exclude(o.Columns, e.Columns), exclude(e.Columns, o.Columns)
	both := exclude(o.Columns, there)
	d.Both, d.There, d.Here = shownColumns(both, len(both)), shownColumns(there, len(there)), shownColumns(here, len(here))
	return d
}

// shownColumns lists columns, or counts them if they have no names.
func shownColumns(names []string, width int) string {
	if names == nil && width > 0 {
		return count(width, "column without a name", "columns without names")
	}
	return humanize.List(names, maxShown, quote)
}

func writeEarlier(w *wire.Writer, list []Earlier) {
	w.Uint32(uint32(len(list)))
	for _, d := range list {
		w.String(d.Job)
		w.String(d.Day)
		w.String(string(d.Kind))
		for _, columns := range []string{d.Both, d.There, d.Here} {
			w.Bytes32([]byte(columns))
		}
	}
}

// minEarlier is less than the number of bytes of any encoded [Earlier].
const minEarlier = 15

func readEarlier(r *wire.Reader) (list []Earlier) {
	for range r.Count(maxEarlier, minEarlier) {
		d := Earlier{Job: r.String(maxText), Day: r.String(maxDigest), Kind: method.ReleaseKind(r.String(32))}
		for _, columns := range []*string{&d.Both, &d.There, &d.Here} {
			*columns = string(r.Bytes32(maxShownAs))
		}
		list = append(list, d)
	}
	return list
}
