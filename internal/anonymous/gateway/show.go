package gateway

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/mercer-fl/mercer/protocol/secvm"
)

// Times of a question to a witness, and between two.
const (
	showTime  = 10 * time.Second
	showAgain = time.Second / 2
)

// show shows the history to both witnesses, each until it has countersigned it or
// until stop is called. It does not wait for them: devices do. A witness that
// refuses ends the context that is returned.
func (g *Gateway) show(ctx context.Context) (_ context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	h := secvm.History{Configuration: g.published, Chain: g.chain}.Encode()
	var showing sync.WaitGroup
	for _, w := range g.Witnesses {
		showing.Go(func() {
			if err := g.showTo(ctx, w, h); err != nil {
				cancel(err)
			}
		})
	}
	return ctx, func() {
		cancel(nil)
		showing.Wait()
	}
}

// errRefused is a witness that will never countersign the history: this home is an
// old copy of the gateway's, or somebody has shown the witness another one before.
var errRefused = errors.New("has countersigned another history, or refuses this configuration; is this home an old copy, or the address of another job's?")

// showTo shows the history to one witness. That nobody answers is no error: without
// it the window has too few participants, and is held again.
func (g *Gateway) showTo(ctx context.Context, witness string, history []byte) error {
	said := false
	for {
		status, err := g.postHistory(ctx, witness, history)
		switch {
		case err == nil && status == http.StatusOK:
			return nil
		case ctx.Err() != nil:
			return nil //nolint:nilerr // the window is over
		case status == http.StatusConflict, status == http.StatusBadRequest:
			return fmt.Errorf("gateway: the witness %s %w", witness, errRefused)
		case !said:
			said = true
			g.Logger.Warn("a witness does not countersign yet", "address", witness, "status", status, "error", err)
		}
		select {
		case <-time.After(showAgain):
		case <-ctx.Done():
			return nil
		}
	}
}

func (g *Gateway) postHistory(ctx context.Context, witness string, history []byte) (status int, err error) {
	u, err := url.JoinPath(witness, secvm.HistoryPath)
	if err != nil {
		return 0, fmt.Errorf("gateway: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, showTime)
	defer cancel()
	q, err := http.NewRequestWithContext(ctx, http.MethodPost, u, bytes.NewReader(history))
	if err != nil {
		return 0, fmt.Errorf("gateway: %w", err)
	}
	client := g.HTTP
	if client == nil {
		client = http.DefaultClient
	}
	r, err := client.Do(q)
	if err != nil {
		return 0, err
	}
	return r.StatusCode, r.Body.Close()
}
