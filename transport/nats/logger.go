package nats

import (
	"errors"
	"fmt"
	"log/slog"
	"sync"
)

// logger hands the server's own log on: its notices are details, its errors
// are somebody's failed attempt, and only its last words stop it.
type logger struct {
	log *slog.Logger

	mu    sync.Mutex
	fatal error
}

func (l *logger) Noticef(format string, v ...any) { l.log.Debug(message(format, v)) }
func (l *logger) Debugf(format string, v ...any)  { l.log.Debug(message(format, v)) }
func (l *logger) Tracef(format string, v ...any)  { l.log.Debug(message(format, v)) }
func (l *logger) Warnf(format string, v ...any)   { l.log.Warn(message(format, v)) }
func (l *logger) Errorf(format string, v ...any)  { l.log.Warn(message(format, v)) }

// Fatalf keeps the reason: the server says it here and nowhere else.
func (l *logger) Fatalf(format string, v ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	text := message(format, v)
	l.log.Error(text)
	l.fatal = errors.Join(l.fatal, errors.New(text))
}

// reason returns why the server gave up, or nil.
func (l *logger) reason() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.fatal
}

func message(format string, v []any) string { return "nats-server: " + fmt.Sprintf(format, v...) }
