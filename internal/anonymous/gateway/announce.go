package gateway

import (
	"context"
	"net/http"

	"github.com/mercer-fl/mercer/internal/anonymous/witness"
	"github.com/mercer-fl/mercer/ohttp/bhttp"
	"github.com/mercer-fl/mercer/protocol/secvm"
)

// answerSize is the length to which the answers to packages are padded.
const answerSize = 32

// pad gives all answers one size.
func pad(size int) int { return max(size, answerSize) }

// serve answers a request that was sealed.
func (g *Gateway) serve(ctx context.Context, q *bhttp.Request) *bhttp.Response {
	switch {
	case q.Path != secvm.PackagePath:
		return &bhttp.Response{Status: http.StatusNotFound}
	case q.Method != http.MethodPost:
		return &bhttp.Response{Status: http.StatusMethodNotAllowed}
	}
	o := g.admit(ctx, q.Content)
	g.metrics.packages[o].Inc()
	return &bhttp.Response{Status: o.status}
}

// serveAnnouncement answers with the announcement, which is equal for everybody.
func (g *Gateway) serveAnnouncement(w http.ResponseWriter, _ *http.Request) {
	a := g.announcement.Load()
	if a == nil {
		http.Error(w, "no window is announced", http.StatusServiceUnavailable)
		return
	}
	witness.Answer(w, *a)
}
