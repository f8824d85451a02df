package admin

import (
	"net"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/node/access"
)

// These are users with one role each, and one without any.
const (
	viewer = 2000 + iota
	submitter
	approver
	administrator
	stranger
)

func holders(uid int) access.Holders { return access.Holders{UIDs: []int{uid}} }

func ofEachRole() access.Rules {
	return access.Rules{Viewer: holders(viewer), Submitter: holders(submitter), Approver: holders(approver), Administrator: holders(administrator)}
}

// served lists the requests of both daemons.
func served(t *testing.T, gate access.Gate) []*Requests {
	reload := func() error { return nil }
	return []*Requests{
		Coordinator(hub(t), gate, quiet()).Reloading(reload),
		Party(running{north(t)}, unchecked, gate, quiet()).Reloading(reload),
	}
}

// allowed lists the requests that each user may send, besides those of a viewer. A new request fails here until
// somebody has decided who may send it.
func allowed() map[int][]string {
	own := map[int][]string{
		submitter: {"POST /jobs", "POST /jobs/{id}/abort", "GET /jobs/{id}/outcome", "GET /jobs/{id}/model", "POST /jobs/{id}/prediction", "GET /jobs/{id}/preparation"},
		approver:  {"POST /jobs/{id}/approve", "POST /jobs/{id}/reject", "POST /check"},
	}
	own[administrator] = slices.Concat(own[submitter], own[approver], []string{"POST /reload", "POST /epoch", "DELETE /jobs/{id}", "DELETE /jobs/{id}/keepsake", "DELETE /jobs/{id}/sessions"})
	return own
}

// Every request on both sockets is refused to those who do not have its role, whoever asks, and its body is not
// read. The refusal names the role and nobody who has it.
func TestEveryRequestNeedsARole(t *testing.T) {
	viewing := []string{"GET /overview", "GET /events", "GET /jobs", "GET /jobs/{id}", "GET /jobs/{id}/wait", unknown}
	var peer atomic.Int64
	for _, q := range served(t, gate(ofEachRole())) {
		c := serveAs(t, q, func(net.Conn) int { return int(peer.Load()) })
		seen := slices.Clone(q.patterns)
		if len(seen) < 10 {
			t.Fatalf("only %v", seen)
		}
		for _, uid := range []int{access.UnknownUID, 0, stranger, viewer, submitter, approver, administrator} {
			c.Close() // a connection is of one user
			peer.Store(int64(uid))
			for _, pattern := range seen {
				method, path, found := strings.Cut(pattern, " ")
				if !found {
					method, path = http.MethodGet, "/nothing"
				}
				path = strings.ReplaceAll(path, "{id}", "nonsense") // so that an admitted request does nothing
				_, err := c.fetch(t.Context(), method, path, nil)
				refused := fault.CodeOf(err) == fault.CodePolicy && (strings.Contains(err.Error(), "needs the role") || strings.Contains(err.Error(), "which user asks"))
				may := uid >= viewer && uid < stranger && (slices.Contains(viewing, pattern) || slices.Contains(allowed()[uid], pattern))
				if refused == may {
					t.Errorf("user %d, %s: refused %t, may %t: %v", uid, pattern, refused, may, err)
				}
				if refused && strings.Contains(err.Error(), "200") && !strings.Contains(err.Error(), "which user 200") {
					t.Errorf("the refusal names others: %v", err)
				}
			}
		}
	}
}

// A request that nobody has entered in the table stops the program at its start.
func TestARequestWithoutARole(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("it was added")
		}
	}()
	newRequests(owner(), quiet()).add("POST /anything", nil)
}

// Without the setting, the home's owner and root may do everything, and others nothing.
func TestWithoutRoles(t *testing.T) {
	var peer atomic.Int64
	g := owner()
	g.Owner = 1000
	c := serveAs(t, Coordinator(hub(t), g, quiet()), func(net.Conn) int { return int(peer.Load()) })
	for _, one := range []struct {
		uid int
		may bool
	}{{0, true}, {1000, true}, {1001, false}, {access.UnknownUID, false}} {
		c.Close() // a connection is of one user
		peer.Store(int64(one.uid))
		if _, err := c.Jobs(t.Context()); (err == nil) != one.may {
			t.Errorf("user %d: %v", one.uid, err)
		}
	}
}

// The user of a job's submission is the user of the connection.
func TestTheSubmitterIsThePeer(t *testing.T) {
	boss := hub(t)
	c := serveAs(t, Coordinator(boss, gate(ofEachRole()), quiet()), func(net.Conn) int { return submitter })
	j, err := c.Submit(t.Context(), "job.yaml", []byte(jobFile))
	if err != nil {
		t.Fatal(err)
	}
	if s := j.Submitter; s == nil || s.UID == nil || *s.UID != submitter || s.Member != "hub" {
		t.Errorf("%+v", s)
	}
}
