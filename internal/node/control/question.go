package control

import (
	"crypto/sha256"

	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/internal/job"
)

// StagePredict is the stage of a session in which the coordinator predicts new rows for one party
// after a job's end.
const StagePredict = 0xffff

// Place returns the index of the plan's step that belongs to a stage. A plan with StagePredict has
// only this step, so the index is 0.
func Place(stage uint16) int {
	if stage == StagePredict {
		return 0
	}
	return int(stage)
}

// Question is a party's query for predictions of new rows by the model of a finished job.
type Question struct {
	Job  job.ID
	Rows uint32
	Tag  [16]byte // random identifier of the query, by which the coordinator recognises a repetition
	// Source names the table in which other parties have further columns of the rows. "" is the
	// table of the job. A party sends "" if no other party holds columns of the rows.
	Source string
}

// Encode returns the canonical encoding of the question.
func (q *Question) Encode() []byte {
	var w wire.Writer
	q.write(&w)
	return w.Bytes()
}

func (q *Question) write(w *wire.Writer) {
	w.Fixed(q.Job[:])
	w.Uint32(q.Rows)
	w.Fixed(q.Tag[:])
	w.String(clip(q.Source))
}

// DecodeQuestion decodes a question that Encode has encoded.
func DecodeQuestion(b []byte) (*Question, error) {
	r := wire.NewReader(b)
	q := readQuestion(r)
	return &q, r.Close("control: question")
}

func readQuestion(r *wire.Reader) Question {
	var q Question
	r.Fixed(q.Job[:])
	q.Rows = r.Uint32()
	r.Fixed(q.Tag[:])
	q.Source = readText(r)
	return q
}

// Forget tells a party to erase its artifacts of a job.
type Forget struct{ Job job.ID }

// Encode returns the canonical encoding of the request.
func (f *Forget) Encode() []byte { return f.Job[:] }

// DecodeForget decodes a request that Encode has encoded.
func DecodeForget(b []byte) (*Forget, error) {
	r := wire.NewReader(b)
	f := &Forget{}
	r.Fixed(f.Job[:])
	return f, r.Close("control: forget")
}

// Forgotten confirms that a party has erased all artifacts of a job.
type Forgotten struct {
	Job  job.ID
	Gone []string // items that the party has now erased; empty if there were none
}

// maxItems bounds the number of items in a party's list.
const maxItems = 16

// Encode returns the canonical encoding of the confirmation.
func (f *Forgotten) Encode() []byte {
	var w wire.Writer
	w.Fixed(f.Job[:])
	w.Uint32(uint32(len(f.Gone)))
	for _, item := range f.Gone {
		w.String(clip(item))
	}
	return w.Bytes()
}

// DecodeForgotten decodes a confirmation that Encode has encoded.
func DecodeForgotten(b []byte) (*Forgotten, error) {
	r := wire.NewReader(b)
	f := &Forgotten{}
	r.Fixed(f.Job[:])
	for range r.Count(maxItems, 2) {
		f.Gone = append(f.Gone, readText(r))
	}
	return f, r.Close("control: forgotten")
}

// Inquiry is a prediction query about rows whose columns several parties hold. All these parties
// receive it. Its sessions are conducted like a job's sessions.
type Inquiry struct {
	Question
	Asker string
}

// ID returns the id that members use for the inquiry in their lists of jobs. A question has one
// inquiry, which runs only once.
func (q *Inquiry) ID() job.ID {
	var w wire.Writer
	w.String("mercer/v1/inquiry")
	q.write(&w)
	sum := sha256.Sum256(w.Bytes())
	return job.ID(sum[:16])
}

func (q *Inquiry) write(w *wire.Writer) {
	q.Question.write(w)
	w.String(q.Asker)
}
