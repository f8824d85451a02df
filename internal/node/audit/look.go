package audit

import "slices"

// Found says what a record holds, for a member that was restored from a backup.
type Found struct {
	Has      bool     // whether a line has the hash that was looked for
	Accepted bool     // whether the member has consented to any session
	Open     []string // jobs with a session that the member accepted and whose end is in no line, in order
}

// Look looks for the line of a hash in a record, and for sessions without an end. It checks the chain like
// [Verify].
func Look(path, hash string) (f Found, err error) {
	type session struct{ job, id string }
	var open []session
	_, err = Verify(path, func(e Event, own string) error {
		f.Has = f.Has || own == hash
		switch e.Kind {
		case Accepted:
			f.Accepted = true
			open = append(open, session{e.Job, e.Session})
		case Ended:
			open = slices.DeleteFunc(open, func(s session) bool { return s.id == e.Session })
		case Closed:
			open = slices.DeleteFunc(open, func(s session) bool { return s.job == e.Job })
		}
		return nil
	})
	for _, s := range open {
		if !slices.Contains(f.Open, s.job) {
			f.Open = append(f.Open, s.job)
		}
	}
	return f, err
}
