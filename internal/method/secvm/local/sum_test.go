package local

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/internal/method/local/dropout"
	"github.com/mercer-fl/mercer/internal/method/secvm"
	"github.com/mercer-fl/mercer/internal/method/sums"
	"github.com/mercer-fl/mercer/internal/method/sums/local/clients"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/memory"
	"github.com/mercer-fl/mercer/protocol/secagg"
	secvmmachines "github.com/mercer-fl/mercer/protocol/secvm"
)

// addedUp is a small job whose windows are sums.
const addedUp = `apiVersion: mercer/v1
kind: Job
metadata: {name: added-up}
spec:
  data:
    source: words.svm
    label: label
    partition: {by: devices}
    test: {fraction: 0.25}
  protocol: {name: secvm, bins: 64, packages: 24, cohort: 30, aggregation: secagg, corrupted: 0.05, dropped: 0.1}
  kernel: {name: linear}
  learner: {name: linear-svm, lambda: 0.01, iterations: 3}
  compare: []
`

func summedConfig(t *testing.T, changes ...string) people {
	t.Helper()
	c := devicesConfig(t, strings.NewReplacer(changes...).Replace(addedUp))
	c.rows = words(60)
	return c
}

// Sums give the very model that packages give, whether classes are weighted or
// not, and the same test counts.
func TestSumsGiveThePackagesModel(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	for name, learner := range map[string]string{"plain": "iterations: 2}", "weighted": `iterations: 1, class_weight: {"+1": 3}}`} {
		t.Run(name, func(t *testing.T) {
			summed := runDevices(t, summedConfig(t, "iterations: 3}", learner))
			sent := runDevices(t, summedConfig(t, "iterations: 3}", learner, "aggregation: secagg, corrupted: 0.05, dropped: 0.1", "aggregation: packages"))
			if summed.ModelHash != sent.ModelHash || fmt.Sprint(summed.Metrics, figuresOf(t, summed).Classes) != fmt.Sprint(sent.Metrics, figuresOf(t, sent).Classes) {
				t.Errorf("sums: %v %v, packages: %v %v", summed.Metrics, figuresOf(t, summed).Classes, sent.Metrics, figuresOf(t, sent).Classes)
			}
			if summed.Exact == nil || !*summed.Exact || sent.Exact != nil || figuresOf(t, sent).Sums != nil {
				t.Errorf("exact %v and %v", summed.Exact, sent.Exact)
			}
			if len(figuresOf(t, summed).Sums) != figuresOf(t, summed).Windows || figuresOf(t, summed).Sums[0].Added != 60 {
				t.Errorf("%+v", figuresOf(t, summed).Sums)
			}
		})
	}
}

// A tenth vanishes from each window, others each time; each sum is over the devices that
// remain.
func TestSumsWithDropouts(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	r := runDevices(t, summedConfig(t, "{by: devices}", "{by: devices, dropout: 0.1}"))
	if !*r.Exact || len(figuresOf(t, r).Sums) != 4 {
		t.Errorf("exact %v, %d sums", *r.Exact, len(figuresOf(t, r).Sums))
	}
	for _, s := range figuresOf(t, r).Sums {
		if s.Vanished != 6 || s.Added < 54 || s.Added == 60 {
			t.Errorf("%+v", s)
		}
	}
	if server := fmt.Sprint(r.Leakage["server"]); !strings.Contains(server, "which devices take part") || !strings.Contains(server, "differ by one") {
		t.Errorf("%s", server)
	}
}

func TestBadSums(t *testing.T) {
	for want, changes := range map[string][]string{
		`6 may vanish in a window, but a step requires at least 44 participants; lower "cohort" or "dropout"`: {"cohort: 30", "cohort: 44", "{by: devices}", "{by: devices, dropout: 0.1}"},
		`devices train, but a step requires at least 59 participants; lower "cohort"`:                         {"cohort: 30", "cohort: 59"},
	} {
		if _, err := summedConfig(t, changes...).play(context.Background()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if _, err := summedConfig(t).play(ctx); err == nil {
		t.Error("a cancelled job ends well")
	}
}

// windowOf is a few devices with a first window called.
func windowOf(t *testing.T, changes ...string) (*records, secvm.Call) {
	t.Helper()
	c := summedConfig(t, changes...)
	roles, err := drawRoles(c)
	if err != nil {
		t.Fatal(err)
	}
	r, err := enlist(c, roles)
	if err != nil {
		t.Fatal(err)
	}
	_, w := r.server.Published()
	return r, r.call(t, 0, w, r.summing.Names)
}

func (r *records) call(t *testing.T, iteration uint32, w []float64, devices []string) secvm.Call {
	t.Helper()
	s, err := r.summing.windows.Window(iteration, w, devices)
	if err != nil {
		t.Fatal(err)
	}
	return secvm.Call{Iteration: iteration, Weights: w, Devices: devices, Session: s.Session.ID()}
}

// Attack: a second sum of one iteration, without one device, would give that device's record.
// Every device adds to an iteration once, with any weights and any cohort.
func TestRule11_OneSummandForEachIteration(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	r, call := windowOf(t)
	if _, err := r.sumUp(t.Context(), 0, call.Weights); err != nil {
		t.Fatal(err)
	}
	summands, err := r.summands(call)
	if err != nil {
		t.Fatal(err)
	}
	other := slices.Clone(call.Weights)
	other[3] = .5
	for name, again := range map[string]secvm.Call{
		"without one":   r.call(t, 0, call.Weights, r.summing.Names[1:]),
		"other weights": r.call(t, 0, other, r.summing.Names),
	} {
		s, _, err := r.summing.windows.Accept(again)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := r.summing.Sum(t.Context(), s, nil, func(i int) secagg.Vector { return summands[i] }); err == nil {
			t.Errorf("%s: a second sum of the iteration", name)
		}
	}
}

// Attack: differencing (Mercer's rule 25). It succeeds: two iterations with the
// same weights, from the second of which one device is missing, differ by that
// device's record, its label and its role. Documents say so.
func TestAttackDifferenceOfIterations(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	r, call := windowOf(t)
	victim := slices.Index(r.roles, secvmmachines.Train)
	all, err := r.sumUp(t.Context(), 0, call.Weights)
	if err != nil {
		t.Fatal(err)
	}
	summands, err := r.summands(call)
	if err != nil {
		t.Fatal(err)
	}
	rest := slices.Delete(slices.Clone(r.summing.Names), victim, victim+1)
	s, _, err := r.summing.windows.Accept(r.call(t, 1, call.Weights, rest))
	if err != nil {
		t.Fatal(err)
	}
	second, err := r.summing.Sum(t.Context(), s, nil, func(i int) secagg.Vector { return summands[i] })
	if err != nil {
		t.Fatal(err)
	}
	got, want := make([]int64, 65), make([]int64, 65)
	summands[victim].Read(0, 0, want)
	for j := range got {
		got[j] = all.Blocks[0][j] - second.Sums[0][j]
	}
	if !slices.Equal(got, want) || slices.Equal(want, make([]int64, 65)) {
		t.Errorf("the difference is %v, the victim's record %v", got, want)
	}
}

// Attack: weights for one device alone. A device that receives other weights derives another
// session. If the server follows, no other device has signed for that session, and the device
// blames the server before it has sent its summand.
func TestAttackOwnWeightsInASum(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	r, call := windowOf(t)
	own := slices.Clone(call.Weights)
	own[7] = 9
	told := call
	told.Weights = own
	if _, _, err := r.summing.windows.Accept(told); err == nil || !strings.Contains(err.Error(), "does not match the iteration 0 and the weights of the call") {
		t.Errorf("other weights under the devices' session: %v", err)
	}
	alone, err := r.summing.windows.Window(0, own, r.summing.Names)
	if err != nil {
		t.Fatal(err)
	}
	honest := r.spies(t, call)
	victim := r.client(t, alone, own, 0)
	if _, err := victim.Step(protocol.Start{InputHash: victim.InputHash()}); err != nil {
		t.Fatal(err)
	}
	forge := func(kind string, body []byte) (protocol.Effects, error) {
		m := *of(honest[0].got, kind)
		m.Session, m.Body = alone.Session.ID(), body
		return victim.Step(protocol.Received{Message: m})
	}
	effects, err := forge("Cohort", of(honest[0].got, "Cohort").Body)
	if err != nil {
		t.Fatal(err)
	}
	chosen, keys := wire.NewReader(effects.Send[0].Body), new(wire.Writer)
	n := chosen.Uint32()
	keys.Uint32(n)
	for range n {
		i := chosen.Uint32()
		keys.Uint32(i)
		keys.Fixed(of(honest[i].sent, "AdvertiseKeys").Body)
	}
	var blame *protocol.BlameError
	if _, err = forge("HolderKeys", keys.Bytes()); !errors.As(err, &blame) || blame.Party != clients.Server || !strings.Contains(err.Error(), "the signature of the client's keys is not valid") {
		t.Errorf("the others' keys in a session of its own: %v", err)
	}
}

// Attacks: link devices' messages to their records, by size, number, time or value. With the same
// secrets and other records, roles and sides of the margin, every message of every device is equal
// to the byte, except for the masked vectors. These have one size and look alike, independent of
// the vectors under the masks.
func TestAttackLinkSummands(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	r, call := windowOf(t)
	spies := r.spies(t, call)
	r.devices = append(r.devices[1:], r.devices[0])
	others := r.spies(t, call)
	for i, s := range spies {
		if len(s.sent) != 6 || len(others[i].sent) != 6 {
			t.Fatalf("%s sends %d and %d messages", s.name, len(s.sent), len(others[i].sent))
		}
		for k, m := range s.sent {
			o := others[i].sent[k]
			if m.Header != o.Header || len(m.Body) != len(o.Body) || m.Kind != "MaskedInput" && !bytes.Equal(m.Body, o.Body) {
				t.Errorf("%s: %s of %d bytes differs from %s of %d with another record", s.name, m.Kind, len(m.Body), o.Kind, len(o.Body))
			}
		}
		if n := len(of(spies[0].sent, "MaskedInput").Body); len(of(s.sent, "MaskedInput").Body) != n {
			t.Errorf("%s sends a vector of another size than %d bytes", s.name, n)
		}
	}
	// Words of a masked vector are uniform: of each byte's 256 values about as many.
	var counts [256]float64
	total := 0.
	for _, s := range spies {
		body := of(s.sent, "MaskedInput").Body
		for _, b := range body[len(body)-8*(len(body)/8):] {
			counts[b]++
			total++
		}
	}
	chi := 0.
	for _, n := range counts {
		chi += (n - total/256) * (n - total/256) / (total / 256)
	}
	if chi > 255+6*22.6 { // 6 deviations
		t.Errorf("chi-square %.0f over %.0f bytes with 255 degrees of freedom", chi, total)
	}
}

// spy is a client whose messages are on record.
type spy struct {
	*secagg.Client
	name      string
	sent, got []protocol.Message
}

// Step implements protocol.Machine.
func (s *spy) Step(e protocol.Event) (protocol.Effects, error) {
	if m, ok := e.(protocol.Received); ok {
		s.got = append(s.got, m.Message)
	}
	effects, err := s.Client.Step(e)
	for _, m := range effects.Send {
		m.Body = slices.Clone(m.Body)
		s.sent = append(s.sent, m)
	}
	return effects, err
}

// of is the first message of a kind.
func of(list []protocol.Message, kind string) *protocol.Message {
	i := slices.IndexFunc(list, func(m protocol.Message) bool { return m.Kind == kind })
	return &list[i]
}

// client is a device's machine in a window.
func (r *records) client(t *testing.T, s sums.Summation, weights []float64, device int) *secagg.Client {
	t.Helper()
	checked, err := r.server.Params().Weights(weights)
	if err != nil {
		t.Fatal(err)
	}
	summand, err := r.devices[device].Summand(checked)
	if err != nil {
		t.Fatal(err)
	}
	id := secagg.Identity{Sign: r.summing.Sign(device), Keys: r.summing.Public(r.summing.Names)}
	m, err := secagg.NewClient(r.summing.Setup(s, r.summing.Names[device]), s.Params, summand, id)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// spies runs a window and returns what each client sent and heard.
func (r *records) spies(t *testing.T, call secvm.Call) []*spy {
	t.Helper()
	s, _, err := r.summing.windows.Accept(call)
	if err != nil {
		t.Fatal(err)
	}
	spies, seats := make([]*spy, len(r.devices)), make([]dropout.Client, len(r.devices))
	for i, name := range r.summing.Names {
		spies[i] = &spy{Client: r.client(t, s, call.Weights, i), name: name}
		seats[i] = dropout.Client{Name: name, Machine: spies[i], InputHash: spies[i].InputHash(), Ledger: new(memory.Ledger)}
	}
	server, err := secagg.NewServer(r.summing.Setup(s, clients.Server), s.Params, r.summing.Public(r.summing.Names), secagg.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := dropout.Run(t.Context(), dropout.Config{Session: s.Session, Server: server, Clients: seats}); err != nil {
		t.Fatal(err)
	}
	return spies
}

// One entry or one participant more than the packages have makes the sums of a job inexact.
func TestSumsThatAreOff(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	r, call := windowOf(t)
	sum, err := r.sumUp(t.Context(), 0, call.Weights)
	if err != nil || !r.summing.exact {
		t.Fatalf("exact %v, error %v", r.summing.exact, err)
	}
	for name, bend := range map[string]func(by int){
		"an entry":      func(by int) { sum.Blocks[0][3] += int64(by) },
		"a participant": func(by int) { sum.Participants[0] += uint64(by) },
	} {
		bend(1)
		r.summing.exact = true
		if err := r.compareSum(sum, r.summing.Names, call); err != nil || r.summing.exact {
			t.Errorf("%s is off: exact %v, error %v", name, r.summing.exact, err)
		}
		bend(-1)
	}
}
