package learner

import (
	"github.com/mercer-fl/mercer/learn/metrics"
	"github.com/mercer-fl/mercer/linalg"
)

// FigurePermission permits or denies the release of the figures over a party's own held-out rows.
type FigurePermission uint8

// The values of FigurePermission.
const (
	Denied  FigurePermission = iota // the party's policy does not allow figures
	TooFew                          // the party has too few held-out rows for figures of its own
	Allowed                         // the party allows readers of the result to see the figures
)

// PartyRows holds the rows of one party in a problem, and the party's permission for figures.
type PartyRows struct {
	Party      string
	Rows       []int
	Permission FigurePermission
}

// PartyFigures holds the figures over one party's held-out rows.
type PartyFigures struct {
	Party    string                 `json:"party"`
	HeldOut  int                    `json:"held_out_rows,omitempty"`
	Metrics  Metrics                `json:"metrics,omitempty"`
	PerClass []metrics.ClassFigures `json:"per_class,omitempty"`
	Withheld string                 `json:"withheld,omitempty"` // the reason why the figures are missing
}

// Texts that explain why a party has no figures.
const (
	DeniedText = "not allowed by its policy"
	fewText    = "too few rows"
	restText   = "what others withhold would follow from it"
)

// The parties without figures must together have these numbers of held-out rows, in total and of
// each class that they have. A reader of the result can compute the figures over all these rows together: they
// follow from the figures over all parties' rows and the released figures.
const (
	restRows  = 50
	restClass = 10
)

// byParty returns the figures over each party's held-out rows. It returns nil if fewer than two
// parties have held-out rows.
func (w *Work) byParty() ([]PartyFigures, error) {
	var list []PartyFigures
	var parts []*Fitted
	var rest []*Fitted
	for _, h := range w.Holders {
		part := w.Fitted.restricted(w.decidedPositions(h.Rows))
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
	safe := enoughToHide(rest)
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

// decidedPositions converts row numbers of the problem to positions among the rows that have
// decisions. These are the held-out rows, or all rows in a cross-validation.
func (w *Work) decidedPositions(rows []int) []int {
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

// enoughToHide reports whether the parties without figures, in rest, have enough rows together to hide
// single rows. They do if there are several such parties, and if their rows reach the minimum numbers. It
// returns true if there are no such parties.
func enoughToHide(rest []*Fitted) bool {
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
		if n < restClass && rest[0].predictsClasses() {
			return false
		}
	}
	return true
}

// predictsClasses reports whether the predictions are no numbers: classes, or the sides of a one-class machine.
func (f *Fitted) predictsClasses() bool { return !f.Head.Kind.Regresses() }

// measure computes the figures from the decisions for the party's held-out rows.
func (p *PartyFigures) measure(f *Fitted) error {
	m, err := f.measure()
	if err != nil {
		return err
	}
	for name := range f.figures { // remove figures of the training, which cover all parties' rows
		delete(m, name)
	}
	p.HeldOut, p.Metrics, p.Withheld = f.held, m, ""
	if !f.predictsClasses() {
		return nil
	}
	confusion, err := metrics.NewConfusionMatrix(f.Truth, f.Predicted)
	if err == nil && len(confusion.Classes) <= matrixClasses {
		p.PerClass = confusion.PerClass()
	}
	return err
}

// Hold assigns the rows from start to end-1 to a party. A new party gets the given permission for
// figures.
func (w *Work) Hold(party string, start, end int, word FigurePermission) {
	rows := linalg.Range(start, end)
	for i := range w.Holders {
		if h := &w.Holders[i]; h.Party == party {
			h.Rows = append(h.Rows, rows...)
			return
		}
	}
	w.Holders = append(w.Holders, PartyRows{party, rows, word})
}
