package nats

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"
)

// logger hands the server's own log on: its notices are details, its errors
// are somebody's failed attempt, and only its last words stop it.
type logger struct {
	log     *slog.Logger
	secure  bool    // the server has TLS
	callers *budget // of lines about callers that could not begin

	mu    sync.Mutex
	fatal error
}

func (l *logger) Noticef(format string, v ...any) { l.log.Debug(message(format, v)) }
func (l *logger) Tracef(format string, v ...any)  { l.log.Debug(message(format, v)) }

// Warnf leaves out one warning, of clients that do not begin with TLS: members do.
func (l *logger) Warnf(format string, v ...any) {
	if !strings.Contains(format, "TLS Handshake First") {
		l.log.Warn(message(format, v))
	}
}

// Debugf hears of the callers who speak no TLS. All else there is for the makers of the server.
func (l *logger) Debugf(format string, v ...any) {
	if strings.Contains(format, handshakeError) {
		l.turnedAway(fmt.Sprintf(format, v...))
	}
}

func (l *logger) Errorf(format string, v ...any) {
	text := fmt.Sprintf(format, v...)
	if strings.Contains(text, handshakeError) || !l.secure && strings.HasSuffix(text, noLogin) {
		l.turnedAway(text)
		return
	}
	l.log.Warn(message("%s", []any{text}))
}

// What the server writes of callers who do not speak as it does.
const (
	handshakeError = "TLS handshake error: "
	noLogin        = " - authentication error" // to anything before a login, such as the beginning of TLS
)

// turnedAway says of a caller who could not even begin why that is.
func (l *logger) turnedAway(text string) {
	if ok, unsaid := l.callers.allow(time.Now()); ok {
		from, _, _ := strings.Cut(text, " - ")
		l.log.Warn("turned a caller away: "+whyTurnedAway(text), "address", from, "unsaid_before", unsaid)
	}
}

func whyTurnedAway(text string) string {
	_, reason, _ := strings.Cut(text, handshakeError)
	switch {
	case strings.HasSuffix(text, noLogin):
		return "it does not log in; if it is a member, it may expect TLS, and this server's roster has no TLS key: have all members join one roster"
	case strings.Contains(reason, "bad certificate"):
		return "it knows another TLS key for this server; if it is a member, have it join the present roster"
	case strings.Contains(reason, "timeout"), strings.Contains(reason, "closed network"), strings.Contains(reason, "first record"), reason == "EOF":
		return "it speaks no TLS; if it is a member, have it join the present roster, which has this server's TLS key"
	}
	return "no TLS with it: " + reason
}

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
