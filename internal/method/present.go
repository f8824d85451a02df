package method

import "github.com/mercer-fl/mercer/report"

// Presentation describes a result beside its figures.
type Presentation struct {
	Unit   string // what is learnt from; "" for rows
	Pooled int    // how many of them learning in one place has; 0 for the training rows
	// Text stands in place of the line about training and held-out rows.
	Text  []Block
	Later []Block // after the grid that was chosen from
	// Settings describes the settings that the data have decided; the page shows it after the
	// job's settings.
	Settings string
	// Summary stands in place of the head of the page; nil for the common one, to which
	// More is added.
	Summary, More []report.Row
	Curves        []report.Curve
}

// Block is a text, whose lines are broken already, or a table.
type Block struct {
	Line   string
	Header []string
	Rows   [][]string
}
