package gateway

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"time"

	"github.com/mercer-fl/mercer/internal/base/disk"
	"github.com/mercer-fl/mercer/internal/learner"
	crowd "github.com/mercer-fl/mercer/internal/method/secvm"
	"github.com/mercer-fl/mercer/protocol/secvm"
)

// Result describes how a job ended.
type Result struct {
	Model      string              `json:"model"` // path
	SHA256     string              `json:"model_sha256"`
	Iterations int                 `json:"iterations"`
	Windows    int                 `json:"windows"`
	Classes    []ClassTest         `json:"classes"`
	Leakage    map[string][]string `json:"leakage"`
}

// ClassTest counts how the testing devices of a class were predicted.
type ClassTest = crowd.ClassTest

// Run holds windows until the model is trained and tested.
func (g *Gateway) Run(ctx context.Context) (*Result, error) {
	if g.chain == nil {
		if err := g.announceWindow(g.Lead); err != nil {
			return nil, err
		}
		if err := g.open(); err != nil {
			return nil, err
		}
	}
	for !g.server.Done() {
		if err := g.hold(ctx); err != nil {
			return nil, err
		}
	}
	return g.finish()
}

// hold holds one window, and closes it. Records are written when they have
// enough packages; when the window ends; in the middle of the time of grace, for
// devices that have been told to come back; and at its end.
func (g *Gateway) hold(ctx context.Context) error {
	d := g.desk.Load()
	ends := time.UnixMilli(g.chain[len(g.chain)-1].Opens).Add(g.Window)
	ctx, stop := g.show(ctx)
	defer stop()
	for _, at := range []time.Time{ends, ends.Add(g.Grace / 2), ends.Add(g.Grace)} {
		if err := g.wait(ctx, d, at); err != nil {
			return err
		}
		if err := g.record(d, false); err != nil {
			return err
		}
	}
	return g.close(d)
}

// wait waits, and writes records meanwhile.
func (g *Gateway) wait(ctx context.Context, d *desk, until time.Time) error {
	over := time.NewTimer(time.Until(until))
	defer over.Stop()
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-over.C:
			return nil
		case <-d.counter.Due():
			if err := g.record(d, false); err != nil {
				return err
			}
		}
	}
}

func (g *Gateway) record(d *desk, last bool) error {
	n, err := d.counter.Record(last)
	if n > 0 {
		g.metrics.records.Inc()
		g.metrics.counted.Add(float64(n))
	}
	return err
}

// close adds the window up, and announces the next one.
func (g *Gateway) close(d *desk) error {
	if err := g.record(d, true); err != nil {
		return err
	}
	t := d.counter.Tally()
	over, err := g.server.Close(t)
	if err != nil {
		return err
	}
	g.windows++
	g.metrics.participants.Set(float64(t.Count()))
	g.metrics.windows.WithLabelValues(map[bool]string{true: "enough", false: "too few"}[over]).Inc()
	g.Logger.Info("window over", "iteration", d.iteration, "participants", t.Count(), "enough", over, "records", d.counter.Records())
	if !over {
		return g.again(d)
	}
	g.tests = t.Tests
	if d.iteration == 0 {
		g.participants, g.rare = t.Count(), crowd.Rare(t)
	}
	return g.proceed(d)
}

// again announces another window of the same iteration. Its packages are added
// to those that have come, and tokens that have been spent stay so.
func (g *Gateway) again(d *desk) error {
	if err := g.announceWindow(g.Pause); err != nil {
		return err
	}
	_, weights := g.server.Published()
	if err := g.openInbox(); err != nil {
		return err
	}
	a := secvm.Announcement{Chain: g.chain, Weights: secvm.EncodeWeights(weights)}.Encode()
	d.counter.Reopen()
	g.announcement.Store(&a)
	return nil
}

// proceed goes on with the next iteration, and forgets the tokens of this one.
func (g *Gateway) proceed(d *desk) error {
	g.desk.Store(nil)
	g.inbox.Store(nil)
	next := g.end
	if !g.server.Done() {
		next = func() error { return g.announceWindow(g.Pause) }
	}
	if err := next(); err != nil {
		return err
	}
	if err := d.counter.Remove(); err != nil {
		return err
	}
	return g.open()
}

// end saves the state after the last window, whose key goes.
func (g *Gateway) end() error {
	if err := g.save(); err != nil {
		return err
	}
	return g.eraseKeys(-1)
}

// finish leaves the model.
func (g *Gateway) finish() (*Result, error) {
	model := g.server.Model().Encode()
	if err := disk.Replace(g.path("model"), model); err != nil {
		return nil, err
	}
	sum := sha256.Sum256(model)
	r := &Result{Model: g.path("model"), SHA256: hex.EncodeToString(sum[:]), Iterations: learner.StepsOf(g.Job).Iterations, Windows: g.windows}
	r.Leakage = crowd.Leakage(crowd.Facts{Params: g.server.Params(), Network: true, OwnIssuer: g.Verifiers != nil, Participants: g.participants, Rare: g.rare})
	for i, t := range g.tests {
		r.Classes = append(r.Classes, ClassTest{Class: g.configuration.Classes[i], Tested: t.Total, Correct: t.Correct})
	}
	return r, nil
}

// Close closes what is on disk.
func (g *Gateway) Close() error {
	if d := g.desk.Load(); d != nil {
		return d.counter.Close()
	}
	return nil
}
