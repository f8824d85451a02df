package journal

import (
	"errors"
	"fmt"
	"io/fs"
)

// Errors that say what to do with a session.
var (
	// ErrLost is wrapped by every error after which a session must not go on.
	ErrLost = errors.New("the session must be aborted: destroy it and submit the job again")
	// ErrUsed is wrapped when a session is created a second time.
	ErrUsed = errors.New("this session has been begun before and never runs again; submit the job again")
	// ErrEnded is wrapped when a session that has ended is opened.
	ErrEnded = errors.New("this session has ended")
	// ErrUnknown is wrapped when a session is opened that nobody has created.
	ErrUnknown = errors.New("there is no such session")
	// ErrBuild is wrapped when a session was begun by another build or on
	// another kind of machine, where a replay might give other bytes.
	ErrBuild = errors.New("resume it with the same program on the same kind of machine, or abort it")
)

// CorruptError names the damaged place in a session's files. It wraps [ErrLost].
type CorruptError struct {
	File   string
	Offset int64 // in bytes
	Err    error
}

func (e *CorruptError) Error() string {
	return fmt.Sprintf("journal: %s is damaged at byte %d: %v; %v", e.File, e.Offset, e.Err, ErrLost)
}

func (e *CorruptError) Unwrap() []error { return []error{e.Err, ErrLost} }

// damage describes the fault in bytes that could be read. Every other error
// in reading, such as too many open files, is no reason to give
// a session up.
type damage string

func (d damage) Error() string { return string(d) }

func damaged(err error) bool {
	var d damage
	return errors.As(err, &d) || errors.Is(err, fs.ErrNotExist)
}

// fault places an error in a file.
func fault(file string, offset int64, err error) error {
	if damaged(err) {
		return &CorruptError{file, offset, err}
	}
	return fmt.Errorf("journal: reading %s at byte %d: %w", file, offset, err)
}
