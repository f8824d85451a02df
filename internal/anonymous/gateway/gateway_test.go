package gateway_test

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/mercer-fl/mercer/device"
	"github.com/mercer-fl/mercer/internal/anonymous/gateway"
	"github.com/mercer-fl/mercer/internal/base/endpoint"
	"github.com/mercer-fl/mercer/internal/base/endpoint/endpointtest"
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/ohttp"
	"github.com/mercer-fl/mercer/privacypass"
	"github.com/mercer-fl/mercer/protocol/secvm"
)

// collector is a part with metrics.
type collector interface {
	Collect(prometheus.Registerer) error
}

// metricOf reads a counter; 0 if it does not count yet.
func metricOf(t *testing.T, c collector, name string) int {
	t.Helper()
	r := prometheus.NewRegistry()
	check(t, c.Collect(r))
	answer := endpointtest.NewRecorder()
	endpoint.Metrics(r).ServeHTTP(answer, httptest.NewRequest("GET", "/metrics", nil))
	b, err := io.ReadAll(answer.Body)
	check(t, err)
	line := lineWith(string(b), name)
	if line == "" {
		return 0
	}
	n, err := strconv.Atoi(line)
	check(t, err)
	return n
}

// expect checks that the devices have trained and tested the simulation's model, with every package of
// every device counted once.
func (w *testbed) expect(r *gateway.Result, said *tally) {
	w.t.Helper()
	model, classes := w.simulated()
	if r.SHA256 != model {
		w.t.Errorf("model %s, simulated %s; %+v", r.SHA256, model, said.Report)
	}
	if !slices.Equal(r.Classes, classes) {
		w.t.Errorf("tests of the classes %+v, simulated %+v", r.Classes, classes)
	}
	want := w.rows.X.Rows() * w.settings().Packages * (learner.StepsOf(w.job).Iterations + 1)
	if said.Acknowledged != want || said.Refused+said.Lost != 0 {
		w.t.Errorf("%+v, where %d packages were to be acknowledged", said.Report, want)
	}
	if got := metricOf(w.t, w.gateway, "mercer_gateway_packages_total "); got != want {
		w.t.Errorf("%d packages counted, of %d", got, want)
	}
	if want := learner.StepsOf(w.job).Iterations + 1; r.Windows != want {
		w.t.Errorf("%d windows, where %d are enough", r.Windows, want)
	}
	a, b := float64(r.Classes[0].Tested), float64(r.Classes[1].Tested)
	if want := max(a, b) / (a + b); r.Majority != want {
		w.t.Errorf("the larger class is %v of %+v, want %v", r.Majority, r.Classes, want)
	}
}

// With tokens, relay and network the devices train the simulation's model. (TestAttackLink
// does so with tokens of blind RSA.) A package for a finished iteration is late.
func TestModelIsTheSimulations(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newTestbed(t, privacypass.VOPRF, 20, nil)
		o := w.outsider()
		var status int
		r, said := w.run(func(ctx context.Context) {
			for w.gateway.Iteration() != 1 && ctx.Err() == nil {
				time.Sleep(time.Second)
			}
			// A forged one is late as well: the gateway does not verify its token.
			spent := secvm.Spent{Token: o.forged(0), Package: o.cover(0)}
			status = o.post(spent.Encode())
		})
		w.expect(r, said)
		if told := strings.Join(r.Leakage["server"], " "); !strings.Contains(told, "the gateway issued the tokens itself") {
			t.Errorf("what was learnt does not say who gave the tokens: %s", told)
		}
		if status != http.StatusGone || w.metric("late") != 1 {
			t.Errorf("status %d, %d late", status, w.metric("late"))
		}
	})
}

// A job without hashing trains the simulation's model: the configuration states that
// features are columns, and their number. A device whose features are no columns does not
// take part.
func TestColumnsOfDevices(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newTestbedOf(t, strings.Replace(jobText, "bins: 16", "features: columns, bins: 12", 1), privacypass.VOPRF, 20, nil)
		signed, err := os.ReadFile(filepath.Join(w.config.Home, "configuration"))
		check(t, err)
		c, err := secvm.DecodeConfiguration(signed)
		check(t, err)
		if s := c.Params.Spec(); !s.Columns || s.Bins != 12 {
			t.Errorf("devices are told %+v", s)
		}
		limits := secvm.Limits{Cohort: 10, Paper: true}
		if _, err := device.New(device.Config{Configuration: signed, Credential: credential(0), Store: &memory{}, Limits: limits}, []string{"3", "ball"}, "+1"); err == nil ||
			!strings.Contains(err.Error(), `feature "ball" is not a column of model small`) {
			t.Errorf("a word: %v", err)
		}
		w.expect(w.run(nil))
	})
}

// Attack: open recorded requests later. The strongest adversary is the relay with all data
// in the gateway's home. While a window is open its key is there, and a gateway that is
// killed in it continues with it; afterwards nothing is left that opens a package of it,
// and no key follows from the gateway's identity.
func TestWindowKeysAreErased(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newTestbed(t, privacypass.BlindRSA, 20, nil)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			_, _ = w.gateway.Run(ctx) // too few take part: windows are repeated
		}()
		var seeds [][]byte
		for range 3 {
			time.Sleep(w.config.Window)
			files, err := filepath.Glob(filepath.Join(w.config.Home, "key-*"))
			check(t, err)
			if len(files) != 1 {
				t.Fatalf("keys in the home: %v", files)
			}
			seed, err := os.ReadFile(files[0])
			check(t, err)
			if !slices.ContainsFunc(seeds, func(b []byte) bool { return bytes.Equal(b, seed) }) {
				seeds = append(seeds, seed)
			}
			time.Sleep(w.config.Grace + w.config.Pause)
		}
		cancel()
		<-ended
		check(t, w.gateway.Close())
		last := len(w.gateway.History())
		w.open() // in the middle of a window
		if n := len(w.gateway.History()); n != last {
			t.Errorf("%d windows, and after another start %d", last, n)
		}
		if len(seeds) < 2 {
			t.Errorf("%d keys in %d windows", len(seeds), last)
		}
		known := map[string]bool{}
		for i, l := range w.gateway.History() {
			known[string(l.Key[:])] = true
			files, err := filepath.Glob(filepath.Join(w.config.Home, "*"))
			check(t, err)
			for _, f := range files {
				b, err := os.ReadFile(f)
				check(t, err)
				if i < len(seeds)-1 && bytes.Contains(b, seeds[i]) {
					t.Errorf("%s holds the key of window %d, which is over", f, i)
				}
			}
		}
		if len(known) != last {
			t.Errorf("%d keys for %d windows", len(known), last)
		}
		for n := range uint32(4) {
			seed := w.config.Identity.Derive("ohttp", n)
			k, err := ohttp.NewKey(1, seed[:])
			check(t, err)
			if known[string(k.Config().Encode())] {
				t.Error("a key follows from the identity")
			}
		}
	})
}
