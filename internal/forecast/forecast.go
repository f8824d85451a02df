// Package forecast computes the cost of a job before it runs: the bytes, the rounds, the memory and the
// time of each member. Bytes and rounds follow from the formulas that each protocol keeps beside its
// messages; see [method.Protocol.Forecast]. The time of computing is a count of operations multiplied by
// the seconds of one operation on a machine that [Measure] has measured; the time of messages on the network line
// that [Setting] describes is added.
//
//	machine, err := forecast.Measure()
//	plan, err := forecast.Of(job, sizes, forecast.Setting{Machine: machine, Program: 60 << 20})
//
// A forecast reads a job, and public counts of its tables: rows and columns. It assumes that nobody
// fails, that the parties' sessions need one attempt, and, for solvers whose steps depend on the data,
// a number of steps.
package forecast

import (
	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/node/mail/envelope"
	"github.com/mercer-fl/mercer/protocol"
)

// Coordinator is the coordinator's name in a plan. Names are in the headers of messages.
const Coordinator = "coordinator"

// Setting describes where a job is to run.
type Setting struct {
	Machine Machine
	Program int64    // bytes of memory that the program takes without any data
	Garbage Garbage  // how far the heap grows before garbage is collected
	Link    job.Link // the network line of each member; a zero Rate is a line without limits
}

// Garbage holds the share by which a process lets its heap grow beyond the memory in use before it
// collects garbage: 1 is Go's default.
type Garbage struct{ Coordinator, Party, OneProcess float64 }

// Plan states the costs of one run of a job.
type Plan struct {
	Job      string   `json:"job"`
	Protocol string   `json:"protocol"`
	Members  []Member `json:"members"`
	Steps    []Step   `json:"steps"`
	// Rounds counts the messages of the longest chain in which each waits for the one before.
	Rounds int `json:"rounds"`
	// Seconds is the time from the first step to the last, if each member has a machine of its own.
	Seconds float64 `json:"seconds"`
	// OneProcess is for a process that runs all members, such as mercer simulate.
	OneProcess OneProcess `json:"one_process"`
	// Assumed lists the assumptions about the data on which the times rest.
	Assumed []string `json:"assumed"`
	// Warnings lists what a user should know about the job's result before the job runs.
	Warnings []string `json:"warnings,omitempty"`
	Machine  Machine  `json:"machine"`
}

// OneProcess states the costs of a job whose members all run in one process.
type OneProcess struct {
	Seconds float64 `json:"seconds"`
	Memory  int64   `json:"memory_bytes"`
}

// Member states the costs of one member of a job.
type Member struct {
	Name     string `json:"name"`
	Sent     int64  `json:"sent_bytes"` // bytes of messages' bodies, as in a job's result
	Received int64  `json:"received_bytes"`
	// OnWire counts the bytes that the member sends and receives with their envelopes.
	OnWire   int64   `json:"wire_bytes"`
	Messages int     `json:"messages"` // messages that the member sends and receives
	Rounds   int     `json:"rounds"`   // rounds of the sessions in which the member takes part
	Memory   int64   `json:"memory_bytes"`
	Seconds  float64 `json:"seconds"` // time in which the member computes or its line is busy
	computed float64 // the part of Seconds in which the member computes
	kept     int64   // bytes of memory that earlier steps have left
	peak     int64   // the largest bytes of memory during a step, with those that earlier steps have left
}

// Step states the costs of one step of a job.
type Step struct {
	Name     string  `json:"name"`
	Protocol string  `json:"protocol,omitempty"`
	Bytes    int64   `json:"bytes"`
	Messages int     `json:"messages"`
	Rounds   int     `json:"rounds"`
	Seconds  float64 `json:"seconds"`
}

// controlRounds is the number of messages with which a coordinator begins and ends a session at a party: the
// coordinator proposes the session, the party agrees, the coordinator sends all keys, and the party reports
// the end of the session. These messages are small, and a result does not count their bytes.
const controlRounds = 4

// Of returns the plan of a job over tables of the given sizes. It refuses a job whose protocol has no
// formula for its costs; the error names the protocol.
func Of(j *job.Job, sizes method.Sizes, s Setting) (*Plan, error) {
	if !method.Federated(j) {
		return nil, fault.BadInputf("protocol %s has no formula for its costs, so mercer plan cannot plan it; measure a run instead: mercer simulate", j.Protocol.Name())
	}
	p, err := method.Of(j)
	if err != nil {
		return nil, fault.BadInput(err)
	}
	costs, err := p.Forecast(method.Instance{Job: j, Coordinator: Coordinator, Parties: j.Parties()}, sizes)
	if err != nil {
		return nil, err
	}
	d := newDraft(j, sizes, s)
	for _, c := range costs {
		d.add(c)
	}
	return d.plan(j), nil
}

// draft is a plan under construction.
type draft struct {
	Setting
	names             []string
	members           map[string]*Member
	steps             []Step
	assumed, warnings []string
	tables            map[string]method.TableSize
}

func newDraft(j *job.Job, sizes method.Sizes, s Setting) *draft {
	d := &draft{Setting: s, names: append([]string{Coordinator}, j.Parties()...), members: make(map[string]*Member), tables: sizes.Tables}
	for _, name := range d.names {
		d.members[name] = &Member{Name: name}
	}
	return d
}

// add adds a step. A step takes as long as its slowest member, and the latency of its rounds in addition.
func (d *draft) add(c method.StepCost) {
	one := Step{Name: c.Step, Protocol: c.Protocol, Rounds: c.Rounds}
	busy, lines := d.exchange(c, &one)
	for name, load := range c.Members {
		busy[name] += d.Machine.Seconds(load.Effort)
		d.members[name].hold(load)
	}
	for name, m := range d.members {
		all := busy[name] + lines[name].seconds(d.Link)
		one.Seconds = max(one.Seconds, all)
		m.computed, m.Seconds = m.computed+busy[name], m.Seconds+all
	}
	one.Seconds += float64(one.Rounds) * d.Link.Latency.Seconds()
	d.steps = append(d.steps, one)
	if c.Assumed != "" {
		d.assumed = append(d.assumed, c.Assumed)
	}
	if c.Warning != "" {
		d.warnings = append(d.warnings, c.Warning)
	}
}

// exchange counts the messages of a step. It returns the seconds that each member computes for them,
// and the bytes on each member's line.
func (d *draft) exchange(c method.StepCost, one *Step) (map[string]float64, map[string]*line) {
	busy, lines := make(map[string]float64), make(map[string]*line)
	for name := range d.members {
		lines[name] = new(line)
	}
	if c.Protocol == "" {
		return busy, lines
	}
	one.Rounds += controlRounds
	for _, f := range c.Flows {
		wire := wireBytes(c.Protocol, f)
		one.Bytes, one.Messages = one.Bytes+f.Bytes, one.Messages+f.Messages
		from, to := d.members[f.From], d.members[f.To]
		from.Sent, to.Received = from.Sent+f.Bytes, to.Received+f.Bytes
		for _, m := range []*Member{from, to} {
			m.OnWire, m.Messages = m.OnWire+wire, m.Messages+f.Messages
		}
		busy[f.From] += float64(f.Messages)*d.Machine.Sent + float64(f.Bytes)*d.Machine.SentByte
		busy[f.To] += float64(f.Messages)*d.Machine.Received + float64(f.Bytes)*d.Machine.ReceivedByte
		lines[f.From].out, lines[f.To].in = lines[f.From].out+wire, lines[f.To].in+wire
	}
	for name, l := range lines {
		if l.in+l.out == 0 {
			continue
		}
		if name != Coordinator {
			busy[name] += d.Machine.Session
		}
		d.members[name].Rounds += one.Rounds
	}
	return busy, lines
}

// line counts the bytes of a member in each direction.
type line struct{ in, out int64 }

// seconds returns the time in which the busier direction of the line carries its bytes. Lost bytes are
// sent again.
func (l *line) seconds(of job.Link) float64 {
	if of.Rate == 0 {
		return 0
	}
	return float64(max(l.in, l.out)) / (of.Rate * (1 - of.Loss))
}

// wireBytes returns the bytes of a flow with the envelopes of its messages.
func wireBytes(name string, f protocol.Flow) int64 {
	h := protocol.Header{Protocol: name, Round: f.Round, Kind: f.Kind, Sender: f.From, Receiver: f.To, Chunks: 1}
	return f.Bytes + int64(f.Messages)*int64(envelope.Size(h, 0))
}

// hold adds the memory of a step.
func (m *Member) hold(l protocol.Load) {
	m.kept += l.Kept
	m.peak = max(m.peak, m.kept+l.Held)
}

// plan returns the finished plan.
func (d *draft) plan(j *job.Job) *Plan {
	p := &Plan{Job: j.Name, Protocol: j.Protocol.Name(), Steps: d.steps, Assumed: append([]string{}, d.assumed...), Warnings: d.warnings, Machine: d.Machine, OneProcess: OneProcess{Memory: d.Program}}
	used := 0.0
	for _, name := range d.names {
		m := d.members[name]
		own := float64(d.tables[name].Stored + m.peak)
		growth := d.Garbage.Party
		if name == Coordinator {
			growth = d.Garbage.Coordinator
		}
		m.Memory = d.Program + int64(own*(1+growth))
		used += own
		p.OneProcess.Seconds += m.computed
		p.Members = append(p.Members, *m)
	}
	p.OneProcess.Memory += int64(used * (1 + d.Garbage.OneProcess))
	for _, s := range d.steps {
		p.Rounds += s.Rounds
		p.Seconds += s.Seconds
	}
	return p
}
