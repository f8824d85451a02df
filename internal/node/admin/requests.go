package admin

import (
	"fmt"
	"log/slog"
	"net/http"

	"github.com/mercer-fl/mercer/internal/node/access"
)

// leastRole returns the role that a request needs. It is the only place that says so. A request that is
// missing here has no role, and stops the program at its start.
func leastRole(pattern string) access.Role {
	switch pattern {
	case "GET /overview", "GET /events", "GET /jobs", "GET /jobs/{id}", "GET /jobs/{id}/wait", "POST /page", unknown:
		return access.Viewer
	case "POST /jobs", "POST /jobs/{id}/abort", "GET /jobs/{id}/outcome", "GET /jobs/{id}/model",
		"POST /jobs/{id}/prediction", "GET /jobs/{id}/preparation":
		return access.Submitter
	case "POST /jobs/{id}/approve", "POST /jobs/{id}/reject", "POST /check":
		return access.Approver
	case "POST /reload", "POST /epoch", "DELETE /jobs/{id}", "DELETE /jobs/{id}/keepsake", "DELETE /jobs/{id}/sessions":
		return access.Administrator
	}
	return ""
}

// unknown is the pattern of all requests that a daemon does not know.
const unknown = "/"

// Requests answers the requests on a daemon's socket, each for the users who have the role that it needs.
type Requests struct {
	mux      *http.ServeMux
	gate     access.Gate
	log      *slog.Logger
	patterns []string
}

func newRequests(gate access.Gate, log *slog.Logger) *Requests {
	return &Requests{mux: http.NewServeMux(), gate: gate, log: log}
}

// ServeHTTP implements [http.Handler].
func (q *Requests) ServeHTTP(w http.ResponseWriter, r *http.Request) { q.mux.ServeHTTP(w, r) }

// add adds a request that is answered with the value of f, in JSON unless it consists of bytes.
func (q *Requests) add(pattern string, f func(r *http.Request) (any, error)) {
	q.addRaw(pattern, handler(q.log, f))
}

// addRaw adds a request that h answers. The body of a request is not read before its sender is admitted.
func (q *Requests) addRaw(pattern string, h http.HandlerFunc) {
	need := leastRole(pattern)
	if need == "" {
		panic(fmt.Sprintf("admin: the request %q needs no role; enter it in leastRole", pattern))
	}
	q.patterns = append(q.patterns, pattern)
	q.mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
		uid := uidOf(r)
		if err := q.gate.Admit(uid, need); err != nil {
			w.Header().Set("Connection", "close") // a user who was refused keeps no connection
			q.log.Warn("refused a command", "user", uid, "request", pattern, "needs", string(need))
			handler(q.log, func(*http.Request) (any, error) { return nil, err })(w, r)
			return
		}
		if need != access.Viewer {
			q.log.Info("a command", "user", uid, "request", pattern, "job", r.PathValue("id"))
		}
		h(w, r)
	})
}

// Invitation holds the address at which a person opens the daemon's web page.
type Invitation struct {
	URL string `json:"url"`
	// Login is true if people log in at the address. It is then the same for everybody, and stays.
	Login bool `json:"login,omitempty"`
}

// Inviting adds the request for the address at which a person opens the daemon's web page.
func (q *Requests) Inviting(invite func(who access.Person) (Invitation, error)) *Requests {
	q.add("POST /page", func(r *http.Request) (any, error) {
		return invite(q.person(r))
	})
	return q
}

// person returns the person who sent a request.
func (q *Requests) person(r *http.Request) access.Person { return q.gate.Person(uidOf(r)) }

// Reloading adds the request to read the home's files again.
func (q *Requests) Reloading(reload func() error) *Requests {
	q.add("POST /reload", func(*http.Request) (any, error) { return struct{}{}, reload() })
	return q
}
