//go:build slow

package demo_test

import (
	"context"
	"errors"
	"maps"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mercer-fl/mercer/internal/attack/traffic"
	"github.com/mercer-fl/mercer/internal/daemon"
	"github.com/mercer-fl/mercer/internal/local/demo"
	"github.com/mercer-fl/mercer/ohttp"
	"github.com/mercer-fl/mercer/privacypass"
	"github.com/mercer-fl/mercer/protocol/secvm"
)

// windowVariable sets another length of windows than ten seconds, for a busy machine.
const windowVariable = "MERCER_CROWD_WINDOW"

// largeFederation is 500 devices in 25 processes, with issuer, relay and gateway, 16
// packages each in a window, five steps and a testing window.
type largeFederation struct {
	*onlooker
	demo.DevicesConfig
	atRelay, atGateway *traffic.Tap
	tokens             map[uint32]map[int][]*privacypass.Token
	whose              map[[32]byte]int // row by a token's nonce
	opens              []time.Time
	keys               map[string]*ohttp.Key // of windows, by file
	attacked           bool
	over               *totals
}

const (
	largeDevices  = 500
	largePackages = 16
	largeSteps    = 5
	largeTotal    = largeDevices * largePackages * (largeSteps + 1)
)

func foundLargeFederation(t *testing.T) *largeFederation {
	t.Helper()
	text := strings.NewReplacer("packages: 5", "packages: 16", "cohort: 8", "cohort: 100", "iterations: 2", "iterations: 5").Replace(devicesJob)
	c := devicesConfig(t, text, largeDevices)
	c.Window = 10 * time.Second
	if set := os.Getenv(windowVariable); set != "" {
		var err error
		c.Window, err = time.ParseDuration(set)
		check(t, err)
	}
	c.Grace, c.Pause, c.Lead = c.Window/2, c.Window, c.Window
	c.Least, c.Batch, c.Early, c.Processes = 256, 16, largeSteps+1, 25
	f, err := demo.FoundDevices(c)
	check(t, err)
	t.Cleanup(func() { check(t, f.Stop()) })
	return &largeFederation{keys: map[string]*ohttp.Key{}, onlooker: &onlooker{t: t, devices: f}, DevicesConfig: c, atRelay: tap(t, f, demo.Relay), atGateway: tap(t, f, demo.Gateway)}
}

// tap makes all others reach a process through this one, which records every byte.
func tap(t *testing.T, f *demo.Devices, name string) *traffic.Tap {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	check(t, err)
	t.Cleanup(func() { check(t, l.Close()) })
	behind := f.Divert(name, l.Addr().String())
	at := traffic.NewTap(func() (net.Conn, error) { return net.Dial("tcp", behind) })
	go at.Serve(l)
	return at
}

// 500 devices as processes, 20 in each, with tokens before the first window: the model
// equals the simulation's model, bit for bit; no byte that relay and gateway see links
// packages to each other; and a request that is no package of the window is refused and
// counted.
func TestLargeDevices(t *testing.T) {
	l := foundLargeFederation(t)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute+7*3*l.Window)
	defer cancel()
	if err := l.devices.Prepare(ctx); err != nil {
		t.Fatalf("%v\n%s", err, l.devices.Logs())
	}
	l.onlooker = onlook(t, l.devices)
	l.readTokens()
	check(t, l.devices.StartProcess(demo.Gateway))
	r, err := l.devices.Wait(ctx, l.watch)
	if err != nil {
		t.Fatalf("%v\n%s", err, l.devices.Logs())
	}
	check(t, l.devices.Stop())
	cpu, _ := daemon.UsageOfChildren()
	t.Logf("windows of %v; all processes took %.1f CPU seconds, %d tokens included", l.Window, cpu, largeTotal)

	if r.Devices.Acknowledged != largeTotal || r.Devices.Refused+r.Devices.Lost != 0 {
		t.Errorf("%+v, where %d packages were to be acknowledged", r.Devices, largeTotal)
	}
	if want := simulatedModel(t, l.Job, l.Rows); r.Gateway.SHA256 != want {
		t.Errorf("model %s, simulated %s", r.Gateway.SHA256, want)
	}
	relay, errRelay := l.atRelay.Seen()
	gateway, errGateway := l.atGateway.Seen()
	check(t, errors.Join(errRelay, errGateway))
	t.Logf("%d requests at the relay, %d at the gateway", len(relay), len(gateway))
	s := l.scene(gateway, relay)
	check(t, s.Open())
	l.checkTotals(s)
	l.checkUnlinkable(s)
}

// readTokens reads the owners of tokens.
func (l *largeFederation) readTokens() {
	l.tokens, l.whose = l.onlooker.tokens(), map[[32]byte]int{}
	for _, rows := range l.tokens {
		for row, list := range rows {
			for _, one := range list {
				l.whose[one.Nonce] = row
			}
		}
	}
	if len(l.whose) != largeTotal {
		l.t.Fatalf("before the first window devices hold %d tokens, where %d are to be spent", len(l.whose), largeTotal)
	}
}

// readKeys reads the key of the open window: it is in the gateway's home, and is erased
// with the window.
func (l *largeFederation) readKeys() {
	files, err := filepath.Glob(filepath.Join(l.devices.Dir, demo.Gateway, "key-*"))
	check(l.t, err)
	for _, f := range files {
		seed, err := os.ReadFile(f)
		if l.keys[f] != nil || err != nil { // erased just now
			continue
		}
		k, err := ohttp.NewKey(1, seed)
		if err != nil { // half erased
			continue
		}
		l.keys[f] = k
	}
}

// watch attacks in the second window, and reads the counters when the last packages have
// arrived.
func (l *largeFederation) watch(windows int) {
	l.readKeys()
	if windows > largeSteps {
		return
	}
	if len(l.opens) <= windows {
		l.opens = l.onlooker.opens()
	}
	if len(l.opens) <= windows {
		return
	}
	open := time.Since(l.opens[windows])
	switch {
	case windows == 1 && open > l.Window/3 && !l.attacked:
		l.attacked = true
		l.attack()
	case windows == largeSteps && open > l.Window+l.Grace*3/4 && l.over == nil:
		l.over = l.totals()
	}
}

// each is the number of invalid requests of each kind that the test sends.
const each = 5

// attack sends invalid packages, and devices' requests for more tokens.
func (l *largeFederation) attack() {
	l.sealing = l.client()
	p := secvm.Package{Tag: l.configuration.Params.Tag(), Iteration: 1, Kind: secvm.Participation}
	var sending sync.WaitGroup // concurrently, because the window is short
	expect := func(name string, status int, send func(k int) int) {
		for k := range each {
			sending.Go(func() {
				if got := send(k); got != status {
					l.t.Errorf("%s: status %d, want %d", name, got, status)
				}
			})
		}
	}
	expect("tokenless", http.StatusUnauthorized, func(int) int { return l.post(p.Encode()) })
	expect("forged", http.StatusForbidden, func(k int) int {
		forged := *l.tokens[1][k][0]
		forged.Nonce[0] ^= 1
		return l.post(secvm.Spent{Token: forged.Encode(), Package: p}.Encode())
	})
	expect("late", http.StatusGone, func(k int) int {
		past := p
		past.Iteration = 0
		return l.post(secvm.Spent{Token: l.tokens[0][k][0].Encode(), Package: past}.Encode())
	})
	expect("over quota", http.StatusConflict, func(k int) int { return l.askAgain("devices0", k, 1) })
	spent := l.spent()
	expect("duplicate", http.StatusAlreadyReported, func(k int) int { // another package for a spent token
		content := secvm.Spent{Token: spent[k], Package: p}.Encode()
		for {
			if got := l.post(content); got != http.StatusAccepted { // the status while the first package waits
				return got
			}
		}
	})
	sending.Wait()
}

// spent returns as many tokens as each says that have been spent in this window and
// answered.
func (l *largeFederation) spent() [][]byte {
	seen, err := l.atGateway.Seen()
	check(l.t, err)
	s := l.scene(seen, nil)
	digest := l.configuration.PackageToken(1).Digest()
	var list [][]byte
	for _, e := range slices.Backward(seen) {
		if len(list) == each {
			break
		}
		t, err := s.Token(e)
		check(l.t, err)
		if t == nil || t.Challenge != digest || e.Answer.Head == "" {
			continue
		}
		if _, honest := l.whose[t.Nonce]; honest {
			list = append(list, t.Encode())
		}
	}
	if len(list) != each {
		l.t.Fatalf("in mid-window %d tokens have been spent", len(list))
	}
	return list
}

// totals holds the counters' values after the last package, and the tap's records at the
// gateway before and after the counters were read.
type totals struct {
	packages      int // recorded
	outcomes      map[string]int
	overQuota     int
	before, after []traffic.Exchange
}

func (l *largeFederation) totals() *totals {
	v := &totals{outcomes: map[string]int{}}
	var errs [2]error
	v.before, errs[0] = l.atGateway.Seen()
	for _, name := range []string{"counted", "duplicate", "waiting", "malformed", "tokenless", "forged", "other iteration", "late", "crowded"} {
		v.outcomes[name] = l.outcome(demo.Gateway, name)
	}
	v.packages, v.overQuota = l.metric(demo.Gateway, "mercer_gateway_packages_total"), l.outcome(demo.Issuer, "over quota")
	v.after, errs[1] = l.atGateway.Seen()
	check(l.t, errors.Join(errs[:]...))
	return v
}

// checkTotals compares the counters with the numbers of sent requests.
func (l *largeFederation) checkTotals(s *traffic.Scene) {
	v := l.over
	if v == nil {
		l.t.Fatal("the last window went by too fast to read the counters")
	}
	l.t.Logf("requests with a package by outcome: %v; %d packages recorded", v.outcomes, v.packages)
	for name, want := range map[string]int{"tokenless": each, "forged": each, "late": each, "malformed": 0, "other iteration": 0, "crowded": 0} {
		if got := v.outcomes[name]; got != want {
			l.t.Errorf("%s: %d, want %d", name, got, want)
		}
	}
	// The last answer to every package is that it counts or, if it was sent again, that it
	// was counted before.
	if got, want := v.outcomes["duplicate"], largeTotal-v.outcomes["counted"]+each; got != want {
		l.t.Errorf("duplicates: %d, want %d", got, want)
	}
	if v.packages != largeTotal || v.overQuota != each {
		l.t.Errorf("%d packages recorded, %d requests over quota; want %d, %d", v.packages, v.overQuota, largeTotal, each)
	}
	answers, answered, arrived := 0, 0, 0
	for _, n := range v.outcomes {
		answers += n
	}
	for _, e := range v.before {
		if s.IsPackage(e) && e.Answer.Head != "" {
			answered++
		}
	}
	for _, e := range v.after {
		if s.IsPackage(e) {
			arrived++
		}
	}
	if answers < answered || answers > arrived {
		l.t.Errorf("the counters know %d requests with a package, where %d to %d were seen", answers, answered, arrived)
	}
}

// scene returns the scene that the taps have recorded.
func (l *largeFederation) scene(gateway, relay []traffic.Exchange) *traffic.Scene {
	return &traffic.Scene{
		Relay: relay, Gateway: gateway, Opens: l.opens, Window: l.Window, Devices: largeDevices, Packages: largePackages,
		TokenSize: privacypass.Type(l.configuration.TokenType).Size(), Keys: slices.Collect(maps.Values(l.keys)),
		Device: func(_ traffic.Exchange, t *privacypass.Token) int {
			if row, known := l.whose[t.Nonce]; known {
				return row
			}
			return -1
		},
	}
}

// checkUnlinkable tries to link packages by every byte that relay and gateway have seen.
func (l *largeFederation) checkUnlinkable(s *traffic.Scene) {
	for name, link := range map[string]func() error{"size": s.BySize, "bytes": s.ByBytes, "id": s.ByID, "own connection": s.ByOwnConnection} {
		if err := link(); err != nil {
			l.t.Errorf("by %s: %v", name, err)
		}
	}
	times, err := s.ByTime()
	if err != nil {
		l.t.Errorf("by time: %v", err)
	}
	order, err := s.ByOrder()
	if err != nil {
		l.t.Errorf("by order: %v", err)
	}
	connections, err := s.ByConnection()
	if err != nil {
		l.t.Errorf("by connection: %v", err)
	}
	l.t.Logf("times: %v; neighbours: %v; connections: %v", times, order, connections)
}
