// Package admin passes an operator's commands to a daemon on the same machine, over HTTP on a Unix
// socket in the daemon's home folder, which only its owner can open. A second socket can be in a folder of its
// own, for the members of a Unix group. The kernel tells the daemon which user asks, and each request needs
// a role of that user: [leastRole].
//
//	both         GET    /overview            what the daemon knows of its federation
//	             GET    /events              the daemon's events, one JSON object on each line
//	             GET    /jobs                list of jobs; at a party those with state here
//	             POST   /reload              read the home's files again, as at SIGHUP
//	             POST   /page                address at which this user opens the web page
//	coordinator  POST   /jobs                job file -> job
//	             GET    /jobs/ID             job
//	             GET    /jobs/ID/wait        job, once it has ended
//	             POST   /jobs/ID/abort       end the job
//	             GET    /jobs/ID/outcome     decisions on held-out rows
//	             GET    /jobs/ID/model       model file, unless it is private
//	             DELETE /jobs/ID/keepsake    erase the job's artifacts at all members
//	             DELETE /jobs/ID             the same, and remove the job
//	             POST   /epoch               erase every job that a later one could continue
//	party        POST   /jobs/ID/prediction  rows -> prediction
//	             GET    /jobs/ID/preparation the preparation that the job retained here
//	             DELETE /jobs/ID/keepsake    erase the job's artifacts here
//	             DELETE /jobs/ID/sessions    destroy the job's open sessions
//	             POST   /jobs/ID/approve     let a job begin that awaits approval
//	             POST   /jobs/ID/reject      refuse a job that awaits approval
//	             POST   /check               job file -> whether the party would accept it
//
// /events?job=ID is about one job. With &follow=1 the answer goes on: it has a line for each further event,
// and a heartbeat when there is none for 15 seconds. A reader that is too slow gets a last line "dropped".
package admin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/mercer-fl/mercer/internal/base/fault"
)

// maxSocketPath is the longest path of a socket, in bytes, that all supported systems allow.
const maxSocketPath = 103

// Fits returns an error if path is too long for a Unix socket.
func Fits(path string) error {
	if len(path) > maxSocketPath {
		return fmt.Errorf("admin: the path %s is longer than the %d bytes that a Unix socket allows; use a home with a shorter path", path, maxSocketPath)
	}
	return nil
}

// Listen opens a socket for the user of this process alone. It replaces the socket of a process that was killed. The
// caller must hold the home's lock, so that the old socket cannot belong to a living process.
func Listen(path string) (net.Listener, error) {
	return listen(path, func() error { return os.Chmod(path, 0o600) })
}

// ListenFor is like Listen, and lets the members of a Unix group connect, too.
func ListenFor(path string, gid int) (net.Listener, error) {
	return listen(path, func() error { return errors.Join(os.Chown(path, -1, gid), os.Chmod(path, 0o660)) })
}

// listen opens a socket whose mode the function protect sets.
func listen(path string, protect func() error) (net.Listener, error) {
	if err := Fits(path); err != nil {
		return nil, err
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("admin: %w", err)
	}
	l, err := net.Listen("unix", path)
	if err != nil {
		return nil, fmt.Errorf("admin: %w", err)
	}
	if err := protect(); err != nil {
		return nil, errors.Join(fmt.Errorf("admin: %w", err), l.Close())
	}
	return l, nil
}

// idleTime is the time after which a connection without a request is closed.
const idleTime = time.Minute

// Serve answers requests on the socket until ctx ends.
func Serve(ctx context.Context, l net.Listener, h *Requests) error {
	return serveKnowing(ctx, l, h, peerUID)
}

// serveKnowing is Serve with a function that tells the user at the other end of a connection.
func serveKnowing(ctx context.Context, l net.Listener, h *Requests, peer func(net.Conn) int) error {
	s := &http.Server{
		Handler: h, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: idleTime, MaxHeaderBytes: 64 << 10,
		BaseContext: func(net.Listener) context.Context { return ctx }, ConnContext: withUID,
		ErrorLog: slog.NewLogLogger(h.log.Handler(), slog.LevelWarn),
	}
	stop := context.AfterFunc(ctx, func() { _ = s.Close() }) // Close also removes the socket; its error does not matter
	defer stop()
	if err := s.Serve(newPlaces(l, peer, h.log)); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("admin: %w", err)
	}
	return nil
}

// Problem is the error that the daemon returns over the socket.
type Problem struct {
	Code    fault.Code `json:"exit_code"`
	Blamed  string     `json:"blamed,omitempty"`
	Message string     `json:"message"`
}

// handler returns an HTTP handler that answers with the value of f, in JSON unless it consists of bytes.
func handler(log *slog.Logger, f func(r *http.Request) (any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		v, err := f(r)
		status := http.StatusOK
		if err != nil {
			status, v = http.StatusUnprocessableEntity, problem(err)
		}
		if raw, ok := v.([]byte); ok {
			w.Header().Set("Content-Type", "application/octet-stream")
			write(log, w, raw)
			return
		}
		body, err := json.Marshal(v)
		if err != nil {
			status, body = http.StatusInternalServerError, []byte(`{"exit_code":1,"message":"the answer does not marshal"}`)
			log.Error("an answer does not marshal", "error", err)
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		write(log, w, body)
	}
}

func write(log *slog.Logger, w http.ResponseWriter, b []byte) {
	if _, err := w.Write(b); err != nil {
		log.Debug("a caller went away", "error", err)
	}
}

func problem(err error) Problem {
	p := Problem{Code: fault.CodeOf(err), Message: err.Error()}
	var coded *fault.Error
	if errors.As(err, &coded) {
		p.Blamed = coded.Blamed
	}
	return p
}
