package job

import (
	"errors"
	"math"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/mercer-fl/mercer/dataset/prepare"
	"github.com/mercer-fl/mercer/internal/catalogue/origin"
	"github.com/mercer-fl/mercer/internal/job/section"
)

// Data names the source of a job's rows and describes how the parties share the rows.
type Data struct {
	// Source is the common source of all parties: bundled:NAME, generated:SIZE, a path, or a name in
	// the data folder. In a deployed job it is the table's name in each party's own catalogue.
	Source string
	// Sources lists a separate source for each party, in the order of the file. In a job, exactly one
	// of Source and Sources is set.
	Sources []Source
	// Label names the column of the labels. It is NoLabel for no labels, and "" for the column that
	// each party's catalogue names.
	Label string
	// Order lists all classes of the labels in order. The second of two classes is the positive
	// one. If it is nil, package dataset sorts the classes that occur.
	Order   []string
	Classes []MergedClass // merged classes; all other classes stay as they are
	Titles  Titles        // texts that explain classes to people; nil for none
	// Unlabelled is the treatment of rows without a label: drop-row leaves them out, and "" refuses
	// the table. A deployed party's catalogue decides it; the job can only repeat it.
	Unlabelled prepare.Fill
	Range      [2]float64 // range of numeric labels, from the dictionary; zero for any number
	Weight     string     // column of the rows' weights in the training; "" for none
	Weights    [2]float64 // range of the weights, from the dictionary; zero for any number
	ID         string     // column of the row ids; "" for none or, in a deployed job, for the catalogue's
	Group      string     // column of groups, whose rows are held out together; "" as with ID
	Features   int        // number of columns besides label and id; 0 for all columns of the source
	// Schema describes the columns that the job uses. Nil means that all columns are numbers
	// without gaps.
	Schema prepare.Schema
	// Dictionary is the data dictionary that the job names or contains. Without one it is nil; all columns
	// are then numbers without gaps, unless the job has its own schema. It determines Schema, Read, Order, Classes,
	// Titles, Range, Weights and the test's fraction.
	Dictionary *Dictionary
	Picked     []string       // the dictionary's columns that the job uses; nil for all
	Read       prepare.Schema // the schema with which a party reads its table; if nil, Schema
	Fit        Kept           // the earlier job of kind Fit whose values prepare the rows
	Partition  Partition
	Test       Test
	// Folds is the number of cross-validation folds of the training rows, [EachRow], or 0. With folds
	// and without a test the job holds out no other rows.
	Folds int
	Scale Scaling
	Like  float64 // least rating of a liked item; 0 if all rated items are liked
	// Spread reports whether several parties hold labels. Each of them has the labels of some rows.
	// Spread is not a key of the section; the protocol determines it.
	Spread bool
	// Private reports whether the job has differential privacy. Then refusals and public numbers must not
	// depend on the values of one row, and numbers beyond their bounds are cut. Private is not a key of
	// the section; the protocol determines it.
	Private bool
}

// NoLabel is the value of Label in a job without labels. A party that has labels does not reveal
// them.
const NoLabel = "none"

// Source is the source of one party.
type Source struct {
	Party, File string
	// Origin names a program or a query that provides the rows in place of a file.
	origin.Origin
	// Mapping describes the differences between file and schema in a process that has all files. A
	// daemon takes the mapping from its own catalogue.
	Mapping prepare.Mapping
	// ID is the rule that makes the ids of the file's rows. If it is zero, the job's ID names the
	// column of the ids.
	ID OwnID
}

// Partition describes how one source is divided among parties, or how the tables of the parties relate.
type Partition struct {
	By Direction
	// Parties lists the parties that share the rows or columns; it is nil if Sources names them. In a
	// partition by devices it lists the devices of a deployed job.
	Parties []string
	// Skew is the concentration of a Dirichlet label skew between the parties. Smaller values give
	// more uneven shares. 0 gives equal shares, with the same mix of classes if the labels are classes
	// (dataset.ByRows). In a job with groups, parties get whole groups in place of equal shares.
	Skew float64
	// Coverage is the share of the rows that each party has in a simulated partition by columns.
	// The seed determines each party's rows and their order. 0 means all rows in the source's
	// order.
	Coverage float64
	// Aligned states that the tables of a partition by columns have equal ids in equal order.
	// Training then needs no comparison of ids. Prediction queries still compare the ids of their
	// rows.
	Aligned bool
	// Alignment names the alignment of the parties' rows. The first job with the name makes the
	// alignment, and later jobs of the same parties use it. "" means that the job makes its own
	// alignment or, if Aligned, needs none.
	Alignment string
	// AlignedBy is the earlier job that made the alignment. It is zero if there is no such job, and in
	// a job file before the coordinator writes it.
	AlignedBy ID
	// Columns lists, in order, the columns that each party of a partition by columns uses. A party
	// that is not listed uses all its columns. With a schema, which names the columns itself, it is nil.
	Columns []OwnColumns
	// Labels lists the share of labels of each active party in a simulation with spread labels. The
	// seed determines which party gets each label. Nil means equal shares.
	Labels []PartyShare
	// Dropout is the share of devices that drop out of each simulated session. The seed determines
	// at which point of the session each of these devices drops out.
	Dropout float64
}

// Direction names the way a partition divides the data: by rows, by columns or by devices.
type Direction string

// Rows gives each party different rows with all columns.
const Rows Direction = "rows"

// Columns gives each party different columns of the same people. The active parties, by default the
// first, hold the labels.
const Columns Direction = "columns"

// Devices gives every person with ratings, or every row, a separate device.
const Devices Direction = "devices"

// Test selects the held-out rows. Exactly one field is set, with three exceptions: the field By
// accompanies a fraction of ratings, Column and From are set together, and with folds, or for rows to
// predict, no field need be set.
type Test struct {
	By Order // which ratings a fraction holds out
	// Fraction is the share of the rows or ratings that the job holds out. Each party's own key
	// draws the rows; in a partition by columns, a key that the parties share draws them, and each device
	// draws for its own row. Of the ratings, the newest are held out.
	Fraction float64
	// Every is n if one row in n is held out. With ratings, one in n of each user's ratings is held
	// out.
	Every   int
	Source  string         // a separate source of the held-out rows
	None    bool           // whether the job holds out no rows
	Party   string         // the party all of whose rows are held out
	Parties HeldOutParties // holds out all rows of each party in turn
	// Column is the name of a column. The field From is the least held-out value of this column, a
	// number or a date.
	Column, From string
}

// Order is the rule by which a job chooses the newest ratings to hold out.
type Order string

// The orders.
const (
	Time     Order = "time"      // the newest of all ratings
	UserTime Order = "user-time" // the newest ratings of each user
)

// Scaling names the method by which the parties scale features together, before the protocol runs.
type Scaling string

// The scalings. The server never sees the ranges of the rows. It can see the ranges of a schema.
const (
	MinMax   Scaling = "minmax"   // scales each column to [0, 1]
	Standard Scaling = "standard" // scales each column to mean 0 and variance 1
	Range    Scaling = "range"    // scales the schema's ranges to [0, 1]
	None     Scaling = "none"
)

// MaxFeatures is the greatest number of columns that a job can declare.
const MaxFeatures = 1 << 24

// MaxParties is the greatest number of parties in a job.
const MaxParties = 1024

// defaultFraction is the held-out share of the rows if the file has no test, no folds and no dictionary. It
// equals scikit-learn's default.
const defaultFraction = 0.25

// Parties returns the names of the parties in the order of the file, or nil if the file names none. A
// deployed job then leaves them to the federation's roster.
func (j *Job) Parties() []string {
	if j.Data.Sources == nil {
		return j.Data.Partition.Parties
	}
	names := make([]string, len(j.Data.Sources))
	for i, s := range j.Data.Sources {
		names[i] = s.Party
	}
	return names
}

// Labels reports whether the job uses a party's labels. In a partition by columns, it uses only the
// labels of the active parties, by default the first.
func (j *Job) Labels(party string) bool {
	return j.Data.Label != NoLabel && (j.Data.Partition.By != Columns || slices.Contains(j.Active(), party))
}

// Active lists the parties that hold labels in a partition by columns.
func (j *Job) Active() []string {
	return j.Parties()[:max(1, j.Protocol.Demands().Labelled)]
}

// Asks reports whether the data are rows for which a trained model predicts. It recognizes such
// data by the lack of both a test and folds.
func (d *Data) Asks() bool { return d.Test == Test{} && d.Folds == 0 }

// Section declares the keys of the section data.
func (d *Data) Section() *section.Section { return d.section(nil, new(error)) }

// section declares the keys of the section data. With a nil Reader, a dictionary cannot be found by
// its name. If only a process that holds all rows can use the data, reading the section stores the
// reason in *reason.
func (d *Data) section(r *Reader, reason *error) *section.Section {
	return &section.Section{Name: "data", Fields: []section.Field{
		{Key: "source", Value: section.Text{Dst: &d.Source}, Else: "none; give this or sources",
			Doc: "One table for all parties: bundled:NAME, a path, or a name in the data folder or in each party's catalogue."},
		{Key: "sources", Value: sources{&d.Sources, reason}, Else: "none", Doc: "One table for each party. Numbers are added up in this order. Protocol pooled also takes a single table."},
		{Key: "label", Value: labelOf{d}, Else: "the column that each party's catalogue names; none for a learner without labels",
			Doc: "The column of the labels, or none, or a map with the column, its classes and titles, and what is done with rows without a label."},
		{Key: "weight", Value: section.Text{Dst: &d.Weight}, Else: "none; each row counts once",
			Doc: "The column that says how often each row counts in the training. Weight 2 is the same as two equal rows; a row with weight 0 or less does not train. Metrics on held-out rows count each row once. Between parties, each party's catalogue must offer the column, and the dictionary, if there is one, must list it."},
		{Key: "classes", Value: ownClasses{mergedClasses{&d.Classes}, d}, Else: "every class stays",
			Doc: "Classes that merge several classes of the tables. Other classes stay as they are. Between parties, the dictionary merges classes."},
		{Key: "id", Value: section.Text{Dst: &d.ID}, Else: "none", Doc: "The column of the row ids."},
		{Key: "group", Value: section.Text{Dst: &d.Group}, Else: "none; a deployed party's catalogue names it",
			Doc: "The column of the groups, such as patients. Each party holds out all rows of a group together."},
		{Key: "features", Value: section.Whole{Dst: &d.Features}, Else: "as many as the source has",
			Doc: "The number of columns beside label and id, up to 16777216."},
		{Key: "dictionary", Value: dictionaryOf{d, r}, Else: "every column is a number without gaps, and all are used",
			Doc: "The name of the data dictionary that every party's operator has approved. In simulate, it can be the dictionary itself."},
		{Key: "columns", Value: section.Words{Dst: &d.Picked, Most: prepare.MaxColumns, Example: "[age, sex]"}, Else: "all columns of the dictionary",
			Doc: "The columns of the dictionary that the job uses."},
		{Key: "schema", Value: ownSchema{schemaMap{&d.Schema}, d}, Else: "none",
			Doc: "For simulate: the columns that the job uses. This is the old name of a dictionary's columns, accepted for one version."},
		{Key: "partition", Value: d.Partition.Section(), Else: "none", Doc: "The division of one table among the parties, or the relation of the parties' tables."},
		{Key: "test", Value: d.Test.Section(), Else: "{fraction: 0.25}; none beside folds", Doc: "The rows that are held out to test the model. In protocol pooled, none trains on all rows."},
		{Key: "folds", Value: foldCount{&d.Folds}, Else: "none",
			Doc: "The number of folds, 2 or more, of a cross-validation on the training rows. With each, every training row is left out by itself, and the metrics are over all these rows together: exactly and at the price of one fit or two for ridge and gp, row by row for other learners and few rows."},
		{Key: "scale", Value: section.Choice[Scaling]{Noun: "scaling", Dst: &d.Scale, Known: []Scaling{MinMax, Standard, Range, None}},
			Default: "minmax", Else: "none for devices", Doc: "How the parties scale features together before the protocol: to 0 to 1, to mean 0 and variance 1, by the schema's ranges, or not. Columns of 0 and 1, from categories and booleans, stay as they are. The coordinator does not see the ranges."},
		{Key: "fit", Value: d.Fit.Section(), Else: "none; the coordinator names the fit of the dictionary, and has one made if there is none",
			Doc: "The fit that prepares the rows. A job file need not name it."},
		{Key: "like", Value: section.Number{Dst: &d.Like}, Else: "every rating counts as liking", Doc: "The lowest rating that counts as liking an item."},
	}, Finish: func(in *section.Place) error {
		if err := d.finish(in); err != nil {
			return err
		}
		if *reason == nil {
			*reason = d.planSums(in)
		}
		return nil
	}}
}

func (d *Data) finish(in *section.Place) error {
	switch {
	case in.Given("source") && in.Given("sources"):
		return in.Refuse("sources", "data has both \"source\" and \"sources\"; keep \"source\" to divide one table, or \"sources\" to give each party its own")
	case !in.Given("source") && !in.Given("sources"):
		return in.Refuse("source", "\"data\" has no source; add \"source: bundled:digits\", or \"source\" with a file")
	case in.Given("sources") && d.Partition.By == Columns && d.Partition.Parties != nil:
		return in.Refuse("partition", "\"partition\" lists parties, but \"sources\" names them already; write \"partition: {by: columns}\"")
	case in.Given("sources") && in.Given("partition") && d.Partition.By != Columns:
		return in.Refuse("partition", "\"partition\" divides one source, but \"sources\" already gives each party its own; remove one of the two keys")
	case d.Partition.By == Columns && !in.Given("sources") && d.Partition.Parties == nil:
		return in.Refuse("partition", "\"partition\" has no parties; add \"parties: [guest, host]\", of which the first party holds the labels")
	case d.Partition.By == Columns && in.Given("sources") && d.ID == "":
		return in.Refuse("sources", "sources by columns need ids to match their rows; add \"id\" with the name of the id column")
	case in.Given("sources") && d.Test.Source != "":
		return in.Refuse("test", "\"test.source\" needs data with a single source, but \"data\" has the key \"sources\"; use \"test: {fraction: 0.25}\"")
	case d.ID != "" && d.ID == d.Label:
		return in.Refuse("id", "\"id\" and \"label\" name the same column %s; name two columns", section.Quote(d.ID))
	case in.Given("features") && slices.ContainsFunc(d.Sources, func(s Source) bool { return s.Given() }):
		return in.Refuse("features", "\"features\" is for files without column names, but a program or a query names its columns; remove \"features\"")
	case in.Given("features") && (d.Features < 1 || d.Features > MaxFeatures):
		return in.Refuse("features", "features is %d; write the number of columns, not counting label and id, from 1 to %d", d.Features, MaxFeatures)
	case in.Given("features") && (d.Partition.By == Devices || d.Partition.By == Columns && in.Given("sources")):
		return in.Refuse("features", "\"features\" does not apply to devices or to sources by columns; remove it")
	}
	if d.Partition.By == Devices {
		if in.Given("scale") && d.Scale != None {
			return in.Refuse("scale", "devices do not scale their data; remove \"scale\"")
		}
		d.Scale = None
	}
	if err := d.finishIDs(in); err != nil {
		return err
	}
	if err := d.finishDictionary(in); err != nil {
		return err
	}
	if err := d.finishClasses(in); err != nil {
		return err
	}
	if err := d.finishColumns(in); err != nil {
		return err
	}
	for _, finish := range []func(*section.Place) error{d.finishWeight, d.finishSchema, d.finishFit, d.finishHeldOut, d.finishGroup} {
		if err := finish(in); err != nil {
			return err
		}
	}
	if in.Given("folds") && d.Folds < 2 {
		return in.Refuse("folds", "folds is %d; write 2 or more, such as 5, or leave it out", d.Folds)
	}
	if d.Folds > 0 {
		d.Test.None = false // test: none with folds means the same as no test
	}
	if d.Test == (Test{}) && d.Folds == 0 {
		d.Test.Fraction = defaultFraction
	}
	return nil
}

// finishColumns refuses columns of unknown parties, and the columns of ids and labels.
func (d *Data) finishColumns(in *section.Place) error {
	parties := (&Job{Data: *d}).Parties()
	for _, c := range d.Partition.Columns {
		switch {
		case parties != nil && !slices.Contains(parties, c.Party):
			return in.Refuse("partition", "partition names columns of %q, which is not a party of the job; name one of its parties", c.Party)
		case d.ID != "" && slices.Contains(c.Names, d.ID):
			return in.Refuse("partition", "\"partition\" lists %s among the columns of %s, but this column is the id; remove it from the list", section.Quote(d.ID), c.Party)
		case d.Label != "" && slices.Contains(c.Names, d.Label):
			return in.Refuse("partition", "\"partition\" lists %s among the columns of %s, but this column is the label; remove it from the list", section.Quote(d.Label), c.Party)
		}
	}
	return nil
}

// maxAlignment is the greatest length of an alignment's name, in bytes.
const maxAlignment = 128

// Section declares the keys of a partition.
func (p *Partition) Section() *section.Section {
	return &section.Section{Name: "partition", Fields: []section.Field{
		{Key: "by", Value: section.Choice[Direction]{Noun: "partition", Dst: &p.By, Known: []Direction{Rows, Columns, Devices}},
			Default: "rows", Doc: "With rows, parties hold different rows. With columns, they hold different columns of the same people. With devices, each person or row has a device."},
		{Key: "parties", Value: partyList{&p.Parties}, Else: "the parties named in sources",
			Doc: "The names of the parties. By columns, the first party holds the labels."},
		{Key: "skew", Value: section.Number{Dst: &p.Skew}, Default: "0",
			Doc: "The concentration of a Dirichlet label skew among simulated parties. A smaller number is more uneven; 0 gives equal shares."},
		{Key: "columns", Value: ownColumns{&p.Columns}, Else: "all columns of a party", Doc: "The columns that each party uses, in this order."},
		{Key: "coverage", Value: section.Number{Dst: &p.Coverage}, Else: "all rows, in the order of the source",
			Doc: "For simulate by columns: the share of the rows that each party has, above 0 and up to 1."},
		{Key: "aligned", Value: section.Yes{Dst: &p.Aligned}, Default: "false",
			Doc: "By columns: true if the tables already have the same ids in the same order, so that training needs no comparison of ids."},
		{Key: "alignment", Value: section.Text{Dst: &p.Alignment}, Else: "an alignment of the job's own",
			Doc: "By columns: a name for the alignment of rows. The first job with the name compares ids and keeps the result. Later jobs of the same parties use it."},
		{Key: "aligned_by", Value: OneID{&p.AlignedBy}, Else: "the coordinator writes it",
			Doc: "The earlier job that made the alignment."},
		{Key: "labels", Value: PartyShares{&p.Labels, "{guest: 0.6, host: 0.4}"}, Else: "equal shares where labels are spread",
			Doc: "For simulate with labels: spread: the share of the labels that each active party has. Shares add up to 1."},
		{Key: "dropout", Value: section.Number{Dst: &p.Dropout}, Default: "0",
			Doc: "For simulate: the share of the devices, below 1, that vanish in each session."},
	}, Finish: p.finish}
}

func (p *Partition) finish(in *section.Place) error {
	switch {
	case p.By == Devices && in.Given("skew"):
		return in.Refuse("skew", "\"skew\" does not apply to devices, which have their own data; remove it")
	case p.By == Devices && (p.Dropout < 0 || p.Dropout >= 1):
		return in.Refuse("dropout", "dropout is %g; write a share of the devices from 0 to below 1, such as 0.1", p.Dropout)
	case p.By != Devices && in.Given("dropout"):
		return in.Refuse("dropout", "\"dropout\" is for \"partition: {by: devices}\" only; remove it")
	case p.By == Rows && !in.Given("parties"):
		return in.Refuse("parties", "\"partition\" has no parties; add \"parties: [north, south]\"")
	}
	switch {
	case p.By != Columns && in.Given("columns"):
		return in.Refuse("columns", "\"columns\" is for \"partition: {by: columns}\" only; add \"by: columns\", or remove \"columns\"")
	case p.By != Columns && in.Given("coverage"):
		return in.Refuse("coverage", "the key \"coverage\" is for \"partition: {by: columns}\" only; remove it")
	case in.Given("coverage") && (p.Coverage <= 0 || p.Coverage > 1):
		return in.Refuse("coverage", "coverage is %g; write a share of the rows above 0 and up to 1, such as 0.9", p.Coverage)
	case p.By != Columns && in.Given("aligned"):
		return in.Refuse("aligned", "\"aligned\" is for \"partition: {by: columns}\" only; remove it")
	case p.Aligned && in.Given("coverage"):
		return in.Refuse("coverage", "the key \"coverage\" gives parties different rows, but \"aligned: true\" means equal rows; remove one of the two")
	case p.By != Columns && in.Given("alignment"):
		return in.Refuse("alignment", "\"alignment\" is for \"partition: {by: columns}\" only; remove it")
	case p.Aligned && in.Given("alignment"):
		return in.Refuse("alignment", "the key \"alignment\" needs a comparison of ids, but \"aligned: true\" omits this comparison; remove one of the two")
	case in.Given("alignment") && (p.Alignment == "" || len(p.Alignment) > maxAlignment):
		return in.Refuse("alignment", "alignment has %d bytes; write a name of up to %d bytes", len(p.Alignment), maxAlignment)
	case in.Given("aligned_by") && !in.Given("alignment"):
		return in.Refuse("aligned_by", "aligned_by needs the name of the alignment; add \"alignment\" with its name, or remove aligned_by")
	case p.By == Columns && in.Given("skew"):
		return in.Refuse("skew", "\"skew\" is for \"partition: {by: rows}\" only; remove it")
	}
	if err := p.finishLabels(in); err != nil {
		return err
	}
	if p.Skew < 0 {
		return in.Refuse("skew", "skew is %g; write 0 for equal shares or a number above 0", p.Skew)
	}
	return nil
}

// finishLabels refuses shares that do not add up to 1.
func (p *Partition) finishLabels(in *section.Place) error {
	sum := 0.0
	for _, s := range p.Labels {
		sum += s.Share
	}
	if in.Given("labels") && math.Abs(sum-1) > 1e-9 {
		return in.Refuse("labels", "the shares of labels add up to %g; change them to add up to 1", sum)
	}
	return nil
}

// finishIDs refuses a source whose rule for ids is about other columns than the job's id.
func (d *Data) finishIDs(in *section.Place) error {
	for _, s := range d.Sources {
		if d.ID != "" && !s.ID.IsZero() && !s.ID.Names(d.ID, s.Mapping.Columns) {
			return in.Refuse("sources", "the source of %s makes ids of %s, but the job's id is %s; write the same column at both places, or call the column so by \"columns: {%s: {as: %s}}\"",
				s.Party, section.Quote(s.ID.Name()), section.Quote(d.ID), s.ID.Name(), d.ID)
		}
	}
	return nil
}

// Section declares the keys of a test.
func (t *Test) Section() *section.Section {
	return &section.Section{Name: "test", Fields: []section.Field{
		{Key: "by", Value: section.Choice[Order]{Noun: "order", Dst: &t.By, Known: []Order{Time, UserTime}}, Else: "none",
			Doc: "Holds out the newest ratings: of all users together (time), or of each user (user-time)."},
		{Key: "fraction", Value: section.Number{Dst: &t.Fraction}, Else: "none",
			Doc: "The share to hold out: a multiple of 0.05 up to 0.5 for rows, any number below 1 for devices. Between parties it must be the dictionary's, or 0.25 without one."},
		{Key: "every", Value: section.Whole{Dst: &t.Every}, Else: "none", Doc: "Holds out one row in every n rows, with n of 2 or more. With ratings, it counts each user's ratings."},
		{Key: "source", Value: section.Text{Dst: &t.Source}, Else: "none", Doc: "A table with the test rows."},
		{Key: "party", Value: section.Text{Dst: &t.Party}, Else: "none", Doc: "The party whose rows are all held out. All others train."},
		{Key: "parties", Value: section.Choice[HeldOutParties]{Noun: "choice", Dst: &t.Parties, Known: []HeldOutParties{Each}}, Else: "none",
			Doc: "For simulate: leaves one site out, holding out all rows of each party in turn. The result has the figures of each party, their mean and deviation."},
		{Key: "column", Value: section.Text{Dst: &t.Column}, Else: "none", Doc: "The column that selects the held-out rows, together with from. It need not be a feature."},
		{Key: "from", Value: section.Text{Dst: &t.From}, Else: "none", Doc: "Holds out rows whose column has this value or a later one: a day such as 2024-01-01, or a number."},
	}, Instead: &section.Instead{Word: "none", Given: &t.None}, Finish: t.finish}
}

func (t *Test) finish(in *section.Place) error {
	switch kinds := len(in.Lines); {
	case in.Given("by") && (kinds != 2 || !in.Given("fraction")):
		return in.Refuse("by", "the key \"by\" needs a fraction of ratings and allows no other key; write \"test: {by: user-time, fraction: 0.1}\"")
	case in.Given("column") || in.Given("from"):
		return t.finishCut(in)
	case !in.Given("by") && kinds != 1:
		return in.Refuse("", "\"test\" has %d keys; give one of \"fraction\", \"every\", \"source\", \"party\", \"parties\", or \"column\" together with \"from\"", kinds)
	}
	if in.Given("fraction") && (t.Fraction <= 0 || t.Fraction >= 1) {
		return in.Refuse("fraction", "fraction is %g; write a number between 0 and 1, such as 0.25", t.Fraction)
	}
	if in.Given("every") && t.Every < 2 {
		return in.Refuse("every", "the key \"every\" is %d; write 2 or more, such as 10 to hold out one row in ten", t.Every)
	}
	return nil
}

// Held-out fractions of rows are multiples of 1/20, from 1/20 to 10/20. Very small fractions, and
// two fractions that differ by few rows, would single people out.
const (
	fractionSteps = 20
	mostSteps     = 10
)

// LeavesRows returns an error if the test is for simulate only: a source of test rows, every n-th row, or
// each party in turn. Devices can hold out every n-th of their ratings.
func (d *Data) LeavesRows() error {
	switch {
	case d.Partition.By == Devices:
		return nil
	case d.Test.Source != "":
		return errors.New("\"test.source\" is for mercer simulate, which divides this table among the parties; use \"test: {fraction: 0.25}\"")
	case d.Test.Every > 0:
		return errors.New("\"test: {every: ...}\" is for mercer simulate, because each party chooses its own held-out rows; use \"test: {fraction: 0.25}\"")
	case d.Test.Parties != "":
		return errors.New("\"test: {parties: each}\" is for mercer simulate; submit one job for each party, with \"test: {party: NAME}\"")
	}
	return nil
}

// sources reads and writes the map from party to source. It keeps the order of the file, because
// sums run in that order.
type sources struct {
	dst   *[]Source
	alone *error // refusal of a single table, for protocols between parties
}

func (v sources) Decode(key string, n *yaml.Node) error {
	if n.Kind != yaml.MappingNode {
		return section.At(n, "%s is %s; write a map such as {north: a.csv, south: b.csv}", key, section.Describe(n))
	}
	var parties partyNames
	for i := 0; i+1 < len(n.Content); i += 2 {
		if err := parties.add(n.Content[i]); err != nil {
			return err
		}
		s := Source{Party: n.Content[i].Value}
		if err := s.decode("the source of "+s.Party, n.Content[i+1]); err != nil {
			return err
		}
		*v.dst = append(*v.dst, s)
	}
	var err error
	*v.alone, err = parties.enoughTables(n)
	return err
}

func (v sources) Encode() *yaml.Node {
	if *v.dst == nil {
		return nil
	}
	m := section.Map()
	for _, s := range *v.dst {
		m.Content = append(m.Content, section.Word(s.Party), s.encode())
	}
	return m
}

func (v sources) Form() string {
	return "a map such as {north: a.csv, south: b.csv}; in place of a file a map of path, command or sql, and what a catalogue says of it"
}
