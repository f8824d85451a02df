package gateway

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/mercer-fl/mercer/internal/base/disk"
	"github.com/mercer-fl/mercer/internal/base/request"
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/internal/method/secvm"
	secvmmachines "github.com/mercer-fl/mercer/protocol/secvm"
)

// Result describes how a job ended.
type Result struct {
	Model      string      `json:"model"` // path
	SHA256     string      `json:"model_sha256"`
	Iterations int         `json:"iterations"`
	Windows    int         `json:"windows"`
	Classes    []ClassTest `json:"classes"`
	Majority   float64     `json:"majority_accuracy"` // see [devices.MajorityOf]
	// Curve has the tests of the iterations, except those with fewer testing devices than
	// the cohort. Withheld counts the exceptions.
	Curve    []Point             `json:"curve,omitempty"`
	Withheld int                 `json:"curve_withheld,omitempty"`
	Leakage  map[string][]string `json:"leakage"`
}

// ClassTest counts the predictions for the testing devices of a class.
type ClassTest = secvm.ClassTest

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

// hold keeps one window open until its end, and then closes it. It writes records when they
// have enough packages; when the window ends; in the middle of the time of grace, for devices
// that were told to come back; and at its end.
func (g *Gateway) hold(ctx context.Context) error {
	d := g.window.Load()
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
func (g *Gateway) wait(ctx context.Context, d *window, until time.Time) error {
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

func (g *Gateway) record(d *window, last bool) error {
	n, err := d.counter.Record(last)
	if n > 0 {
		g.metrics.records.Inc()
		g.metrics.counted.Add(float64(n))
	}
	return err
}

// close sums the window, and announces the next one.
func (g *Gateway) close(d *window) error {
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
	g.plot(d.iteration, t.Tests)
	if d.iteration == 0 {
		g.participants, g.rare = t.Count(), secvm.Rare(t)
	}
	return g.proceed(d)
}

// plot adds the test of a finished iteration to the curve, unless fewer devices than the cohort
// have tested.
func (g *Gateway) plot(iteration uint32, tests [2]secvmmachines.Outcome) {
	if tests[0].Total+tests[1].Total >= uint64(g.server.Params().Spec().Cohort) {
		g.curve = append(g.curve, tested{iteration, tests})
	}
}

// again announces another window of the same iteration. Its packages are added to the
// earlier ones, and spent tokens stay spent.
func (g *Gateway) again(d *window) error {
	if err := g.announceWindow(g.Pause); err != nil {
		return err
	}
	_, weights := g.server.Published()
	if err := g.openInbox(); err != nil {
		return err
	}
	a := secvmmachines.Announcement{Chain: g.chain, Weights: secvmmachines.EncodeWeights(weights)}.Encode()
	d.counter.Reopen()
	g.announcement.Store(&a)
	return nil
}

// proceed continues with the next iteration, and discards the tokens of this one.
func (g *Gateway) proceed(d *window) error {
	g.window.Store(nil)
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

// end saves the state after the last window, and erases its key.
func (g *Gateway) end() error {
	if err := g.save(); err != nil {
		return err
	}
	return g.eraseKeys(-1)
}

// finish writes the model.
func (g *Gateway) finish() (*Result, error) {
	model := g.server.Model().Encode()
	if err := disk.Replace(g.path("model"), model); err != nil {
		return nil, err
	}
	sum := sha256.Sum256(model)
	r := &Result{Model: g.path("model"), SHA256: hex.EncodeToString(sum[:]), Iterations: learner.StepsOf(g.Job).Iterations, Windows: g.windows}
	r.Leakage = secvm.Leakage(secvm.Facts{Params: g.server.Params(), Network: true, OwnIssuer: g.Verifiers != nil, Participants: g.participants, Rare: g.rare})
	for i, t := range g.tests {
		r.Classes = append(r.Classes, ClassTest{Class: g.configuration.Classes[i], Tested: t.Total, Correct: t.Correct})
	}
	for _, t := range g.curve {
		r.Curve = append(r.Curve, t.point())
	}
	r.Withheld = r.Iterations + 1 - len(r.Curve)
	r.Majority = secvm.MajorityOf(r.Classes)
	return r, nil
}

// point returns the results of an iteration's test.
func (t tested) point() Point {
	var classes []ClassTest
	p := Point{Iteration: int(t.iteration)}
	correct := uint64(0)
	for _, o := range t.tests {
		classes = append(classes, ClassTest{Tested: o.Total})
		p.Testers += o.Total
		correct += o.Correct
	}
	p.Accuracy, p.Majority = float64(correct)/float64(p.Testers), secvm.MajorityOf(classes)
	return p
}

// Close closes the files.
func (g *Gateway) Close() error {
	if d := g.window.Load(); d != nil {
		return d.counter.Close()
	}
	return nil
}

// Timeouts of a request to a witness, and the pause between two.
const (
	showTime  = 10 * time.Second
	showAgain = time.Second / 2
)

// show shows the history to both witnesses, each until it has countersigned it or until
// stop is called. It does not wait for them: devices do. A witness that refuses ends the
// returned context.
func (g *Gateway) show(ctx context.Context) (_ context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	h := secvmmachines.History{Configuration: g.published, Chain: g.chain}.Encode()
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

// errRefused is returned for a witness that will never countersign the history: this home
// is an old copy of the gateway's, or the witness has seen another job of this gateway.
var errRefused = errors.New("has countersigned another history, or refuses this configuration; check that this home is no old copy, and that the address is not that of another job")

// errUnknown is returned for a witness whose operator has given it the key of another
// gateway.
var errUnknown = errors.New("does not know this gateway; have it started with --gateway-key")

// showTo shows the history to one witness. A missing answer is no error: without the
// witness the window has too few participants, and is repeated.
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
		case status == http.StatusForbidden:
			return fmt.Errorf("gateway: the witness %s %w %x", witness, errUnknown, g.configuration.Signer)
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
	u, err := url.JoinPath(witness, secvmmachines.HistoryPath)
	if err != nil {
		return 0, fmt.Errorf("gateway: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, showTime)
	defer cancel()
	signer := request.Signer{Purpose: secvmmachines.HistoryPurpose, Of: g.configuration.Signer}
	q, err := signer.Post(ctx, u, g.Identity.SigningKey(), history)
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

// Point is the test of the weights that were published for an iteration.
type Point struct {
	Iteration int     `json:"iteration"` // steps before these weights
	Testers   uint64  `json:"testing_devices"`
	Accuracy  float64 `json:"accuracy"`
	Majority  float64 `json:"majority_accuracy"` // the share of the larger class
}

// String returns the point as text.
func (p Point) String() string {
	return fmt.Sprintf("step %d: accuracy %.4f of %d testing devices; the larger class %.4f", p.Iteration, p.Accuracy, p.Testers, p.Majority)
}

// tested is an iteration with its test packages by class.
type tested struct {
	iteration uint32
	tests     [2]secvmmachines.Outcome
}
