package learner

import (
	"github.com/mercer-fl/mercer/learn/metrics"
	"github.com/mercer-fl/mercer/linalg"
)

// FigurePermission is a party's permission for figures over its own held-out rows.
type FigurePermission uint8

// The permissions.
const (
	Denied  FigurePermission = iota // its policy does not allow them
	TooFew                          // its held-out rows are below its limits
	Allowed                         // readers of the result may know them
)

// PartyRows is a party with its rows of a problem and its permission.
type PartyRows struct {
	Party      string
	Rows       []int
	Permission FigurePermission
}

// PartyFigures holds the figures over the held-out rows of one party.
type PartyFigures struct {
	Party    string                 `json:"party"`
	HeldOut  int                    `json:"held_out_rows,omitempty"`
	Metrics  Metrics                `json:"metrics,omitempty"`
	PerClass []metrics.ClassFigures `json:"per_class,omitempty"`
	Withheld string                 `json:"withheld,omitempty"` // the reason why there are none
}

// Reasons why a party has no figures.
const (
	DeniedText = "not allowed by its policy"
	fewText    = "too few rows"
	restText   = "what others withhold would follow from it"
)

// Minimums for the held-out rows of all withheld parties together: their figures follow from the
// others' and the figures over all rows.
const (
	restRows  = 50
	restClass = 10
)

// byParty returns the figures over each party's held-out rows if at least two parties have some;
// otherwise nil.
func (w *Work) byParty() ([]PartyFigures, error) {
	var list []PartyFigures
	var parts []*Fitted
	var rest []*Fitted
	for _, h := range w.Holders {
		part := w.Fitted.part(w.decided(h.Rows))
		if part.held == 0 {
			continue
		}
		one := PartyFigures{Party: h.Party}
		switch h.Permission {
		case Allowed:
		case TooFew:
			one.Withheld = fewText
		default:
			one.Withheld = DeniedText
		}
		if one.Withheld != "" {
			rest = append(rest, part)
		}
		list, parts = append(list, one), append(parts, part)
	}
	if len(list) < 2 {
		return nil, nil
	}
	safe := hides(rest)
	for i := range list {
		if list[i].Withheld != "" {
			continue
		}
		if list[i].Withheld = restText; safe {
			if err := list[i].measure(parts[i]); err != nil {
				return nil, err
			}
		}
	}
	return list, nil
}

// decided returns the places of some rows of the problem among the decided rows: the held-out rows,
// or all rows if they were held out in turn.
func (w *Work) decided(rows []int) []int {
	mine := make(map[int]bool, len(rows))
	for _, row := range rows {
		mine[row] = true
	}
	all, test := w.Problem.Rows()
	if len(test) > 0 {
		all = test
	}
	places := []int{}
	for place, row := range all {
		if mine[row] {
			places = append(places, place)
		}
	}
	return places
}

// hides reports whether the withheld rows belong to several parties and are enough together.
func hides(rest []*Fitted) bool {
	if len(rest) == 0 {
		return true
	}
	rows, classes := 0, make(map[string]int)
	for _, f := range rest {
		rows += f.held
		for _, label := range f.Truth {
			classes[label]++
		}
	}
	if len(rest) == 1 || rows < restRows {
		return false
	}
	for _, n := range classes {
		if n < restClass && rest[0].sorts() {
			return false
		}
	}
	return true
}

// sorts reports whether predictions are classes.
func (f *Fitted) sorts() bool { return !f.Head.Kind.Regresses() }

// measure fills in the figures.
func (p *PartyFigures) measure(f *Fitted) error {
	m, err := f.measure()
	if err != nil {
		return err
	}
	for name := range f.figures { // of the training rows of all
		delete(m, name)
	}
	p.HeldOut, p.Metrics, p.Withheld = f.held, m, ""
	if !f.sorts() {
		return nil
	}
	confusion, err := metrics.NewConfusionMatrix(f.Truth, f.Predicted)
	if err == nil && len(confusion.Classes) <= matrixClasses {
		p.PerClass = confusion.PerClass()
	}
	return err
}

// Hold adds a party with its rows of the problem, from first to end-1. A party may have several
// such ranges.
func (w *Work) Hold(party string, first, end int, word FigurePermission) {
	rows := linalg.Range(first, end)
	for i := range w.Holders {
		if h := &w.Holders[i]; h.Party == party {
			h.Rows = append(h.Rows, rows...)
			return
		}
	}
	w.Holders = append(w.Holders, PartyRows{party, rows, word})
}
