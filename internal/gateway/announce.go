package gateway

import (
	"context"
	"net/http"

	"github.com/mercer-fl/mercer/ohttp/bhttp"
	"github.com/mercer-fl/mercer/protocol/secvm"
)

// answerSize is what the answers to packages, and refusals, are padded to.
const answerSize = 32

// pad gives answers without content one size. Those with content have one size
// for each kind by themselves.
func pad(size int) int { return max(size, answerSize) }

// serve answers a request that came through the relay.
func (g *Gateway) serve(ctx context.Context, q *bhttp.Request) *bhttp.Response {
	switch {
	case q.Path == secvm.PackagePath && q.Method == http.MethodPost:
		o := g.admit(ctx, q.Content)
		g.metrics.packages[o].Inc()
		return &bhttp.Response{Status: o.status}
	case q.Method != http.MethodGet:
		return &bhttp.Response{Status: http.StatusMethodNotAllowed}
	case q.Path == secvm.ConfigurationPath:
		return &bhttp.Response{Status: http.StatusOK, Content: g.published}
	case q.Path == secvm.AnnouncementPath:
		return g.announce()
	}
	return &bhttp.Response{Status: http.StatusNotFound}
}

func (g *Gateway) announce() *bhttp.Response {
	a := g.announcement.Load()
	if a == nil {
		return &bhttp.Response{Status: http.StatusServiceUnavailable}
	}
	return &bhttp.Response{Status: http.StatusOK, Content: *a}
}
