package method

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/report"
)

// Result is a job's result, in the form that --json prints.
type Result struct {
	Job string `json:"job"`
	// Metrics are figures on the rows that the job holds out; if it holds none
	// out but in folds, the means over the folds of the chosen cell.
	Metrics learner.Metrics `json:"metrics"`
	// Figures describe the predictions on these rows. They are nil where the maker of the result
	// lacks the scores or the labels.
	Figures    *learner.Assessment `json:"figures,omitempty"`
	About      *learner.About      `json:"about,omitempty"`
	Parameters *learner.Parameters `json:"parameters,omitempty"` // of the model
	Prepared   *learner.Prepared   `json:"prepared,omitempty"`   // of tables with a schema
	// Pooled and Alone are computed by a launching process that owns the data;
	// null when deployed.
	Pooled learner.Metrics `json:"pooled"`
	Alone  []Alone         `json:"alone"`
	// ExactKernel holds the figures of the kernel itself on rows in one place, where the job
	// uses random features instead of the kernel.
	ExactKernel learner.Metrics `json:"exact_kernel,omitempty"`
	// Repeats spreads the figures over the runs of a job that repeats; the figures above are the
	// first run's.
	Repeats *learner.Repeats `json:"repeats,omitempty"`
	// LeaveOneSiteOut lists the figures of each party of a job that holds them out in turn; the figures
	// above are of the first one.
	LeaveOneSiteOut *LeaveOneSiteOut    `json:"turns,omitempty"`
	Difference      *float64            `json:"max_decision_difference"` // to pooled
	Exact           *bool               `json:"exact"`                   // every prediction equals pooled's; null where predictions are numbers
	Grid            []learner.Cell      `json:"grid"`                    // empty without folds
	Timings         map[string]float64  `json:"timings_s"`
	Network         *Network            `json:"network,omitempty"` // on which the job's messages take time
	PeakRSS         uint64              `json:"peak_rss_bytes"`
	Parties         []Cost              `json:"parties"`
	Processes       []int               `json:"processes"`
	Models          []ModelFile         `json:"models"`
	ModelHash       string              `json:"model_sha256"` // of the sorted list of models
	Leakage         map[string][]string `json:"leakage"`      // what each role learns, in words
	Warnings        []string            `json:"warnings,omitempty"`
	// Refused lists the refusals of a party with the default policy. It is filled only for a
	// job that one process plays.
	Refused  []string `json:"party_would_refuse,omitempty"`
	Withheld []string `json:"party_would_withhold,omitempty"` // what such a party would keep back of the result
	HeldOut  int      `json:"held_out_rows"`
	Chosen   string   `json:"held_out,omitempty"` // which rows, where the job says it itself
	Training int      `json:"training_rows"`
	Support  int      `json:"support_vectors"` // rows that the model holds
	// Details holds the part of a result that only this method has: an object, whose keys
	// stand beside the common ones, or the value read back from such an object.
	Details any `json:"-"`
	// Eigenvalues lists the eigenvalues of a kernel PCA, largest first.
	Eigenvalues []float64         `json:"eigenvalues,omitempty"`
	Components  *learner.Likeness `json:"components_to_pooled,omitempty"` // of a kernel PCA, on the held-out rows
}

// TellSplit names the rows that the job itself held out, and warns of the limit of its groups.
func (r *Result) TellSplit(j *job.Job) {
	r.Chosen = j.Data.Test.Chosen()
	if j.Data.Group != "" {
		r.Warnings = append(r.Warnings, fmt.Sprintf("rows of one %s are kept together at each party; nobody sees whether two parties share one, whose rows can then be in training and held out", j.Data.Group))
	}
}

// Alone holds the figures that one party reaches without the others, on the same held-out
// rows.
type Alone struct {
	Party   string `json:"party"`
	Rows    int    `json:"training_rows"`
	Metrics learner.Metrics
	Failure string `json:"error,omitempty"` // why the learner cannot be fitted to these rows alone
}

// Network holds the messages of a job and the time that they would take on lines that a job
// describes, without any computing.
type Network struct {
	Seconds  float64 `json:"seconds"`
	Bytes    uint64  `json:"bytes"`
	Messages uint64  `json:"messages"`
}

// Cost holds the cost of a job for one party.
type Cost struct {
	Name     string  `json:"name"`
	PID      int     `json:"pid"`
	Sent     uint64  `json:"sent_bytes"`
	Received uint64  `json:"received_bytes"`
	CPU      float64 `json:"cpu_s"`
	PeakRSS  uint64  `json:"peak_rss_bytes"`
}

// ModelFile is a file that a job left at a party or at the coordinator.
type ModelFile struct {
	Party   string `json:"party"`
	Path    string `json:"path"` // "" where it is sealed, in parts, or not kept
	SHA256  string `json:"sha256"`
	Private bool   `json:"private"` // holds encoded rows and never leaves its place
	// NoFile says why there is no file of it; "" where there is one.
	NoFile string `json:"no_file,omitempty"`
}

// MarshalJSON puts the metrics beside the party's name.
func (a Alone) MarshalJSON() ([]byte, error) {
	m := map[string]any{"party": a.Party, "training_rows": a.Rows}
	for k, v := range a.Metrics {
		m[k] = v
	}
	if a.Failure != "" {
		m["error"] = a.Failure
	}
	return json.Marshal(m)
}

// Roles of a leakage statement, in the order in which they are read.
func Roles() []string {
	return []string{"server", "leader", "active", "passive", "party", "coalition", "broker"}
}

// HashModels is the SHA-256 of the sorted list of models: two runs with equal
// hashes left the same models with the same members.
func HashModels(models []ModelFile) string {
	var lines []string
	for _, m := range models {
		lines = append(lines, m.Party+" "+m.SHA256+"\n")
	}
	slices.Sort(lines)
	sum := sha256.Sum256([]byte(strings.Join(lines, "")))
	return hex.EncodeToString(sum[:])
}

// plain is a result without its methods.
type plain Result

// MarshalJSON writes the details' keys beside the common ones.
func (r *Result) MarshalJSON() ([]byte, error) {
	common, err := json.Marshal((*plain)(r))
	if err != nil || r.Details == nil {
		return common, err
	}
	own, err := json.Marshal(r.Details)
	if err != nil {
		return nil, err
	}
	if len(own) < 2 || own[0] != '{' {
		return nil, fmt.Errorf("method: the details of a result are %.20s and no object", own)
	}
	if own = bytes.TrimSpace(own[1 : len(own)-1]); len(own) == 0 {
		return common, nil
	}
	return append(append(common[:len(common)-1], ','), append(own, '}')...), nil
}

// UnmarshalJSON keeps the keys that are not common as details.
func (r *Result) UnmarshalJSON(b []byte) error {
	if err := json.Unmarshal(b, (*plain)(r)); err != nil {
		return err
	}
	var all map[string]json.RawMessage
	if err := json.Unmarshal(b, &all); err != nil {
		return err
	}
	t := reflect.TypeFor[Result]()
	for i := range t.NumField() {
		key, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		delete(all, key)
	}
	if len(all) == 0 {
		return nil
	}
	own, err := json.Marshal(all)
	r.Details = json.RawMessage(own)
	return err
}

// DetailsOf reads the part of a result that only this method has: as the method left it, or
// as it was read back. It is nil where there is none.
func DetailsOf[T any](r *Result) (*T, error) {
	switch d := r.Details.(type) {
	case *T:
		return d, nil
	case json.RawMessage:
		own := new(T)
		return own, json.Unmarshal(d, own)
	case nil:
		return nil, nil
	}
	return nil, fmt.Errorf("method: details of another method: %T", r.Details)
}

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

// LeaveOneSiteOut holds the figures of a job that holds each party out in turn.
type LeaveOneSiteOut struct {
	Parties  []Site                    `json:"parties"`
	Together map[string]learner.Spread `json:"together"` // over the parties that are held out
	Pooled   map[string]learner.Spread `json:"pooled,omitempty"`
	Seconds  learner.Spread            `json:"total_s"`
}

// Site holds the figures on all rows of one party, by a model of the others.
type Site struct {
	Party    string          `json:"party"`
	Training int             `json:"training_rows"`
	HeldOut  int             `json:"held_out_rows"`
	Metrics  learner.Metrics `json:"metrics"`
	Pooled   learner.Metrics `json:"pooled,omitempty"`
	Alone    []Alone         `json:"alone,omitempty"` // of the parties that train
}

// Facts describe a party's data for the statement of the job's leakage. The server could
// derive each fact from the data it holds.
type Facts struct {
	Known bool // false: this stage has nothing to tell
	Grid  Grid
	// Features is 0 unless the job's rows outnumber the features: then the
	// rank of the Gram matrix gives it away, and before that it is not told.
	Features uint32
}

// Grid tells how many of the columns that vary hold multiples of a step: integers, counts, one-hot
// codes, pixels. A larger value is the worse news.
type Grid uint8

// The values of Grid.
const (
	NoGrid Grid = iota
	SomeGrid
	AllGrid
)

// Join returns what both sets of facts tell together, the worse news of two.
func (f Facts) Join(other Facts) Facts {
	if !other.Known {
		return f
	}
	return Facts{Known: true, Grid: max(f.Grid, other.Grid), Features: max(f.Features, other.Features)}
}

// GridOf tells how many of a table's varying columns hold multiples of a step.
func GridOf(t dataset.Table) Grid {
	grid, columns := dataset.GridColumns(t)
	switch {
	case grid == 0:
		return NoGrid
	case grid < columns:
		return SomeGrid
	}
	return AllGrid
}
