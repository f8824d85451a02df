package fault

import (
	"fmt"
	"math"
)

// Trouble names why a member could not go on, in a closed list: members tell each other one of
// these, and never the text of an error of code that has seen a row. Each has one sentence. What
// it leaves out stands in the log of the member that has the trouble.
type Trouble uint8

// The troubles. Their numbers stand in messages and journals: new ones come last.
const (
	NoTrouble  Trouble = iota
	Unsaid             // anything that has no trouble of its own
	Refused            // an operator's policy, without words for others
	Data               // something else about a table
	Magnitude          // a number is too large
	NotFinite          // NaN or infinity
	Gap                // an empty cell
	Inexact            // a fraction where whole numbers were declared
	TooFewRows         // below the floors of a policy
	Labels             // labels or classes
	Columns            // scaling or preparing columns
	Schema             // preparing a table by the job's schema
	Names              // names of columns or classes
	Offer              // labels, ids or columns that a catalogue does not offer
	Changed            // rows differ from those a session began with
	Diverged           // a replay differs from the journal
	Disk               // a journal cannot be written
	Ledger             // a ledger cannot be read or written
	Kept               // what an earlier job left cannot be read
	Lost               // a journal is lost
	Restarted          // a restart has ended a session
	Dropped            // an operator, or a limit of time, has ended the job
	Late               // somebody did not answer in time, without a name
	Broken             // somebody broke the protocol, without a name
	numTroubles
)

// about holds an entry of the table of troubles.
type about struct {
	code     Code
	sentence string
}

func (t Trouble) about() about {
	return [numTroubles]about{
		NoTrouble:  {CodeFailed, ""},
		Unsaid:     {CodeFailed, "it cannot go on; its own log says why"},
		Refused:    {CodePolicy, "its operator's policy does not allow this; its own log says why"},
		Data:       {CodeBadInput, "its data cannot be used for this job; its own log says why"},
		Magnitude:  {CodeBadInput, "its table holds a number that is too large for this job; its own log says where"},
		NotFinite:  {CodeBadInput, "its table holds something that is no finite number; its own log says where"},
		Gap:        {CodeBadInput, "its table has an empty cell; its own log says where"},
		Inexact:    {CodeBadInput, "its table holds a fraction in a column of whole numbers; its own log says where"},
		TooFewRows: {CodePolicy, "its table is below the floors of its operator's policy; its own log says which"},
		Labels:     {CodeBadInput, "its labels do not suit the job; its own log says why"},
		Columns:    {CodeBadInput, "its columns cannot be prepared or scaled; its own log says why"},
		Schema:     {CodeBadInput, "its table cannot be prepared as the job's schema says; its own log says why"},
		Names:      {CodeBadInput, "its columns or classes cannot be agreed on by their names; its own log says why"},
		Offer:      {CodePolicy, "the job names labels, ids or columns that its catalogue does not offer to jobs; its own log says which"},
		Changed:    {CodeBadInput, "its data has changed since this session began; the session is aborted, submit the job again"},
		Diverged:   {CodeFailed, "its replay of the session differs from its journal; the session is aborted, submit the job again"},
		Disk:       {CodeFailed, "it cannot write its journal; its own log says why"},
		Ledger:     {CodeFailed, "it cannot use its ledger; its own log says why"},
		Kept:       {CodeFailed, "it cannot read what it keeps of the earlier job; its own log says why"},
		Lost:       {CodeFailed, "the party lost its journal of the session; submit the job again"},
		Restarted:  {CodeFailed, "the party was restarted and cannot run the session on; try again"},
		Dropped:    {CodeFailed, "the party's operator, or its limit of time, has ended the job there"},
		Late:       {CodeTimedOut, "another member did not answer in time; its own log says which"},
		Broken:     {CodeMisbehaved, "another member broke the protocol; its own log says how"},
	}[t]
}

// Known reports whether t is one of the troubles above.
func (t Trouble) Known() bool { return t < numTroubles }

// Sentence returns what every member may be told; "" of no trouble.
func (t Trouble) Sentence() string { return t.about().sentence }

// Of marks an error as this trouble.
func (t Trouble) Of(err error) error {
	if err == nil {
		return nil
	}
	return &Error{Code: t.about().code, Err: err, Trouble: t}
}

// Errorf words an error of this trouble for the member's own log, as [fmt.Errorf] does.
func (t Trouble) Errorf(format string, args ...any) error { return t.Of(fmt.Errorf(format, args...)) }

// OfNumber returns the trouble with a number that no protocol takes.
func OfNumber(x float64) Trouble {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return NotFinite
	}
	return Magnitude
}
