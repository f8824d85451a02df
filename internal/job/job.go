package job

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/mercer-fl/mercer/internal/job/section"
	"github.com/mercer-fl/mercer/privacy"
)

// APIVersion is the version of the job file that this package reads.
const APIVersion = "mercer/v1"

// Job is a job with every default filled in. It is plain data. [Reader.Validate] checks a job that
// a program has built.
type Job struct {
	Name       string // lower-case letters, digits and dashes
	Seed       uint64 // seed of the partition, the split, folds and learners; no protocol makes a secret from it
	Data       Data
	Protocol   Named
	Kernel     Kernel       // the kernel, or the first kernel of a grid
	Learner    Named        // the learner, or the first learner of a grid
	Grid       Grid         // empty unless the file has lists of kernels or numbers
	Scoring    Scoring      // metric that chooses a grid's cell
	Compare    []Comparison // baselines, in the order of [Comparisons]
	Prediction Prediction
	Repeats    int  // number of runs, each with its own partition and split; 0 for one run
	Link       Link // speed and delay of a simulated network; zero for none
	Timeout    Timeout
	Study      *Study // the study inside which the job lies; nil for none
}

// Comparison names a baseline for the job's result. Only a process with the data of all parties computes
// it. A deployed job ignores it.
type Comparison string

// The comparisons.
const (
	Pooled Comparison = "pooled" // the same learner (in secvm, svc) on all data, which shows the cost of privacy
	Alone  Comparison = "alone"  // one learner for each party's own data, which shows the gain from joining
	Curve  Comparison = "curve"  // the same learning with other numbers of directions (moments) or bins (secvm)
	// ExactKernel is a learner with the exact kernel that fdskl's random features approximate. It
	// shows the cost of the approximation.
	ExactKernel Comparison = "exact-kernel"
)

// Comparisons returns all comparisons in canonical order.
func Comparisons() []Comparison { return []Comparison{Pooled, Alone, Curve, ExactKernel} }

// Prediction chooses whether the parties can encode new rows after the job has ended.
type Prediction string

// With Closed, the parties destroy the secrets of their encoders after the result, unless a later job can
// continue the job. With Open, they keep the secrets and can encode new rows for prediction queries.
const (
	Closed Prediction = "closed"
	Open   Prediction = "open"
)

// Owned converts the job to one that real parties run on their own tables. All these tables have
// the given name.
func (j *Job) Owned(name string) *Job {
	d := *j
	d.Link = Link{}
	d.Data.Source, d.Data.Sources = name, nil
	d.Data.Partition = Partition{By: Rows, Parties: j.Parties()}
	if p := j.Data.Partition; p.By == Columns {
		d.Data.Partition.By, d.Data.Partition.Columns, d.Data.Partition.Aligned = Columns, p.Columns, p.Aligned
	}
	return &d
}

// Compares reports whether the job requests the comparison c.
func (j *Job) Compares(c Comparison) bool {
	for _, have := range j.Compare {
		if have == c {
			return true
		}
	}
	return false
}

// Encode returns the canonical job file, from which a [Reader] reads j. Equal jobs have equal
// bytes.
func (j *Job) Encode() []byte { return canonical(j.file(nil)) }

// Hash returns the SHA-256 of the canonical job file.
func (j *Job) Hash() [sha256.Size]byte { return sha256.Sum256(j.Encode()) }

// Simulable returns nil if one process that plays every party can run the job, or the reason why
// not.
func (j *Job) Simulable() error {
	if j.Parties() != nil && j.Data.Partition.By == Devices {
		return errors.New("job: mercer simulate takes the people from the ratings; remove \"parties\"")
	}
	if j.Protocol.Demands().Outlives {
		return errors.New("job: mercer simulate keeps no state for a later job; replace \"continuable\" and \"continues\" by \"late: [south]\", which simulates a party that joins later")
	}
	if j.Data.Label == "" {
		return fmt.Errorf("job: \"data\" has no label, which mercer simulate requires; add \"label\" with the name of the column that holds %s", cmp.Or(j.Task().Labels, Classes().Labels))
	}
	if j.Parties() == nil && j.Data.Partition.By != Devices && !j.Unshared() {
		return errors.New("job: \"data\" has no parties, which mercer simulate requires; add \"partition: {parties: [north, south]}\" or \"sources\" to \"data\"")
	}
	return nil
}

// Unshared reports whether a process can run the job on a whole table, without any parties.
func (j *Job) Unshared() bool {
	return j.Traits().Unshared
}

// Deployable returns nil if real parties can run the job, or the reason why not.
func (j *Job) Deployable() error {
	if err := j.Played(); err != nil {
		return err
	}
	return j.OwnWord()
}

// OwnWord returns an error if the job describes tables, which only the parties' operators are
// allowed to describe. A job could otherwise choose descriptions that leave out rows or change sums, and so
// reveal single rows. For the same reason, OwnWord refuses another held-out fraction than that of all jobs.
func (j *Job) OwnWord() error {
	const byDictionary = "write it in a dictionary (mercer data info --schema begins one), have every operator approve that (mercer federation dictionary approve FILE), and name it by \"dictionary: NAME\""
	d := j.Data
	switch {
	case d.Schema != nil && d.Dictionary == nil, d.Dictionary != nil && d.Dictionary.Name == "":
		return errors.New("job: the job itself describes the columns, which each party's operator must approve; write the columns to a file with \"kind: Dictionary\", have every operator approve it (mercer federation dictionary approve FILE), and name it here by \"dictionary: NAME\"")
	case d.Dictionary != nil || d.Partition.By == Devices:
		return nil
	case d.Order != nil || d.Classes != nil || j.Protocol.Demands().Describes:
		return errors.New("job: the job itself gives the classes of the label, the merging of classes or the range of the label's numbers, which each party's operator must approve; " + byDictionary)
	case d.Test.Fraction != 0 && d.Test.Fraction != defaultFraction:
		return fmt.Errorf("job: test holds out %[2]g of the rows, but all jobs over a table without a dictionary hold out %[1]g; remove \"test\", or %[3]s", defaultFraction, d.Test.Fraction, byDictionary)
	}
	return nil
}

// Played returns the reason why only one process with all parties can run the job, or nil. It ignores
// descriptions of tables in the job ([Job.OwnWord]), because operators can approve those.
func (j *Job) Played() error {
	if why := j.undeployable(); why != "" {
		return errors.New("job: " + why)
	}
	return j.Unsimulated()
}

// Unsimulated returns an error if the job has the key "repeats" or "link", or a test that is for simulate
// only. It does not check the protocol, nor keys that describe simulated parties, such as "skew".
func (j *Job) Unsimulated() error {
	if j.Repeats > 0 {
		return errors.New("job: \"repeats\" is for mercer simulate, because several splits reveal more about a row than one split; remove \"repeats\"")
	}
	if j.Link != (Link{}) {
		return errors.New("job: \"link\" is for mercer simulate, because it describes a simulated network; remove \"link\"")
	}
	if err := j.Data.LeavesRows(); err != nil {
		return fmt.Errorf("job: %w", err)
	}
	return nil
}

func (j *Job) undeployable() string {
	if why := j.Traits().Undeployable; why != nil {
		return why(j)
	}
	return ""
}

// file declares the whole job file. With a nil Reader, the declaration can only write a job.
func (j *Job) file(r *Reader) *section.Section {
	kind, spec := "Job", section.Value(nil)
	if j.IsFit() {
		kind, spec = FitKind, j.fitSpec(r)
	} else {
		spec = j.spec(r)
	}
	return &section.Section{Name: "the job file", Fields: []section.Field{
		{Key: "apiVersion", Value: section.Fixed(APIVersion), Need: `write "apiVersion: ` + APIVersion + `" as the first line`, Doc: "The version of the format."},
		{Key: "kind", Value: section.Fixed(kind), Need: "write \"kind: Job\"", Doc: "The type of this file."},
		{Key: "metadata", Value: &section.Section{Name: "metadata", Fields: []section.Field{
			{Key: "name", Value: section.DNSLabel{Dst: &j.Name}, Need: "add \"name\" with a short name of lower-case letters, digits and dashes",
				Doc: "The name of the job."},
		}}, Need: "add \"metadata: {name: my-job}\"", Doc: "The name of the job."},
		{Key: "spec", Value: spec, Need: "add \"spec\" with \"data\", \"protocol\", \"kernel\" and \"learner\"", Doc: "The job's data, protocol, kernel and learner."},
	}}
}

func (j *Job) spec(r *Reader) *section.Section {
	kernels, learners := j.Kernels(), j.Learners()
	var alone error // reason why only a process that holds all rows can run the job; nil if parties can
	ofClasses, ofNumbers := Scorings()
	return &section.Section{Name: "spec", Fields: []section.Field{
		{Key: "seed", Value: section.Natural{Dst: &j.Seed}, Default: "1", Doc: "The seed of the partition and of the split. No secret depends on it, and neither do random features, which each run draws anew."},
		{Key: "data", Value: j.Data.section(r, &alone), Need: "add \"data\" with \"source\" and \"label\"", Doc: "The rows, and their partition among the parties."},
		{Key: "protocol", Value: namedSection{dst: &j.Protocol, what: "protocol", kinds: r.protocols()}, Need: "add \"protocol: {name: okra}\"", Doc: "The protocol by which the parties compute together, with its settings. It determines who learns what."},
		{Key: "kernel", Value: sweeps[Kernel]{sweep[Kernel]{&kernels, kernelSection}}, Need: "add \"kernel: {name: rbf, gamma: 0.5}\"",
			Doc: "The kernel, or a list of kernels for a grid."},
		{Key: "learner", Value: sweep[Named]{&learners, r.learner}, Need: "add \"learner: {name: svc, C: 10}\"", Doc: "The learner and its settings."},
		{Key: "scoring", Value: section.Choice[Scoring]{Noun: "score", Dst: &j.Scoring, Known: slices.Concat(ofClasses, ofNumbers)},
			Else: "accuracy of classes, r2 of numbers", Doc: "The metric that chooses the cell of a grid, by its mean over the folds: the highest, or the lowest rmse or mae."},
		{Key: "compare", Value: section.Choices[Comparison]{Noun: "comparison", Dst: &j.Compare, Known: Comparisons()},
			Default: "[pooled, alone]", Else: "[] with pooled on one table or without a test; [pooled] with fedcfk and secvm", Doc: "The baselines beside the job. Only a process with the data of all parties computes them."},
		{Key: "prediction", Value: section.Choice[Prediction]{Noun: "prediction", Dst: &j.Prediction, Known: []Prediction{Closed, Open}},
			Default: "closed", Doc: "Closed destroys the encoders' secrets with the result. Open retains them at the parties, which can then encode new rows for prediction queries."},
		{Key: "repeats", Value: section.Whole{Dst: &j.Repeats}, Else: "one run",
			Doc: "The number of runs in simulate, 2 to 100, each with another partition and split. The result has the mean and deviation of each figure."},
		{Key: "link", Value: j.Link.Section(), Else: "none",
			Doc: "A network for simulate: the result estimates the seconds that all messages would take on it."},
		{Key: "timeout", Value: j.Timeout.Section(), Default: "{}", Doc: "The longest waits of a deployed job."},
		j.studyField(r),
	}, Finish: func(in *section.Place) error {
		if err := j.finishGrid(in, kernels, learners); err != nil {
			return err
		}
		for _, finish := range []func(*section.Place) error{j.finishRatings, j.finishTest, j.finishRepeats, j.finishLink, j.finishCompare, r.finishPartition(j), r.finishWeight(j), j.finishPickedLabel, j.check, j.finishSpread, j.finishLabels, j.finishScoring, j.finishStudy} {
			if err := finish(in); err != nil {
				return err
			}
		}
		if !j.Unshared() {
			return alone
		}
		return nil
	}}
}

func (j *Job) check(in *section.Place) error {
	if check := j.Protocol.Demands().Check; check != nil {
		return check(j, in)
	}
	return nil
}

// finishSpread sets whether several parties hold labels and whether the job has differential privacy, and
// checks the simulated shares of labels.
func (j *Job) finishSpread(in *section.Place) error {
	d := j.Protocol.Demands()
	j.Data.Spread, j.Data.Private = d.Spreads, d.Privacy != privacy.Guarantee{}
	shares := j.Data.Partition.Labels
	if shares == nil {
		return nil
	}
	if j.Data.Sources != nil {
		return in.Refuse("data.partition.labels", "partition.labels divides the labels of one table, but \"sources\" gives each party its own; remove \"labels\" from partition")
	}
	if !j.Data.Spread {
		return in.Refuse("data.partition.labels", "partition.labels needs \"labels: spread\" in protocol fdskl; add this setting, or remove \"labels\" from partition")
	}
	names := make([]string, len(shares))
	for i, s := range shares {
		names[i] = s.Party
	}
	for _, name := range j.Active() {
		if !slices.Contains(names, name) {
			return in.Refuse("data.partition.labels", "partition.labels has no share for %s, although that party is active; give a share to each of %s", name, joinNames(j.Active()))
		}
	}
	if len(names) > len(j.Active()) {
		return in.Refuse("data.partition.labels", "partition.labels has shares for parties that are not active; give shares to %s only", joinNames(j.Active()))
	}
	return nil
}

// finishCompare refuses comparisons that the protocol does not support.
func (j *Job) finishCompare(in *section.Place) error {
	known := append([]Comparison{Pooled, Alone}, j.Traits().Comparisons...)
	for _, c := range j.Compare {
		switch {
		case slices.Contains(known, c):
		case c == Curve:
			return in.Refuse("compare", "\"curve\" is for protocols moments and secvm only; remove it")
		default:
			return in.Refuse("compare", "%s is for protocol fdskl only, which has random features in place of a kernel; remove it", c)
		}
	}
	return nil
}

// finishGrid stores the grid from the sections kernel and learner. Its errors name the line of one of these
// sections.
func (j *Job) finishGrid(in *section.Place, kernels []Kernel, learners []Named) error {
	j.Kernel, j.Learner = kernels[0], learners[0]
	own := j.Traits()
	chooses := own.Grid == ByItself
	cells, at := len(kernels)*len(learners), "kernel"
	if len(kernels) == 1 {
		at = "learner"
	}
	switch {
	case cells == 1:
		return nil
	case own.NoGrid != "":
		return in.Refuse(at, "the lists make a grid of %d cells, but %s; give single numbers", cells, own.NoGrid)
	case cells > MaxCells:
		return in.Refuse(at, "the grid has %d cells; at most %d are allowed", cells, MaxCells)
	case j.Data.Folds == 0 && !chooses:
		return in.Refuse(at, "the lists make a grid of %d cells, which needs folds to choose one; add \"folds: 5\" to \"data\", or give single numbers", cells)
	}
	j.Grid = Grid{Kernels: kernels, Learners: learners}
	return nil
}

// maxRepeats is the greatest number of runs of a job.
const maxRepeats = 100

// finishRepeats refuses repeated runs that would all have the same split, and a number of runs outside 2 to
// maxRepeats. Runs on devices also differ in which devices take part.
func (j *Job) finishRepeats(in *section.Place) error {
	switch t := j.Data.Test; {
	case !in.Given("repeats"):
		return nil
	case j.Repeats < 2 || j.Repeats > maxRepeats:
		return in.Refuse("repeats", "repeats is %d; write 2 to %d, or remove it for one run", j.Repeats, maxRepeats)
	case j.Data.Partition.By != Devices && (t.Every > 0 || t.Source != "" || t.None || t.Split() != ""):
		return in.Refuse("repeats", "\"repeats\" requires a test that draws the held-out rows at random; use \"test: {fraction: 0.25}\"")
	}
	return nil
}

// finishLink refuses a simulated network in a job on devices.
func (j *Job) finishLink(in *section.Place) error {
	if in.Given("link") && j.Data.Partition.By == Devices {
		return in.Refuse("link", "this version cannot simulate the network of devices; remove \"link\"")
	}
	return nil
}

// Repeat returns run i, from 0, of a repeated job. The first run is the job without repeats.
func (j *Job) Repeat(i int) *Job {
	run := *j
	run.Seed, run.Repeats = j.Seed+uint64(i), 0
	return &run
}

// finishRatings refuses settings for ratings if the protocol learns from rows.
func (j *Job) finishRatings(in *section.Place) error {
	if j.Traits().Rated {
		return nil
	}
	if j.Data.Like != 0 || j.Data.Test.By != "" {
		return in.Refuse("data", "the keys \"like\" and \"by\" are for ratings, but protocol %s has rows; remove them", j.Protocol.Name())
	}
	for _, k := range j.Kernels() {
		if slices.Contains(BooleanKernels(), k.Name) {
			return in.Refuse("kernel", "the %s kernel compares items and is for protocol fedcfk only; protocol %s has rows, so use another kernel", k.Name, j.Protocol.Name())
		}
	}
	return nil
}

// finishTest checks the fraction of held-out rows, and whether the job can hold out none. With
// ratings each person holds out ratings; each device of secvm draws whether its row is held out.
func (j *Job) finishTest(in *section.Place) error {
	if j.Data.Test.None && !j.Unshared() {
		return in.Refuse("data.test", "protocol %s does not take \"test: none\" in this version; use \"test: {fraction: 0.25}\"", j.Protocol.Name())
	}
	f := j.Data.Test.Fraction
	steps := math.Round(fractionSteps * f)
	if j.Data.Partition.By == Devices || f == 0 || f == steps/fractionSteps && steps <= mostSteps {
		return nil
	}
	return in.Refuse("data.test.fraction", "fraction is %g; write a multiple of 0.05 from 0.05 to 0.5, such as 0.25", f)
}

// kernelSection returns the section of a kernel. It is the function declare of a [sweep].
func kernelSection(k *Kernel, _ *yaml.Node) (*section.Section, error) { return k.Section(), nil }

// finishLabels checks that the data satisfy the learner's requirements. For a learner without labels it sets
// a missing label to none.
func (j *Job) finishLabels(in *section.Place) error {
	task := j.Task()
	needs := task.Labels != ""
	owned := j.Data.Sources == nil && j.undeployable() == "" // if true, the parties' catalogues can supply a missing label
	switch {
	case needs && j.Data.Label == "" && !owned:
		return in.Refuse("data.label", "\"data\" has no label; add \"label\" with the name of the column that holds %s", task.Labels)
	case needs && j.Data.Label == "":
	case needs && j.Data.Label == NoLabel:
		return in.Refuse("data.label", "learner %s needs labels; give \"label\" the name of their column", j.Learner.Name())
	case j.Data.Label == "":
		j.Data.Label = NoLabel
	}
	if j.Data.Unlabelled != "" && (j.Data.Label == NoLabel || j.Data.Spread) {
		return in.Refuse("data.label", "\"label.missing\" needs a label in each row, but learner %s uses no labels, or other parties have some of them; remove \"missing\"", j.Learner.Name())
	}
	if (j.Data.Order != nil || j.Data.Titles != nil) && !task.Classes && j.Data.Dictionary == nil {
		return in.Refuse("data.label", "learner %s does not use a list of classes; write \"label\" with only the name of the column", j.Learner.Name())
	}
	if j.Data.Folds > 0 && j.Data.Group != "" && !j.Traits().Grouped {
		return in.Refuse("data.folds", "protocol %s cannot keep groups together in folds; use \"test: {fraction: 0.25}\" without \"folds\", or protocol okra", j.Protocol.Name())
	}
	if j.Data.LeavesOneOut() && j.Data.Group != "" {
		return in.Refuse("data.folds", "\"folds: each\" leaves out one row at a time, while other rows of its group train; write a number of folds, such as \"folds: 5\", or remove \"group\"")
	}
	if j.Data.Folds > 0 && !task.Classes && !task.Numbers {
		return in.Refuse("data.folds", "folds need the metric accuracy or r2, and learner %s has neither; use \"test: {fraction: 0.25}\"", j.Learner.Name())
	}
	if j.Data.Classes != nil && (j.Data.Label == NoLabel || !task.Classes && needs) {
		return in.Refuse("data.classes", "learner %s does not use classes; remove \"classes\"", j.Learner.Name())
	}
	if j.Data.Partition.Skew > 0 && (needs && !task.Classes || j.Data.Label == NoLabel) {
		return in.Refuse("data.partition.skew", "\"skew\" needs classes, and this job has none; remove \"skew\"")
	}
	return nil
}

// Timeout holds the longest waits of a deployed job.
type Timeout struct {
	Join  time.Duration // longest wait until every party has joined a session
	Round time.Duration // longest wait for the next message of a session
	Job   time.Duration // longest time that the whole job can take; 0 for any time
}

// Section declares the keys of the longest waits.
func (t *Timeout) Section() *section.Section {
	return &section.Section{Name: "timeout", Fields: []section.Field{
		{Key: "join", Value: section.Duration{Dst: &t.Join}, Default: "1m", Doc: "The longest wait until all parties have joined a session, up to 720h."},
		{Key: "round", Value: section.Duration{Dst: &t.Round}, Default: "10m", Doc: "The longest wait for the next message of a session, up to 720h."},
		{Key: "job", Value: section.Duration{Dst: &t.Job}, Else: "any time",
			Doc: "The longest time that the whole job may take, up to 720h. At its end the coordinator ends the job, which fails and names the stage and the members that it waited for. The time counts from the job's first stage, also while the coordinator is off."},
	}}
}
