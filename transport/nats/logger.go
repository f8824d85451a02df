package nats

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/mercer-fl/mercer/internal/base/fault"
)

// logger writes the log of the NATS server to a slog.Logger. The server's notices become debug
// lines. The server's errors become warnings, because most report failed attempts of other
// programs; only a fatal error stops the server. Other programs determine the number and the words
// of most lines, so each kind of line has a budget.
type logger struct {
	log    *slog.Logger
	secure bool  // whether the server has TLS
	gate   *gate // knows the addresses of callers by WebSocket; nil if there are none

	mu      sync.Mutex
	budgets map[string]*budget // budget of log lines for each kind
	fatal   error
}

// These constants, and the server's words in connectionKinds, are kinds of lines. Each kind has its own
// budget, so that strangers hide neither what members do nor what the server does.
const (
	ofCallers = "caller"
	ofGate    = "gate"
	ofServer  = "server"
	ofOthers  = "other"
)

// aboutConnection matches the server's lines about connections, by WebSocket or not.
var aboutConnection = regexp.MustCompile(` - [cw]id:`)

var connectionKinds = []string{"authentication error", "Violation", "Slow Consumer", "arser", "aximum"}

// allow reports whether the budget allows one more line of a kind. It also returns the number of lines
// suppressed before this line.
func (l *logger) allow(kind string) (ok bool, unsaid int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.budgets == nil {
		l.budgets = make(map[string]*budget)
	}
	b := l.budgets[kind]
	if b == nil {
		b = &budget{most: 10, every: 10 * time.Second}
		if kind == ofServer {
			b.most = 100
		}
		l.budgets[kind] = b
	}
	return b.allow(time.Now())
}

func kindOf(text string) string {
	if !aboutConnection.MatchString(text) {
		return ofServer
	}
	for _, kind := range connectionKinds {
		if strings.Contains(text, kind) {
			return kind
		}
	}
	return ofOthers
}

func (l *logger) Noticef(format string, v ...any) { l.log.Debug(message(format, v)) }
func (l *logger) Tracef(format string, v ...any)  { l.log.Debug(message(format, v)) }

// Warnf logs warnings, except one about clients that do not start with TLS. Members always
// start with TLS.
func (l *logger) Warnf(format string, v ...any) {
	if !strings.Contains(format, "TLS Handshake First") {
		l.warn(fmt.Sprintf(format, v...))
	}
}

// Debugf logs lines about clients without TLS, or with a request for WebSocket that is not valid. It
// ignores all other lines, which are for developers of the server.
func (l *logger) Debugf(format string, v ...any) {
	if isTurnedAway(format) {
		l.turnedAway(fmt.Sprintf(format, v...))
	}
}

func (l *logger) Errorf(format string, v ...any) {
	text := fmt.Sprintf(format, v...)
	if isTurnedAway(text) || !l.secure && strings.HasSuffix(text, noLogin) {
		l.turnedAway(text)
		return
	}
	l.warn(text)
}

// warn writes a line to the log, unless the budget for lines of this kind is used up.
func (l *logger) warn(text string) {
	kind := kindOf(text)
	ok, unsaid := l.allow(kind)
	if !ok {
		return
	}
	text = l.gate.named(text)
	if kind != ofServer {
		text = shortened(text)
	}
	l.log.Warn("nats-server: "+fault.Printable(text), "unsaid_before", unsaid)
}

// A long log line about a connection keeps only these numbers of bytes, at its start and end.
// Address, account and complaint are at the start, and text of the peer follows them.
const (
	lineHead = 220
	lineTail = 60
)

func shortened(text string) string {
	if len(text) <= lineHead+lineTail {
		return text
	}
	return text[:lineHead] + " ... " + text[len(text)-lineTail:]
}

// The server writes these texts about clients that do not use the expected protocol.
const (
	handshakeError = "TLS handshake error"            // the client's address, if any, and the reason follow
	upgradeError   = " - websocket handshake error: " // the reason follows
	webSocketError = "websocket: " + handshakeError   // start of a log line of the port for WebSocket
	noLogin        = " - authentication error"        // end of a log line about a client that begins without a login
)

func isTurnedAway(text string) bool {
	return strings.Contains(text, handshakeError) || strings.Contains(text, upgradeError)
}

// turnedAway logs why the server refused a client before its login.
func (l *logger) turnedAway(text string) {
	ok, unsaid := l.allow(ofCallers)
	if !ok {
		return
	}
	from, _, _ := strings.Cut(text, " - ")
	if rest, web := strings.CutPrefix(text, webSocketError+" from "); web {
		from, text, _ = strings.Cut(rest, ": ")
		text = handshakeError + ": " + text
	}
	l.log.Warn("turned a caller away: "+whyTurnedAway(text), "address", fault.Printable(l.gate.named(from)), "unsaid_before", unsaid)
}

// tooMany logs that the gate refuses a caller because it has as many connections as it accepts.
func (l *logger) tooMany(caller net.Addr) {
	if ok, unsaid := l.allow(ofGate); ok {
		l.log.Warn("turned a caller away: the port for WebSocket has reached its limit of connections", "address", caller.String(), "unsaid_before", unsaid)
	}
}

func whyTurnedAway(text string) string {
	_, upgrade, asked := strings.Cut(text, upgradeError)
	_, reason, _ := strings.Cut(text, handshakeError+": ")
	reason = strings.TrimSpace(reason)
	switch {
	case asked:
		return "its request for WebSocket is not valid: " + fault.Printable(upgrade)
	case strings.HasSuffix(text, noLogin):
		return "it does not log in; if it is a member, it may expect TLS, and this server's roster has no TLS key: have all members join one roster"
	case strings.Contains(reason, "bad certificate"):
		return "it knows another TLS key for this server; if it is a member, have it join the present roster"
	case strings.Contains(reason, "timeout"), strings.Contains(reason, "closed network"), strings.Contains(reason, "first record"), reason == "EOF":
		return "it speaks no TLS; if it is a member, have it join the present roster, which has this server's TLS key"
	}
	return "no TLS with it: " + fault.Printable(reason)
}

// Fatalf stores the reason for which the server stops. The server reports it only here.
func (l *logger) Fatalf(format string, v ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	text := message(format, v)
	l.log.Error(text)
	l.fatal = errors.Join(l.fatal, errors.New(text))
}

// reason returns the fatal error that stopped the server, or nil.
func (l *logger) reason() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.fatal
}

func message(format string, v []any) string { return "nats-server: " + fmt.Sprintf(format, v...) }
