package coordinator_test

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method/jobtest"
	"github.com/mercer-fl/mercer/internal/node/control"
	"github.com/mercer-fl/mercer/internal/node/mail/envelope"
	"github.com/mercer-fl/mercer/protocol"
)

// chronicle records how jobs and questions look on the wire: which sessions there are,
// what describes them, and how many bytes each step takes. None of it depends on a
// processor.
type chronicle struct {
	t *testing.T
	w *testbed
	b strings.Builder

	mu        sync.Mutex
	proposals []*control.Proposal // in the order in which the first member opened them
	known     map[protocol.SessionID]bool
}

func newChronicle(t *testing.T, w *testbed) *chronicle {
	c := &chronicle{t: t, w: w, known: make(map[protocol.SessionID]bool)}
	w.noted = c.note
	return c
}

func (c *chronicle) note(body []byte) {
	p, err := control.DecodeProposal(body)
	if err != nil {
		c.t.Error(err)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if id := nameOf(c.t, p); !c.known[id] {
		c.known[id] = true
		c.proposals = append(c.proposals, p)
	}
}

func nameOf(t *testing.T, p *control.Proposal) protocol.SessionID {
	s, err := protocol.NewSession(p.Descriptor)
	if err != nil {
		t.Error(err)
		return protocol.SessionID{}
	}
	return s.ID()
}

func digest(b []byte) string {
	sum := sha256.Sum256(b)
	return fmt.Sprintf("%d bytes, sha256 %x", len(b), sum[:12])
}

// run chronicles a job.
func (c *chronicle) run(j *job.Job) job.ID {
	done := c.w.mustRun(j)
	fmt.Fprintf(&c.b, "job %v: %s\n", done.ID, digest(j.Encode()))
	c.sessions()
	leakage, err := json.Marshal(done.Result.Leakage)
	if err != nil {
		c.t.Fatal(err)
	}
	fmt.Fprintf(&c.b, "leakage: %s\n", digest(leakage))
	r := done.Result
	fmt.Fprintf(&c.b, "rows: %d and %d; times of %v\n", r.Training, r.HeldOut, sortedKeys(r.Timings))
	if len(r.Parties) < many {
		for _, p := range r.Parties {
			fmt.Fprintf(&c.b, "%s: %d bytes sent, %d received\n", p.Name, p.Sent, p.Received)
		}
	}
	return done.ID
}

// many is the number of parties of a kind that are written in one line.
const many = 6

func sortedKeys(m map[string]float64) (keys []string) {
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// sessions writes what has happened since it was called last.
func (c *chronicle) sessions() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, p := range c.proposals {
		d := p.Descriptor
		fmt.Fprintf(&c.b, "session %d: %s version %d, stage %d, purpose %q, attempt %d, members %v\n", i, d.Protocol, d.Version, p.Stage, d.Purpose, d.Attempt, names(d.Members))
		// A question has a random name, from which the names of its sessions follow, and
		// params of those that add up.
		if id := nameOf(c.t, p); !p.Predicts() {
			fmt.Fprintf(&c.b, "  id %x, parent %v\n", id[:], d.Parent)
		} else if d.Protocol == "fdskl" || d.Protocol == "secagg" {
			d.Params = make([]byte, len(d.Params))
		}
		d.Nonce, d.Parent = [32]byte{}, protocol.SessionID{}
		fmt.Fprintf(&c.b, "  params %s\n  descriptor without nonce and parent %s\n", digest(d.Params), digest(d.Encode()))
		if p.Announced != nil {
			fmt.Fprintf(&c.b, "  announced %s\n", digest(p.Announced))
		}
		c.traffic(nameOf(c.t, p), len(d.Members) >= many)
	}
	c.proposals = nil
}

func names(members []protocol.Member) (list []string) {
	for _, m := range members {
		list = append(list, m.Name)
	}
	if len(list) >= many {
		list = append(list[:2], fmt.Sprintf("and %d more", len(list)-2))
	}
	return list
}

// step is a kind of message on its way, and what came of it.
type step struct {
	round                uint16
	kind, sender, to     string
	messages, bytesTotal int
}

// traffic writes the messages of a session, each once, however often it was sent.
func (c *chronicle) traffic(id protocol.SessionID, together bool) {
	seen, steps := make(map[protocol.Header]bool), make(map[step]step)
	for _, r := range c.w.tap.all() {
		h, err := envelope.Peek(r.data)
		if err != nil || h.Session != id || h.Protocol == "control" || seen[h] {
			continue
		}
		seen[h] = true
		k := step{round: h.Round, kind: h.Kind, sender: h.Sender, to: h.Receiver}
		if together && h.Sender != hub {
			k.sender = "parties"
		}
		if together && h.Receiver != hub {
			k.to = "parties"
		}
		s := steps[k]
		k2 := k
		k2.messages, k2.bytesTotal = s.messages+1, s.bytesTotal+len(r.data)
		steps[k] = k2
	}
	var list []step
	for _, s := range steps {
		list = append(list, s)
	}
	slices.SortFunc(list, func(a, b step) int {
		return cmp.Or(cmp.Compare(a.round, b.round), strings.Compare(a.kind, b.kind), strings.Compare(a.sender, b.sender), strings.Compare(a.to, b.to))
	})
	for _, s := range list {
		fmt.Fprintf(&c.b, "  %d %s, %s to %s: %d messages, %d bytes\n", s.round, s.kind, s.sender, s.to, s.messages, s.bytesTotal)
	}
}

// ask chronicles a question about new rows.
func (c *chronicle) ask(protocol string, id job.ID) {
	said := c.w.says(protocol, id)
	c.sessions()
	fmt.Fprintf(&c.b, "predicted: %s\n", digest(fmt.Append(nil, said)))
}

// Sessions equal the sessions of an earlier program: their names, what describes them, the
// bytes of every step, what leaks. To write them anew:
//
//	MERCER_GOLDEN=write go test -run TestGoldenSessions ./internal/node/coordinator
func TestGoldenSessions(t *testing.T) {
	t.Parallel()
	rowwise := func(protocol, more, extra string) *job.Job {
		text := strings.NewReplacer("{name: okra}", "{name: okra"+protocol+"}", "label: label\n", "label: label\n"+more).Replace(fmt.Sprintf(jobFile, extra))
		return jobtest.Parse(t, text)
	}
	for _, tt := range []struct {
		name string
		job  *job.Job
		asks string // the protocol of a question
	}{
		{"okra", rowwise("", "", openJob), "okra"},
		{"okra-paper", rowwise(", mode: paper", "", ""), ""},
		{"okra-haar", rowwise(", encoder: haar, wire: float64", "", ""), ""},
		{"okra-standard", rowwise("", "    scale: standard\n", ""), ""},
		{"okra-unscaled", rowwise("", "    scale: none\n", ""), ""},
		{"flake", jobtest.Parse(t, strings.Replace(fmt.Sprintf(jobFile, openJob), "{name: okra}", "{name: flake}", 1)), "okra"},
		{"escaped", jobtest.Parse(t, strings.Replace(fmt.Sprintf(jobFile, ""), "{name: okra}", "{name: escaped, mode: paper}", 1)), ""},
		{"moments", moments(t, ", directions: 4", openJob), "moments"},
		{"moments-counted", moments(t, "", ""), ""},
		{"gram", opened(t, columns(t)), "gram"},
		{"pp-svmv", ring(t), ""},
		{"fd-svrg", slopes(t), ""},
		{"secureboost", boosted(t), ""},
		{"fdskl", opened(t, phases(t, "{join: 20s, round: 20s}")), "gram"},
		{"fdskl-several", phasesBy(t, "{join: 20s, round: 20s}", "active: 2, training: faithful, directions: 16"), ""},
		{"fdskl-block", phasesBy(t, "{join: 20s, round: 20s}", "training: block, directions: 32, tree: chain, bits: 8"), ""},
		{"fdskl-paper", phasesBy(t, "{join: 20s, round: 20s}", "mode: paper, directions: 32"), ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newTestbed(t, firstTumours(t, tt.job, 80)).lets(tt.job)
			w.policy.Modes = []string{string(job.Hardened), string(job.Paper)}
			_, w.fresh = newcomers(t, columns(t))
			c := newChronicle(t, w)
			id := c.run(tt.job)
			if tt.asks != "" {
				c.ask(tt.asks, id)
			}
			c.compare(tt.name)
		})
	}
	t.Run("fedcfk", func(t *testing.T) {
		w, j, _ := newCinema(t)
		c := newChronicle(t, w)
		c.run(j)
		c.compare("fedcfk")
	})
}

func (c *chronicle) compare(name string) {
	c.t.Helper()
	file, got := filepath.Join("testdata", "sessions", name+".txt"), c.b.String()
	if os.Getenv("MERCER_GOLDEN") == "write" {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			c.t.Fatal(err)
		}
	}
	b, err := os.ReadFile(file)
	if err != nil {
		c.t.Fatal(err)
	}
	if d := gocmp.Diff(strings.Split(string(b), "\n"), strings.Split(got, "\n")); d != "" {
		c.t.Errorf("not as before:\n%s", d)
	}
}
