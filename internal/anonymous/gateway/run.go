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
	"github.com/mercer-fl/mercer/protocol"
	secvmmachines "github.com/mercer-fl/mercer/protocol/secvm"
)

// Result holds the model's path and the counts and accuracies of a finished job.
type Result struct {
	Model      string      `json:"model"` // path of the model's file
	SHA256     string      `json:"model_sha256"`
	Iterations int         `json:"iterations"`
	Windows    int         `json:"windows"`
	Classes    []ClassTest `json:"classes"`
	Majority   float64     `json:"majority_accuracy"` // see [secvm.MajorityOf]
	// Curve holds the test results of each iteration with at least as many testing devices as the
	// cohort. Withheld is the number of the other iterations.
	Curve    []Point             `json:"curve,omitempty"`
	Withheld int                 `json:"curve_withheld,omitempty"`
	Leakage  map[string][]string `json:"leakage"`
	// Exposures says, by role, how much of others' records the role can reconstruct.
	Exposures map[string]protocol.Exposure `json:"row_exposure,omitempty"`
}

// ClassTest counts the predictions for the testing devices of one class.
type ClassTest = secvm.ClassTest

// Run opens one window after another until the model is trained and tested.
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

// hold keeps one window open until its end, and then closes it. It writes a record whenever enough
// packages wait, and at three times: at the end of the window, in the middle of the time of grace,
// and at the end of the time of grace. The record in the middle serves devices that were told to
// send again.
func (g *Gateway) hold(ctx context.Context) error {
	d := g.window.Load()
	ends := time.UnixMilli(g.chain[len(g.chain)-1].Opens).Add(g.Window)
	ctx, stop := g.show(ctx)
	defer stop()
	for _, at := range []time.Time{ends, ends.Add(g.Grace / 2), ends.Add(g.Grace)} {
		if err := g.wait(ctx, d, at); err != nil {
			return err
		}
		if err := g.recorded(d.counter.Record(false)); err != nil {
			return err
		}
	}
	return g.close(d)
}

// wait writes a record whenever enough packages have arrived, until the given time.
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
			if err := g.recorded(d.counter.RecordDue()); err != nil {
				return err
			}
		}
	}
}

// recorded counts a record of n packages, if there are any, and returns err.
func (g *Gateway) recorded(n int, err error) error {
	if n > 0 {
		g.metrics.records.Inc()
		g.metrics.counted.Add(float64(n))
	}
	return err
}

// close sums the packages of the window. If there were enough participants, it takes the
// training step. It then announces the next window, if the job is not finished.
func (g *Gateway) close(d *window) error {
	if err := g.recorded(d.counter.Record(true)); err != nil {
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
		return g.reannounce(d)
	}
	g.tests = t.Tests
	g.plot(d.iteration, t.Tests)
	if d.iteration == 0 {
		g.participants, g.rare = t.Count(), secvm.Rare(t)
	}
	return g.proceed(d)
}

// plot adds the test results of a finished iteration to the curve, if at least as many devices
// as the cohort have tested.
func (g *Gateway) plot(iteration uint32, tests [2]secvmmachines.Outcome) {
	if tests[0].Total+tests[1].Total >= uint64(g.server.Params().Spec().Cohort) {
		g.curve = append(g.curve, tested{iteration, tests})
	}
}

// reannounce announces another window of the same iteration. The counter adds its packages to the
// earlier ones, and spent tokens stay spent.
func (g *Gateway) reannounce(d *window) error {
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

// proceed moves on to the next iteration. It deletes the records of the finished iteration, with
// the nonces of its tokens.
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

// end saves the state after the last window, and erases the window's key.
func (g *Gateway) end() error {
	if err := g.save(); err != nil {
		return err
	}
	return g.eraseKeys(-1)
}

// finish writes the model and returns the results of the job.
func (g *Gateway) finish() (*Result, error) {
	model := g.server.Model().Encode()
	if err := disk.Replace(g.path("model"), model); err != nil {
		return nil, err
	}
	sum := sha256.Sum256(model)
	r := &Result{Model: g.path("model"), SHA256: hex.EncodeToString(sum[:]), Iterations: learner.StepsOf(g.Job).Iterations, Windows: g.windows}
	facts := secvm.Facts{Params: g.server.Params(), Network: true, OwnIssuer: g.Verifiers != nil, Participants: g.participants, Rare: g.rare}
	r.Leakage, r.Exposures = secvm.Leakage(facts), secvm.Exposures(facts)
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

// point computes an iteration's point of the curve from its test results.
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

// Close closes the file of records.
func (g *Gateway) Close() error {
	if d := g.window.Load(); d != nil {
		return d.counter.Close()
	}
	return nil
}

// showTime is the timeout of a request to a witness. showAgain is the pause before the next
// attempt.
const (
	showTime  = 10 * time.Second
	showAgain = time.Second / 2
)

// show sends the history to the witnesses, if there are any. It repeats this for each witness until the
// witness has countersigned or refused the history, or stop is called. It returns at once, because only
// devices need the countersignatures. If a witness refuses, show cancels the returned context.
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

// errRefused is returned if a witness will never countersign the history. This home is an old copy of
// the gateway's home, the witness has countersigned another job of this gateway, or the issuer has
// other token keys or settings than the configuration.
var errRefused = errors.New("the witness has countersigned another history, or refuses this configuration; check that this home is not an old copy, and that the address belongs to a witness of this job")

// errUnknown is returned if the witness's operator has given the witness the key of another
// gateway.
var errUnknown = errors.New("the witness does not know this gateway; ask its operator to start it with --gateway-key")

// showTo sends the history to one witness until the witness countersigns it. A missing answer is
// not an error. Devices do not take part in a window without the countersignature, so the window has
// too few participants, and is repeated.
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
			return fmt.Errorf("gateway: %s: %w", witness, errRefused)
		case status == http.StatusForbidden:
			return fmt.Errorf("gateway: %s: %w %x", witness, errUnknown, g.configuration.Signer)
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

// Point holds the test results of the weights published for one iteration.
type Point struct {
	Iteration int     `json:"iteration"` // number of training steps before the tested weights
	Testers   uint64  `json:"testing_devices"`
	Accuracy  float64 `json:"accuracy"`
	Majority  float64 `json:"majority_accuracy"` // share of the larger class among the testing devices
}

// String formats the point for the log.
func (p Point) String() string {
	return fmt.Sprintf("step %d: accuracy %.4f of %d testing devices; the larger class %.4f", p.Iteration, p.Accuracy, p.Testers, p.Majority)
}

// tested holds the test results of one iteration by class.
type tested struct {
	iteration uint32
	tests     [2]secvmmachines.Outcome
}
