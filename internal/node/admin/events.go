package admin

import (
	"encoding/json"
	"net/http"
	"time"

	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/node/overview"
)

const (
	// heartbeat is the time without an event after which a reader of events gets a sign of life.
	heartbeat = 15 * time.Second
	// lineTime is the time within which a reader must take a line of events.
	lineTime = 10 * time.Second
	// maxEventLine bounds the length of a line of events in bytes.
	maxEventLine = 1 << 20
)

// serveOverview adds the requests about a daemon's overview and events, which a daemon of every role answers.
func (q *Requests) serveOverview(s overview.Source) {
	q.add("GET /overview", func(*http.Request) (any, error) { return s.Overview() })
	q.addRaw("GET /events", func(w http.ResponseWriter, r *http.Request) {
		kept, f, err := eventsFor(s.Events(), r)
		if err != nil {
			handler(q.log, func(*http.Request) (any, error) { return nil, err })(w, r)
			return
		}
		out := &eventWriter{w: w, deadline: http.NewResponseController(w)}
		w.Header().Set("Content-Type", "application/x-ndjson")
		for _, e := range kept {
			out.write(e)
		}
		if f != nil {
			defer f.Stop()
			out.follow(r, f)
		}
		if out.err != nil {
			q.log.Debug("a reader of events went away", "error", out.err)
		}
	})
}

// eventsFor returns the events of the job that a request names, or all events if it names none. The follower is nil
// if the request does not ask for further events.
func eventsFor(h *overview.History, r *http.Request) ([]overview.Event, *overview.Follower, error) {
	of := r.URL.Query().Get("job")
	if of != "" {
		id, err := job.ParseID(of)
		if err != nil {
			return nil, nil, fault.BadInput(err)
		}
		of = id.String()
	}
	if r.URL.Query().Get("follow") == "" {
		return h.Of(of), nil, nil
	}
	return h.Follow(of, uidOf(r))
}

// eventWriter writes events, one on each line. It remembers the first error.
type eventWriter struct {
	w        http.ResponseWriter
	deadline *http.ResponseController
	err      error
}

func (o *eventWriter) write(e overview.Event) {
	if o.err != nil {
		return
	}
	line, err := json.Marshal(e)
	if err == nil {
		err = o.deadline.SetWriteDeadline(time.Now().Add(lineTime))
	}
	if err == nil {
		_, err = o.w.Write(append(line, '\n'))
	}
	o.err = err
}

// flush passes the written lines on to the reader.
func (o *eventWriter) flush() {
	if o.err == nil {
		o.err = o.deadline.Flush()
	}
}

// follow writes further events until the reader goes away or is dropped, or the daemon ends.
func (o *eventWriter) follow(r *http.Request, f *overview.Follower) {
	beat := time.NewTicker(heartbeat)
	defer beat.Stop()
	for o.flush(); o.err == nil; o.flush() {
		select {
		case <-r.Context().Done():
			return
		case <-beat.C:
			o.write(overview.Event{Time: time.Now().UTC(), Kind: overview.Heartbeat})
		case e, on := <-f.Next():
			if !on {
				o.write(overview.Event{Time: time.Now().UTC(), Kind: overview.Dropped})
				o.flush()
				return
			}
			o.write(e)
			beat.Reset(heartbeat)
		}
	}
}
