package cli

import (
	"errors"
	"slices"
	"strings"
)

// jobFileWords replaces, in messages, the catalogue by the job file. The readers of tables name the catalogue of a
// deployed party, but whoever simulates a job has the same keys in the job file.
type jobFileWords struct{ *strings.Replacer }

// wordsOf returns the words for a job file. common says that the job has one source for all parties, which must be
// replaced by sources before the keys can be written. more holds other pairs of a text and its replacement.
func wordsOf(path string, common bool, more ...string) jobFileWords {
	place := "under sources in " + path
	if common {
		place += " (in place of source)"
	}
	return jobFileWords{strings.NewReplacer(append(more,
		"in the catalogue (in simulate, in the job)", "under data in "+path,
		"in the catalogue", place,
		"in each catalogue", "at each source in "+path,
		"the parties' catalogues make", "the sources make",
		"its catalogue gives", "its source gives",
		"the catalogue", path,
	)...)}
}

// words returns the words for this job file.
func (f *jobFile) words() jobFileWords {
	if f.job.Data.Dictionary != nil {
		return wordsOf(f.path, f.job.Data.Sources == nil, "the schema", "the dictionary")
	}
	return wordsOf(f.path, f.job.Data.Sources == nil)
}

// reworded is an error with another text.
type reworded struct {
	error
	text string
}

func (e reworded) Error() string { return e.text }

func (e reworded) Unwrap() error { return e.error }

// inError rewrites an error and its hint.
func (w jobFileWords) inError(err error) error {
	var known *Error
	if errors.As(err, &known) {
		e := *known
		e.Err, e.Hint = w.inError(e.Err), w.Replace(e.Hint)
		return &e
	}
	if text := w.Replace(err.Error()); text != err.Error() {
		return reworded{err, text}
	}
	return err
}

// reword rewrites all notices.
func (n *notices) reword(w jobFileWords) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, list := range [][]string{n.list.warnings, n.list.ofParties} {
		for i, line := range list {
			list[i] = w.Replace(line)
		}
	}
	slices.Sort(n.list.ofParties) // ofParty searches it
}
