package gateway_test

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"errors"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mercer-fl/mercer/device"
	"github.com/mercer-fl/mercer/internal/anonymous/counter"
	"github.com/mercer-fl/mercer/internal/anonymous/gateway"
	"github.com/mercer-fl/mercer/internal/base/endpoint/endpointtest"
	"github.com/mercer-fl/mercer/internal/base/request"
	"github.com/mercer-fl/mercer/internal/daemon"
	"github.com/mercer-fl/mercer/internal/method/secvm"
	"github.com/mercer-fl/mercer/ohttp"
	"github.com/mercer-fl/mercer/ohttp/bhttp"
	"github.com/mercer-fl/mercer/privacypass"
	secvmmachines "github.com/mercer-fl/mercer/protocol/secvm"
)

// Attacks by whole programs on many devices. Issuer, relay and gateway follow the protocol,
// except the attacker.

const (
	victim  = 2
	attackT = 30 * time.Minute // beyond the first window, which ends after 20
)

// attacked runs the gateway and all devices through the first window and returns each
// device's result.
func (w *testbed) attacked() (reports []device.Report, errs []error) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), attackT)
	defer cancel()
	n := w.rows.X.Rows()
	reports, errs = make([]device.Report, n), make([]error, n)
	var running sync.WaitGroup
	running.Go(func() { _, _ = w.gateway.Run(ctx) }) // until the time is over
	for w.gateway.Iteration() != 0 && ctx.Err() == nil {
		time.Sleep(time.Second)
	}
	for i := range n {
		var once sync.Once
		d := w.device(i, func(c *device.Config) {
			c.Early = 1
			c.Report = func(r device.Report) { once.Do(func() { reports[i] = r }) }
		})
		running.Go(func() { errs[i] = d.Run(ctx) })
	}
	running.Wait()
	return reports, errs
}

// acknowledged returns the devices whose packages were accepted in the first window.
func acknowledged(reports []device.Report) (devices []int) {
	for i, r := range reports {
		if r.Acknowledged > 0 {
			devices = append(devices, i)
		}
	}
	return devices
}

// counted returns the tally of the gateway in the first iteration.
func (w *testbed) counted() *secvmmachines.Tally {
	w.t.Helper()
	path := filepath.Join(w.home, "copy")
	b, err := os.ReadFile(filepath.Join(w.config.Home, "packages-0"))
	check(w.t, err)
	check(w.t, os.WriteFile(path, b, 0o600))
	signed, err := os.ReadFile(filepath.Join(w.config.Home, "configuration"))
	check(w.t, err)
	c, err := secvmmachines.DecodeConfiguration(signed)
	check(w.t, err)
	k, err := counter.Open(c.Params, path, 1)
	check(w.t, err)
	check(w.t, k.Close())
	return k.Tally()
}

// record returns the packages that a device sends if it is inside the margin, sampled as
// the device has sampled them: bins with counts, the bias last.
func (w *testbed) record(c *secvmmachines.Configuration, row int) map[int]uint64 {
	seeds := secvm.SeedsOf(daemon.InsecureSeeds(seed), row)
	v := c.Params.Vector(secvm.Features(w.rows.X, row))
	if v.Units() > c.Params.Room() {
		v = v.Sample(c.Params.Room(), seeds.Random())
	}
	bins := map[int]uint64{c.Params.Spec().Bins: 1}
	for _, e := range v {
		bins[e.Bin] = uint64(e.Count)
	}
	return bins
}

// ones returns the entries of counts that are not zero.
func ones(counts []uint64) map[int]uint64 {
	m := map[int]uint64{}
	for i, n := range counts {
		if n > 0 {
			m[i] = n
		}
	}
	return m
}

// marking is a gateway that answers each request for its announcement with a different key,
// all with one id, and tries all of them on every request.
type marking struct {
	w      *testbed
	honest http.Handler
	mu     sync.Mutex
	keys   []*ohttp.Key
	opened map[int]int // packages by the key that opened them
}

func (m *marking) ServeHTTP(a http.ResponseWriter, q *http.Request) {
	if q.Method == http.MethodPost {
		m.try(q)
		m.honest.ServeHTTP(a, q)
		return
	}
	answer := endpointtest.NewRecorder()
	m.honest.ServeHTTP(answer, q)
	if answer.Code == http.StatusOK && q.URL.Path == secvmmachines.AnnouncementPath {
		b := m.mark(answer.Body.Bytes())
		answer.Body = bytes.NewBuffer(b)
	}
	a.WriteHeader(answer.Code)
	_, _ = a.Write(answer.Body.Bytes())
}

// mark puts a different key into the newest link and signs it.
func (m *marking) mark(announcement []byte) []byte {
	m.mu.Lock()
	defer m.mu.Unlock()
	signed, err := os.ReadFile(filepath.Join(m.w.config.Home, "configuration"))
	check(m.w.t, err)
	c, err := secvmmachines.DecodeConfiguration(signed)
	check(m.w.t, err)
	a, err := secvmmachines.DecodeAnnouncement(c.Params, announcement)
	check(m.w.t, err)
	seed := bytes.Repeat([]byte{byte(len(m.keys) + 1)}, 32)
	key, err := ohttp.NewKey(1, seed)
	check(m.w.t, err)
	m.keys = append(m.keys, key)
	last := a.Chain[len(a.Chain)-1].Link
	copy(last.Key[:], key.Config().Encode())
	a.Chain = a.Chain[:len(a.Chain)-1].Extend(last, func(b []byte) []byte { return ed25519.Sign(m.w.config.Identity.SigningKey(), b) })
	return a.Encode()
}

// try records the key that opens a request.
func (m *marking) try(q *http.Request) {
	m.mu.Lock()
	defer m.mu.Unlock()
	b, err := io.ReadAll(q.Body)
	check(m.w.t, err)
	q.Body = io.NopCloser(bytes.NewReader(b))
	for i, k := range m.keys {
		if _, _, err := k.Decapsulate(b); err == nil {
			m.opened[i]++
		}
	}
}

// Attack: keys that distinguish devices. The strongest adversary is a gateway that signs a
// different announcement for every request, with a different key, and tries all keys on all
// packages. Relay and issuer follow the protocol: the relay gives one answer to all
// requests at about that time, and both have countersigned one link. No device sends a
// package under a key of its own.
func TestAttackKeyForEachDevice(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newTestbed(t, privacypass.BlindRSA, 20, nil)
		m := &marking{w: w, honest: w.atGateway, opened: map[int]int{}}
		w.atGateway = m
		reports, errs := w.attacked()
		if len(m.keys) == 0 {
			t.Fatal("nobody was marked: the test shows nothing")
		}
		if len(m.opened) != 0 || len(acknowledged(reports)) != 0 {
			t.Errorf("packages by the key that opened them: %v; devices that sent: %v", m.opened, acknowledged(reports))
		}
		for i, err := range errs {
			if !errors.Is(err, secvmmachines.ErrForked) {
				t.Errorf("device %d: %v", i, err)
			}
		}
	})
}

// Attack: a configuration for each device, whose token keys, windows or bins distinguish
// devices. The strongest adversary is a gateway that has signed it and announces windows
// for it; without relay and issuer it gets no package.
func TestAttackConfigurationForOneDevice(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newTestbed(t, privacypass.BlindRSA, 20, nil)
		o := w.outsider()
		sign := func(b []byte) []byte { return ed25519.Sign(w.config.Identity.SigningKey(), b) }
		own := *o.configuration
		own.Grace++
		signed, err := own.Sign(sign)
		check(t, err)
		o.begin()
		a, _ := o.announcement()
		last := a.Chain[0].Link
		last.Configuration = own.Hash()
		a.Chain = secvmmachines.Chain(nil).Extend(last, sign)
		honest := w.atGateway
		w.atGateway = http.HandlerFunc(func(r http.ResponseWriter, q *http.Request) {
			if q.URL.Path == secvmmachines.AnnouncementPath {
				_, _ = r.Write(a.Encode())
				return
			}
			honest.ServeHTTP(r, q)
		})
		time.Sleep(time.Second) // the relay asks again
		d := w.device(victim, func(c *device.Config) { c.Configuration = signed; c.Early = 1 })
		ctx, cancel := context.WithTimeout(t.Context(), attackT)
		defer cancel()
		if err := d.Run(ctx); !errors.Is(err, secvmmachines.ErrConfiguration) {
			t.Errorf("%v", err)
		}
		if n := w.metric("counted") + w.metric("waiting"); n != 0 {
			t.Errorf("the device has sent %d packages", n)
		}
	})
}

// favouring is an issuer that serves one device only, and may lie about the number of
// served devices.
func (w *testbed) favouring(lie bool) {
	who := request.NameOf(credential(victim).Public().(ed25519.PublicKey))
	key := newIdentity(w.t, "issuer")
	w.net.serve(atIssuer, http.HandlerFunc(func(a http.ResponseWriter, q *http.Request) {
		switch {
		case q.URL.Path == "/" && q.Header.Get(request.NameHeader) != who:
			http.Error(a, "come again", http.StatusServiceUnavailable)
		case q.URL.Path == secvmmachines.StatementPath && lie:
			answer := endpointtest.NewRecorder()
			w.issuer.ServeHTTP(answer, q)
			if s, err := secvmmachines.DecodeStatement(answer.Body.Bytes(), key.Public().Sign); err == nil {
				s.Devices = 1000
				_, _ = a.Write(s.Sign(func(b []byte) []byte { return ed25519.Sign(key.SigningKey(), b) }))
				return
			}
			http.Error(a, "come again", http.StatusServiceUnavailable)
		default:
			w.issuer.ServeHTTP(a, q)
		}
	}))
}

// Attack: an issuer that gives tokens to one device only, so that all packages are that
// device's record. It fails against an issuer that counts honestly, and, the strongest
// adversary here, against one that lies about its count and works with the gateway: the
// relay has seen one token. The device sends nothing.
func TestAttackTokensForOneDevice(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	t.Parallel()
	for name, lie := range map[string]bool{"which counts": false, "which lies": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newTestbed(t, privacypass.BlindRSA, 20, nil)
				w.favouring(lie)
				reports, _ := w.attacked()
				if list := acknowledged(reports); len(list) != 0 || !reports[victim].TooFew {
					t.Errorf("devices %v have sent packages; the victim: %+v", list, reports[victim])
				}
				if n := w.metric("counted") + w.metric("waiting"); n != 0 {
					t.Errorf("%d packages came", n)
				}
			})
		})
	}
}

// Attack: issuer and gateway together. The issuer serves one device only, reports many, and
// shows the relay as many tokens that it has issued to itself. It succeeds, and no other
// member could notice: the gateway's counts are the victim's record.
func TestCoalitionOfIssuerAndGateway(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newTestbed(t, privacypass.BlindRSA, 20, func(c *gateway.Config) { c.Least = 1 })
		o := w.outsider()
		made := o.presences(10)
		w.favouring(true)
		stop := make(chan struct{})
		var sending sync.WaitGroup
		sending.Go(func() {
			for {
				for _, b := range made {
					r, err := o.http.Post("http://"+atRelay+secvmmachines.PresencePath, "application/octet-stream", bytes.NewReader(b))
					check(t, err)
					check(t, r.Body.Close())
				}
				select {
				case <-stop:
					return
				case <-time.After(time.Minute):
				}
			}
		})
		reports, _ := w.attacked()
		close(stop)
		sending.Wait()
		w.expectRecord(reports)
	})
}

// Attack: a gateway that is its own issuer, and serves one device only. It succeeds with
// devices that take part in jobs of mode paper.
func TestOwnIssuerServesOneDevice(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newTestbed(t, privacypass.VOPRF, 20, func(c *gateway.Config) { c.Least = 1 })
		w.favouring(false)
		reports, _ := w.attacked()
		w.expectRecord(reports)
	})
}

// expectRecord checks that only the victim has sent packages, and that the gateway's counts
// are its record with its label.
func (w *testbed) expectRecord(reports []device.Report) {
	w.t.Helper()
	if list := acknowledged(reports); !slices.Equal(list, []int{victim}) {
		w.t.Fatalf("devices %v have sent packages", list)
	}
	tally := w.counted()
	side := map[string][]uint64{"-1": tally.Minus, "+1": tally.Plus}[w.rows.Labels[victim]]
	if want := w.record(w.outsider().configuration, victim); !maps.Equal(ones(side), want) {
		w.t.Errorf("read %v, the victim's record is %v", ones(side), want)
	}
}

// presences returns tokens for the relay that an issuer gives to invented devices.
func (o *outsider) presences(n int) (list [][]byte) {
	for row := range n {
		if row == victim {
			continue
		}
		list = append(list, o.give(row, 0, o.configuration.PresenceToken(0))[0])
	}
	return append(list, o.give(n, 0, o.configuration.PresenceToken(0))...)
}

// A gateway whose home is an old copy shows witnesses a shorter history than they know: it
// ends with an explanation, before any device receives two histories.
func TestOldCopyOfAHome(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newTestbed(t, privacypass.BlindRSA, 10, nil)
		run := func(long time.Duration) error {
			ctx, cancel := context.WithTimeout(t.Context(), long)
			defer cancel()
			_, err := w.gateway.Run(ctx)
			return err
		}
		if err := run(time.Minute); !errors.Is(err, context.DeadlineExceeded) {
			t.Fatal(err)
		}
		old := map[string][]byte{}
		for _, name := range []string{"state", "key-0"} {
			b, err := os.ReadFile(filepath.Join(w.config.Home, name))
			check(t, err)
			old[name] = b
		}
		if err := run(time.Hour); !errors.Is(err, context.DeadlineExceeded) { // two more windows
			t.Fatal(err)
		}
		check(t, w.gateway.Close())
		for name, b := range old {
			check(t, os.WriteFile(filepath.Join(w.config.Home, name), b, 0o600))
		}
		w.open()
		if err := run(time.Hour); err == nil || !strings.Contains(err.Error(), "check that this home is not an old copy") {
			t.Errorf("%v", err)
		}
	})
}

// Attack: relay and gateway together. The relay knows the sender of each sealed request,
// and the gateway opens it. It succeeds.
func TestCoalitionOfRelayAndGateway(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	t.Parallel()
	s := observe(t)
	bins := map[int]bool{}
	packages := 0
	for _, e := range s.Relay {
		if e.From != "device 2" {
			continue
		}
		packages++
		for _, k := range s.Keys {
			b, _, err := k.Decapsulate(e.Request.Body)
			if err != nil {
				continue
			}
			q, err := bhttp.ParseRequest(b)
			check(t, err)
			spent, err := secvmmachines.DecodeSpent(q.Content, s.TokenSize)
			check(t, err)
			if spent.Iteration == 0 && spent.Kind == secvmmachines.Training && spent.Index < 16 {
				bins[int(spent.Index)] = true
			}
		}
	}
	p, err := secvmmachines.NewParams(secvmmachines.Spec{Name: "same bins", Bins: 16, Packages: 1 << 10, Cohort: 10})
	check(t, err)
	whole := map[int]bool{}
	for _, e := range p.Vector(secvm.Features(words(observed).X, victim)) {
		whole[e.Bin] = true
	}
	if packages == 0 || len(bins) == 0 {
		t.Fatalf("%d packages of the victim, %d bins", packages, len(bins))
	}
	for b := range bins {
		if !whole[b] {
			t.Errorf("bin %d was read, which the victim has not", b)
		}
	}
}
