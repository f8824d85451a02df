package secvm

import (
	"crypto/ed25519"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/internal/method/sums"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/protocoltest"
	"github.com/mercer-fl/mercer/protocol/secagg"
	"github.com/mercer-fl/mercer/protocol/secvm"
	"github.com/mercer-fl/mercer/protocol/sim"
)

const windowJob = `apiVersion: mercer/v1
kind: Job
metadata: {name: window}
spec:
  data: {source: words.svm, label: label, partition: {by: devices}}
  protocol: {name: secvm, bins: 12, packages: 6, cohort: 3, aggregation: secagg, corrupted: 0.25, dropped: 0.25}
  kernel: {name: linear}
  learner: {name: linear-svm, iterations: 9}
`

// read reads a job file that has no mistake.
func read(t testing.TB, text string) *job.Job {
	t.Helper()
	j, err := (&job.Reader{Protocols: []job.Protocol{Protocol()}, Learners: learner.Table()}).Parse("job.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return j
}

// windowDevices is a few devices at the window of an iteration.
type windowDevices struct {
	Summed
	call    Call
	names   []string
	keys    []ed25519.PrivateKey
	public  []ed25519.PublicKey
	devices []*secvm.Device
}

func newWindowDevices(t testing.TB, devices int) *windowDevices {
	t.Helper()
	j := read(t, windowJob)
	p, err := secvm.NewParams(SpecOf(j))
	if err != nil {
		t.Fatal(err)
	}
	c := &windowDevices{Summed: Summed{Job: j, ID: job.ID{1}, Server: "server", Params: p}}
	for i := range devices {
		c.names = append(c.names, fmt.Sprintf("device-%d", i+1))
		c.keys = append(c.keys, ed25519.NewKeyFromSeed(append(make([]byte, 31), byte(i))))
		c.public = append(c.public, c.keys[i].Public().(ed25519.PublicKey))
		r := secvm.Record{Vector: secvm.Vector{{Bin: i, Count: 1 + i%2}, {Bin: i + 3, Count: 1}}, Label: int8(1 - i%2*2)}
		d, err := secvm.NewDevice(p, r, secvm.Role(i%4/3))
		if err != nil {
			t.Fatal(err)
		}
		c.devices = append(c.devices, d)
	}
	c.Roster = sums.HashKeys(c.names, c.public)
	c.call = c.of(t, 2, make([]float64, p.Features()))
	return c
}

// of is the honest server's call.
func (c *windowDevices) of(t testing.TB, iteration uint32, weights []float64) Call {
	t.Helper()
	s, err := c.Window(iteration, weights, c.names)
	if err != nil {
		t.Fatal(err)
	}
	return Call{Iteration: iteration, Weights: weights, Devices: c.names, Session: s.Session.ID()}
}

// nodes are the server and the devices, each with a session of its own making.
func (c *windowDevices) nodes(t testing.TB) (*protocol.Session, []sim.Node) {
	t.Helper()
	s, weights, err := c.Accept(c.call)
	if err != nil {
		t.Fatal(err)
	}
	timers := map[protocol.Timer]int64{}
	for _, name := range []protocol.Timer{secagg.TimerServer, secagg.TimerAdvertise, secagg.TimerShare, secagg.TimerMasked, secagg.TimerConsistency, secagg.TimerUnmask} {
		timers[name] = 1 << 20
	}
	timers[secagg.TimerServer] = 20 << 20
	setup := func(name string) protocol.Setup {
		return protocol.Setup{Session: s.Session, Self: name, Seed: [32]byte{byte(len(name)), name[len(name)-1]}}
	}
	nodes := []sim.Node{{Name: "server", Timers: timers, New: func() (protocol.Machine, error) {
		return secagg.NewServer(setup("server"), s.Params, c.public, secagg.Limits{})
	}}}
	for i, name := range c.names {
		summand, err := c.devices[i].Summand(weights)
		if err != nil {
			t.Fatal(err)
		}
		hash, err := secagg.Hash(s.Params, summand)
		if err != nil {
			t.Fatal(err)
		}
		id := secagg.Identity{Sign: func(m []byte) []byte { return ed25519.Sign(c.keys[i], m) }, Keys: c.public}
		nodes = append(nodes, sim.Node{Name: name, InputHash: hash, Timers: timers, New: func() (protocol.Machine, error) {
			return secagg.NewClient(setup(name), s.Params, summand, id)
		}})
	}
	return s.Session, nodes
}

// isTally refuses a sum that differs from the tally of its members' packages.
func (c *windowDevices) isTally(_ string, m protocol.Machine) error {
	s, ok := m.(*secagg.Server)
	if !ok {
		return nil
	}
	sum, err := secvm.NewSum(c.Params, s.Sums(), len(s.Survivors()))
	if err != nil {
		return err
	}
	if n := len(s.Survivors()); n < c.Minimum(len(c.names)) {
		return fmt.Errorf("a sum of %d devices", n)
	}
	weights, err := c.Params.Weights(c.call.Weights)
	if err != nil {
		return err
	}
	tally := secvm.NewTally(c.Params)
	for i, d := range c.devices {
		if !slices.Contains(s.Survivors(), c.names[i]) {
			continue
		}
		list, err := d.AnswerAsPublished(c.call.Iteration, weights)
		if err != nil {
			return err
		}
		for _, one := range list {
			if err := tally.Add(one); err != nil {
				return err
			}
		}
	}
	got, _, err := sum.Gradient(1, 1)
	if err != nil {
		return err
	}
	if want, _, err := tally.Gradient(1, 1); err != nil || !slices.Equal(got, want) || sum.Census != tally.Census {
		return fmt.Errorf("the sum is %v %+v, the packages' %v %+v; %w", got, sum.Census, want, tally.Census, err)
	}
	return nil
}

// A window keeps what every protocol keeps: schedules, loss, crashes, silence.
func TestWindowProperties(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	protocoltest.Run(t, protocoltest.Protocol{Name: "secvm by secagg", New: func(t testing.TB) protocoltest.Case {
		c := newWindowDevices(t, 4)
		session, nodes := c.nodes(t)
		ownWord := func(h protocol.Header) bool { return h.Sender == "server" || h.Kind == "MaskedInput" }
		return protocoltest.Case{Session: session, Nodes: nodes, InFlight: 16 << 10, Runs: 10, Check: c.isTally, Trusts: ownWord}
	}})
}

// A device refuses calls that a server should not make.
func TestCallsRefused(t *testing.T) {
	c := newWindowDevices(t, 5)
	heavy := make([]float64, c.Params.Features())
	heavy[1] = 1e9
	for want, change := range map[string]func(*Call){
		"the call is for iteration 10": func(k *Call) { *k = c.of(t, 10, k.Weights) },
		"a weight is 1e+09":            func(k *Call) { *k = c.of(t, 2, heavy) },
		"the session of the call":      func(k *Call) { k.Iteration = 3 },
		"the window has 2 devices":     func(k *Call) { k.Devices = c.names[:2] },
		"12 weights":                   func(k *Call) { k.Weights = k.Weights[:12] },
		"the iteration 2":              func(k *Call) { k.Devices = c.names[:4] },
		"the weights of the call":      func(k *Call) { k.Weights = slices.Clone(k.Weights); k.Weights[4] = .25 },
	} {
		call := c.call
		change(&call)
		_, _, err := c.Accept(call)
		var blame *protocol.BlameError
		if !errors.As(err, &blame) || blame.Party != "server" || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}

// Epoch and purpose name the model and the iteration and nothing that a server
// could vary: neither cohort nor weights.
func TestWindowIsSpentByIteration(t *testing.T) {
	c := newWindowDevices(t, 5)
	name := func(iteration uint32, w float64, devices []string) string {
		weights := make([]float64, c.Params.Features())
		weights[0] = w
		s, err := c.Window(iteration, weights, devices)
		if err != nil {
			t.Fatal(err)
		}
		return s.Params.Spec().Epoch + " " + s.Session.Purpose
	}
	first := name(2, 0, c.names)
	if name(2, 1, c.names) != first || name(2, 0, c.names[1:]) != first || name(3, 0, c.names) == first {
		t.Errorf("%q", first)
	}
}

func TestWindowMinimum(t *testing.T) {
	c := newWindowDevices(t, 5)
	for devices, want := range map[int]int{2: 3, 3: 3, 5: 4, 100: 75} { // the model's cohort is 3
		if got := c.Minimum(devices); got != want {
			t.Errorf("of %d devices at least %d, want %d", devices, got, want)
		}
	}
}
