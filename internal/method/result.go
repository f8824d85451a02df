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
	// Metrics are figures on the held-out rows; if the job has only folds, the means over the folds
	// of the chosen cell.
	Metrics learner.Metrics `json:"metrics"`
	// Figures describe the predictions on these rows. They are nil if the maker of the result lacks
	// the scores or the labels.
	Figures    *learner.Assessment `json:"figures,omitempty"`
	About      *learner.About      `json:"about,omitempty"`
	Parameters *learner.Parameters `json:"parameters,omitempty"` // of the model
	Prepared   *learner.Prepared   `json:"prepared,omitempty"`   // of tables with a schema
	// Pooled and Alone are computed by a launching process that owns the data; null when deployed.
	Pooled learner.Metrics `json:"pooled"`
	Alone  []Alone         `json:"alone"`
	// ExactKernel holds the figures of the exact kernel on rows in one place, if the job uses
	// random features.
	ExactKernel learner.Metrics `json:"exact_kernel,omitempty"`
	// Repeats spreads the figures over the runs of a job that repeats; the figures above are the
	// first run's.
	Repeats *learner.Repeats `json:"repeats,omitempty"`
	// LeaveOneSiteOut lists the figures of each party of a leave-one-site-out job; the figures
	// above are the first party's.
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
	// Refused lists the refusals that a party with the default policy would make. It is filled only
	// for a job that one process plays.
	Refused  []string `json:"party_would_refuse,omitempty"`
	Withheld []string `json:"party_would_withhold,omitempty"` // what such a party would keep back of the result
	HeldOut  int      `json:"held_out_rows"`
	Chosen   string   `json:"held_out,omitempty"` // which rows, where the job says it itself
	Training int      `json:"training_rows"`
	Support  int      `json:"support_vectors"` // rows that the model holds
	// Details holds the method's own part of a result: an object, whose keys are written beside the
	// common ones, or the value decoded from such an object.
	Details any `json:"-"`
	// Eigenvalues lists the eigenvalues of a kernel PCA, largest first.
	Eigenvalues []float64         `json:"eigenvalues,omitempty"`
	Components  *learner.Likeness `json:"components_to_pooled,omitempty"` // of a kernel PCA, on the held-out rows
}

// TellSplit describes the rows that the job itself held out, and warns of the limits of its groups.
func (r *Result) TellSplit(j *job.Job) {
	r.Chosen = j.Data.Test.Chosen()
	if j.Data.Group != "" {
		r.Warnings = append(r.Warnings, fmt.Sprintf("rows of one %s are kept together at each party. If two parties share one, its rows can be both in training and held out, and nobody can detect it", j.Data.Group))
	}
}

// Alone holds the figures that one party reaches by itself, on the same held-out rows.
type Alone struct {
	Party   string `json:"party"`
	Rows    int    `json:"training_rows"`
	Metrics learner.Metrics
	Failure string `json:"error,omitempty"` // why the learner cannot be fitted to these rows alone
}

// Network holds the messages of a job and their transfer time, without computation, on the lines
// that the job describes.
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
	// NoFile explains why the model is not a file; "" if it is.
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
		return nil, fmt.Errorf("method: the details of a result must be a JSON object, but they begin with %.20s", own)
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

// DetailsOf returns the method's own part of a result, as the method set it or as it was decoded;
// nil if there is none.
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

// Presentation describes a result beyond its figures.
type Presentation struct {
	Unit   string // of the training data; "" for rows
	Pooled int    // how many of them learning in one place has; 0 for the training rows
	// Text replaces the line about training and held-out rows.
	Text  []Block
	Later []Block // after the grid that was chosen from
	// Settings describes the settings that the data determined; the page shows it after the job's
	// settings.
	Settings string
	// Summary replaces the head of the page; nil means the common head with More added.
	Summary, More []report.Row
	Curves        []report.Curve
}

// Block is a text with line breaks, or a table.
type Block struct {
	Line   string
	Header []string
	Rows   [][]string
}

// LeaveOneSiteOut holds the figures of a job that holds out each party in turn.
type LeaveOneSiteOut struct {
	Parties  []Site                    `json:"parties"`
	Together map[string]learner.Spread `json:"together"` // over the parties that are held out
	Pooled   map[string]learner.Spread `json:"pooled,omitempty"`
	Seconds  learner.Spread            `json:"total_s"`
}

// Site holds the figures on all rows of one party, by a model of the other parties.
type Site struct {
	Party    string          `json:"party"`
	Training int             `json:"training_rows"`
	HeldOut  int             `json:"held_out_rows"`
	Metrics  learner.Metrics `json:"metrics"`
	Pooled   learner.Metrics `json:"pooled,omitempty"`
	Alone    []Alone         `json:"alone,omitempty"` // of the parties that train
}

// Facts describe a party's data for the job's statement of leakage. The server could derive each
// fact from the data it holds.
type Facts struct {
	Known bool // false: this stage has no facts
	Grid  Grid
	// Features is 0 unless the job's rows outnumber the features: the rank of the Gram matrix then
	// reveals it, and otherwise it stays secret.
	Features uint32
}

// Grid states how many of the varying columns hold multiples of a step: integers, counts, one-hot
// codes, pixels. Larger values leak more.
type Grid uint8

// The values of Grid.
const (
	NoGrid Grid = iota
	SomeGrid
	AllGrid
)

// Join combines two sets of facts and keeps the worse case of each.
func (f Facts) Join(other Facts) Facts {
	if !other.Known {
		return f
	}
	return Facts{Known: true, Grid: max(f.Grid, other.Grid), Features: max(f.Features, other.Features)}
}

// GridOf returns the Grid of a table.
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
