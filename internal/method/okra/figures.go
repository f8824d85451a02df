package okra

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/mercer-fl/mercer/internal/base/say"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/report"
)

// Details holds the part of a result that a job has whose parties change, or that goes on from
// an earlier job.
type Details struct {
	Changes   *Figures   `json:"changes,omitempty"`
	Continued *Continued `json:"continued,omitempty"`
}

// Continued describes the cost of a job that goes on from an earlier one.
type Continued struct {
	Job  string   `json:"job"` // the earlier one
	Late []string `json:"late"`
	Phase
	ProductsShare float64 `json:"products_of_all"` // of the products of all rows
}

// Phase counts the costs of one session, and of the sessions before it that order and scale
// columns.
type Phase struct {
	Sent     uint64           `json:"sent_bytes"` // by all parties, in all messages
	Rows     map[string]int64 `json:"row_bytes"`  // of rows and labels, by party
	Products int64            `json:"products"`   // of two rows
}

// Figures describes how the parties of a job changed, and the cost.
type Figures struct {
	Late      []string `json:"late"`
	Withdrawn []string `json:"withdrawn"`
	// Added holds the share of its rows that a party got after the first session.
	Added       map[string]float64 `json:"added,omitempty"`
	Preparation string             `json:"preparation"` // keep, refit, or none where nothing is scaled
	First       Phase              `json:"first"`
	Changed     Phase              `json:"changed"`
	// Fresh is a session in which the parties that stay send all their rows. Where newcomers
	// had to find the order of the columns, its cost is counted here, too.
	Fresh         Phase   `json:"fresh"`
	BytesShare    float64 `json:"bytes_of_fresh"`
	ProductsShare float64 `json:"products_of_fresh"`
	// Equal reports whether the model equals, bit for bit, the model from the fresh session.
	Equal bool `json:"equals_fresh"`
}

// present shows what a change of parties has cost.
func present(_ *job.Job, r *method.Result) (*method.Presentation, error) {
	d, err := method.DetailsOf[Details](r)
	switch {
	case err != nil || d == nil:
		return nil, err
	case d.Continued != nil:
		return d.Continued.present(), nil
	case d.Changes == nil:
		return nil, nil
	}
	f := d.Changes
	table := method.Block{Header: []string{"session", "sent", "products of rows"}}
	for _, row := range []struct {
		name string
		Phase
	}{{"first", f.First}, {"after the change", f.Changed}, {"all rows anew", f.Fresh}} {
		table.Rows = append(table.Rows, []string{row.name, say.Bytes(row.Sent), fmt.Sprint(row.Products)})
	}
	return &method.Presentation{
		More:  []report.Row{{Label: "Changes", Value: f.parties() + "; " + f.costs() + "; " + f.equality()}},
		Later: []method.Block{{Line: f.parties()}, table, {Line: f.costs()}, {Line: f.equality()}},
	}, nil
}

// present shows what each party has sent of its rows.
func (f *Continued) present() *method.Presentation {
	table := method.Block{Header: []string{"party", "rows and labels"}}
	for _, name := range slices.Sorted(maps.Keys(f.Rows)) {
		table.Rows = append(table.Rows, []string{name, say.Bytes(uint64(f.Rows[name]))})
	}
	text := fmt.Sprintf("continues job %s; late: %s", f.Job, cmp.Or(strings.Join(f.Late, ", "), "nobody"))
	costs := fmt.Sprintf("all parties sent %s; %d products of rows were computed, %.1f %% of those of all rows", say.Bytes(f.Sent), f.Products, 100*f.ProductsShare)
	return &method.Presentation{
		More:  []report.Row{{Label: "Continues", Value: text + "; " + costs}},
		Later: []method.Block{{Line: text}, table, {Line: costs}},
	}
}

func (f *Figures) parties() string {
	var added []string
	for _, name := range slices.Sorted(maps.Keys(f.Added)) {
		added = append(added, fmt.Sprintf("%s %g %% of its rows", name, 100*f.Added[name]))
	}
	return fmt.Sprintf("late: %s; withdrawn: %s; added: %s; preparation: %s",
		cmp.Or(strings.Join(f.Late, ", "), "nobody"), cmp.Or(strings.Join(f.Withdrawn, ", "), "nobody"), cmp.Or(strings.Join(added, ", "), "nothing"), f.Preparation)
}

func (f *Figures) costs() string {
	return fmt.Sprintf("the change took %.1f %% of the bytes and %.1f %% of the products", 100*f.BytesShare, 100*f.ProductsShare)
}

func (f *Figures) equality() string {
	switch {
	case f.Preparation == string(Refit):
		return "all rows travelled anew: this is a fresh run"
	case f.Equal:
		return "the model equals the model from all rows anew, bit for bit"
	}
	return "the model differs from the model from all rows anew"
}
