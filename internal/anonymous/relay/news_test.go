package relay

import (
	"context"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mercer-fl/mercer/internal/base/endpoint/endpointtest"
	"github.com/mercer-fl/mercer/protocol/secvm"
)

// Attack: strangers request the announcement while the gateway does not answer, and leave.
// No goroutine is left, and the gateway receives one request for all, however it answers.
func TestStrangersAskForTheAnnouncementAndLeave(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	var asked atomic.Int32
	answers := make(chan int)
	gateway := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		w.WriteHeader(<-answers)
		_, _ = w.Write([]byte("news"))
	}))
	defer gateway.Close()
	r := &news{client: gateway.Client(), url: gateway.URL}
	serve := func(ctx context.Context) int {
		a := endpointtest.NewRecorder()
		r.serve(a, httptest.NewRequestWithContext(ctx, "GET", secvm.AnnouncementPath, nil))
		return a.Code
	}
	wait := func(ctx context.Context, n int, want int) (gone *sync.WaitGroup) {
		gone = &sync.WaitGroup{}
		for range n {
			gone.Go(func() {
				if got := serve(ctx); got != want {
					t.Errorf("status %d, want %d", got, want)
				}
			})
		}
		return gone
	}
	for i, status := range []int{http.StatusServiceUnavailable, http.StatusOK} {
		want := map[int]int{http.StatusServiceUnavailable: http.StatusBadGateway, http.StatusOK: http.StatusOK}[status]
		ctx, leave := context.WithCancel(t.Context())
		strangers := wait(ctx, 500, http.StatusOK) // without a reader
		for int(asked.Load()) == i {
			time.Sleep(time.Millisecond)
		}
		leave()
		strangers.Wait() // while the gateway has not answered
		devices := wait(t.Context(), 20, want)
		answers <- status
		devices.Wait()
		for range 20 {
			if got := serve(t.Context()); got != want {
				t.Errorf("just after the gateway's answer: status %d, want %d", got, want)
			}
		}
		if got := int(asked.Load()); got != i+1 {
			t.Errorf("the gateway was asked %d times, want %d", got, i+1)
		}
		time.Sleep(fresh)
	}
}
