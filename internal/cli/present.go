package cli

import (
	"cmp"
	"io"

	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
)

// presented finds what a result says of its own method, nil for nothing. Who has read
// the result back has no job, and asks all methods: what one cannot read may be another's.
func presented(reader *job.Reader, j *job.Job, r *method.Result) (*method.Presentation, error) {
	if r.Details == nil {
		return nil, nil
	}
	var unread error
	for _, k := range reader.Protocols {
		p, presents := k.(method.Presenter)
		if !presents || j != nil && j.Protocol.Name() != k.Name() {
			continue
		}
		shown, err := p.Present(j, r)
		if shown != nil {
			return shown, nil
		}
		unread = cmp.Or(unread, err)
	}
	return nil, unread
}

// blocks prints lines, which the method has broken, and tables.
func (p *printer) blocks(w io.Writer, list []method.Block) {
	p.linef("")
	for _, b := range list {
		if b.Header == nil {
			p.linef("%s", b.Line)
			continue
		}
		t := &tableOf{header: b.Header}
		for _, row := range b.Rows {
			cells := make([]any, len(row))
			for i, cell := range row {
				cells[i] = cell
			}
			t.add(cells...)
		}
		p.join(t.print(w))
	}
}
