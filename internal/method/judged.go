package method

// Judging is a Party that has decisions about held-out rows of which it has the labels; nil
// before the end, and where it has none. The coordinator has neither.
type Judging interface{ Judged() (*Judged, error) }

// Judged holds a party's own knowledge of the held-out rows of a job, in the form in which the
// party keeps it.
type Judged struct {
	Result  *Result  `json:"result"` // figures and curves, without costs and comparisons
	Outcome *Outcome `json:"outcome"`
}
