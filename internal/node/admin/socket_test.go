package admin

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"log/slog"
	"math"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/base/identity"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/all"
	"github.com/mercer-fl/mercer/internal/node/access"
	"github.com/mercer-fl/mercer/internal/node/audit"
	"github.com/mercer-fl/mercer/internal/node/coordinator"
	"github.com/mercer-fl/mercer/internal/node/overview"
	"github.com/mercer-fl/mercer/internal/node/party"
	"github.com/mercer-fl/mercer/internal/node/roster"
	"github.com/mercer-fl/mercer/internal/node/vault"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/transport/mem"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const jobFile = `apiVersion: mercer/v1
kind: Job
metadata: {name: small}
spec:
  data: {source: small, label: label}
  protocol: {name: okra}
  kernel: {name: linear}
  learner: {name: svc}
`

func quiet() *slog.Logger { return slog.New(slog.NewTextHandler(io.Discard, nil)) }

// short is a folder whose path is short enough for a socket.
func short(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "m")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// owner admits the user of this process, as the owner of a home without the setting roles.
func owner() access.Gate { return gate(access.Rules{}) }

// gate admits those who have a role by the given setting.
func gate(rules access.Rules) access.Gate {
	return access.Gate{
		Member: "hub", Owner: os.Geteuid(), Rules: func() access.Rules { return rules },
		Accounts: func(uid int) access.Account { return access.Account{UID: uid} },
	}
}

// answering answers every request with the value of f.
func answering(f func(*http.Request) (any, error)) *Requests {
	q := newRequests(owner(), quiet())
	q.add(unknown, f)
	return q
}

// serve answers requests on a socket and returns a client.
func serve(t *testing.T, h *Requests) *Client {
	t.Helper()
	return serveAs(t, h, peerUID)
}

// serveAs is serve with a function that tells the user of a connection.
func serveAs(t *testing.T, h *Requests, peer func(net.Conn) int) *Client {
	t.Helper()
	path := filepath.Join(short(t), "s")
	l, err := Listen(path)
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the socket has mode %v, %v; want 0600", info.Mode(), err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- serveKnowing(ctx, l, h, peer) }()
	c := NewClient(path)
	t.Cleanup(func() {
		c.Close()
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return c
}

func members(t *testing.T) (*roster.Roster, map[string]*identity.Identity) {
	t.Helper()
	r, keys := &roster.Roster{Federation: "test"}, make(map[string]*identity.Identity)
	for name, role := range map[string]roster.Role{"hub": roster.Coordinator, "north": roster.Party, "south": roster.Party} {
		id, err := identity.FromSeed(sha256.Sum256([]byte(name)))
		if err != nil {
			t.Fatal(err)
		}
		keys[name] = id
		r.Members = append(r.Members, roster.Member{Name: name, Role: role, Public: id.Public()})
	}
	return r, keys
}

// hub is a coordinator that does not run: its jobs stay queued.
func hub(t *testing.T) *coordinator.Coordinator {
	t.Helper()
	r, keys := members(t)
	conn, err := mem.NewNetwork().Join("hub")
	if err != nil {
		t.Fatal(err)
	}
	c, err := coordinator.New(coordinator.Config{
		Reader: all.Reader(), Identity: keys["hub"], Roster: r, Conn: conn, Vault: vault.NewMemory(), Jobs: t.TempDir(), Seed: coordinator.RandomSeed,
		Usage: func() (float64, uint64) { return 0, 0 }, Logger: quiet(), Progress: func(job.ID, protocol.Progress) {},
	})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// The part of a stage is shown once the stage has reported it, until the job ends.
func TestPartOfAStageIsShown(t *testing.T) {
	j := coordinator.Job{Spec: &job.Job{}, Status: coordinator.Status{State: overview.Running}, Part: protocol.Progress{Stage: "gram", Done: 1, Total: 4}}
	if p := view(j).Part; p == nil || *p != (Part{"gram", 1, 4}) {
		t.Errorf("part %+v", p)
	}
	ended := j
	ended.State = overview.Done
	if p := view(ended).Part; p != nil {
		t.Errorf("a finished job has part %+v", p)
	}
	j.Part = protocol.Progress{}
	if p := view(j).Part; p != nil {
		t.Errorf("a stage without parts has part %+v", p)
	}
}

func TestSubmitAndShow(t *testing.T) {
	c := serve(t, Coordinator(hub(t), owner(), quiet()))
	ctx := t.Context()
	if list, err := c.Jobs(ctx); err != nil || len(list) != 0 {
		t.Errorf("%v, %v; want no jobs", list, err)
	}
	j, err := c.Submit(ctx, "job.yaml", []byte(jobFile))
	if err != nil {
		t.Fatal(err)
	}
	if j.Name != "small" || j.State != overview.Queued || len(j.Parties) != 2 {
		t.Errorf("%+v; want small, queued, among both parties", j)
	}
	if again, err := c.Job(ctx, j.ID); err != nil || again.ID != j.ID {
		t.Errorf("%v, %v", again, err)
	}
	if list, err := c.Jobs(ctx); err != nil || len(list) != 1 {
		t.Errorf("%v, %v; want one job", list, err)
	}
	if err := c.Abort(ctx, j.ID); err != nil {
		t.Error(err)
	}
	if over, err := c.Wait(ctx, j.ID); err != nil || over.State != overview.Failed || over.Failure.Message != "aborted by the operator of hub" {
		t.Errorf("%+v, %v; want a job that was aborted", over, err)
	}
	if err := c.Abort(ctx, j.ID); fault.CodeOf(err) != fault.CodeBadInput || !strings.Contains(err.Error(), "is failed; only a job that is queued or running can be aborted") {
		t.Errorf("aborted twice: %v", err)
	}
	if j, err = c.Submit(ctx, "job.yaml", []byte(jobFile)); err != nil {
		t.Fatal(err)
	}
	waiting, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := c.Wait(waiting, j.ID); !errors.Is(err, context.Canceled) {
		t.Errorf("a wait that is given up: %v", err)
	}
}

func TestCoordinatorRefuses(t *testing.T) {
	c := serve(t, Coordinator(hub(t), owner(), quiet()))
	ctx := t.Context()
	queued, err := c.Submit(ctx, "job.yaml", []byte(jobFile))
	if err != nil {
		t.Fatal(err)
	}
	unknown := strings.Repeat("0", 32)
	job := func(id string) error { _, err := c.Job(ctx, id); return err }
	wait := func(id string) error { _, err := c.Wait(ctx, id); return err }
	outcome := func(id string) error { _, err := c.Outcome(ctx, id); return err }
	abort := func(id string) error { return c.Abort(ctx, id) }
	forget := func(id string) error { _, err := c.Forget(ctx, id); return err }
	download := func(id string) error { _, err := c.Model(ctx, id); return err }
	submit := func(file string) error { _, err := c.Submit(ctx, "job.yaml", []byte(file)); return err }
	for _, tt := range []struct {
		name string
		err  error
		want string
	}{
		{"bad id", job("nonsense"), "is not a job id; a job id has 32 hexadecimal digits"},
		{"bad id, wait", wait("../../etc"), "is not a job id"},
		{"bad id, abort", abort("zz"), "is not a job id"},
		{"unknown job, abort", abort(unknown), "no such job"},
		{"unknown job, forget", forget(unknown), "no such job"},
		{"queued job, forget", forget(queued.ID), "is queued and has not ended"},
		{"queued job, delete", func() error { _, err := c.Delete(ctx, queued.ID); return err }(), "is queued and has not ended"},
		{"unknown job, delete", func() error { _, err := c.Delete(ctx, unknown); return err }(), "no such job"},
		{"a party's drop", c.Drop(ctx, unknown), "use a party's"},
		{"bad id, outcome", outcome("zz"), "is not a job id"},
		{"bad id, model", download("zz"), "is not a job id"},
		{"unknown job", job(unknown), "no such job"},
		{"unknown job, wait", wait(unknown), "no such job"},
		{"unknown job, outcome", outcome(unknown), "no such job"},
		{"unknown job, model", download(unknown), "no such job"},
		{"queued job, outcome", outcome(queued.ID), "is queued and has no result"},
		{"queued job, model", download(queued.ID), "is queued and has no result"},
		{"no job file", submit("kind: [broken"), "job.yaml"},
		{"unknown key", submit(strings.Replace(jobFile, "kernel:", "kernle:", 1)), "kernle"},
		{"too long", submit(jobFile + strings.Repeat("#", maxJobFile)), "the job file has more than"},
		{"a party's command", func() error { _, err := c.Predict(ctx, unknown, rows("x.csv", 1, 2), ""); return err }(), "use a party's"},
	} {
		if fault.CodeOf(tt.err) != fault.CodeBadInput || !strings.Contains(tt.err.Error(), tt.want) {
			t.Errorf("%s: error %v with code %d; want %q with code %d", tt.name, tt.err, fault.CodeOf(tt.err), tt.want, fault.CodeBadInput)
		}
	}
}

// north is a party that runs and whose coordinator does not.
func north(t *testing.T) *party.Party {
	t.Helper()
	r, keys := members(t)
	network := mem.NewNetwork()
	if _, err := network.Join("hub"); err != nil {
		t.Fatal(err)
	}
	conn, err := network.Join("north")
	if err != nil {
		t.Fatal(err)
	}
	p := party.New(party.Config{
		Reader: all.Reader(), Name: "north", Identity: keys["north"], Roster: r, Conn: conn, Vault: vault.NewMemory(), Retained: vault.NewMemoryStates(), Snapshots: vault.NewMemoryStates(),
		Load: func(job.ID, job.Data) (method.Table, error) { return method.Table{}, errors.New("no data") },
		Seed: coordinator.RandomSeed, Usage: func() (float64, uint64) { return 0, 0 }, Logger: quiet(), Audit: audit.Discard{},
	})
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- p.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return p
}

// unchecked checks no job.
func unchecked(context.Context, string, []byte) (*Checked, error) {
	return nil, errors.New("this party checks no job")
}

// running is the daemon of a party that runs.
type running struct{ party *party.Party }

func (r running) Party() (*party.Party, error) { return r.party, nil }
func (r running) Events() *overview.History    { return r.party.Events() }
func (r running) Overview() (overview.Overview, error) {
	jobs, err := r.party.Jobs()
	return overview.Overview{Name: "north", Role: roster.Party, Jobs: jobs}, err
}

func TestPartyRefuses(t *testing.T) {
	c := serve(t, Party(running{north(t)}, unchecked, owner(), quiet()))
	ctx := t.Context()
	unknown := strings.Repeat("0", 32)
	predict := func(id string, set *dataset.Set) error {
		_, err := c.Predict(ctx, id, set, "")
		return err
	}
	forget := func(id string) error {
		_, err := c.Forget(ctx, id)
		return err
	}
	raw := func(body string) error {
		_, err := c.fetch(ctx, http.MethodPost, "/jobs/"+unknown+"/prediction", []byte(body))
		return err
	}
	named := rows("x.csv", 1, 2)
	named.Columns = []string{"a", strings.Repeat("b", maxName+1)}
	for _, tt := range []struct {
		name string
		err  error
		want string
	}{
		{"bad id", predict("zz", rows("x.csv", 1, 2)), "is not a job id"},
		{"bad id, forget", forget("zz"), "is not a job id"},
		{"no number", predict(unknown, rows("x.csv", 1, math.NaN())), "x.csv: row 1, column 1 (from 0) holds NaN; fill the cell or drop the row"},
		{"long name", predict(unknown, named), "x.csv: the name of column 1 (from 0) has 4097 bytes, more than the 4096 allowed; rename it"},
		{"no table", raw(""), "admin: the rows to predict cannot be decoded"},
		{"another table", raw("a,b\n1,2\n"), "admin: the rows to predict cannot be decoded"},
		{"unknown job", predict(unknown, rows("x.csv", 1, 2)), "retained no state here to encode new rows"},
		{"a coordinator's command", func() error { _, err := c.Job(ctx, unknown); return err }(), "use the coordinator's"},
	} {
		if fault.CodeOf(tt.err) != fault.CodeBadInput || !strings.Contains(tt.err.Error(), tt.want) {
			t.Errorf("%s: error %v with code %d; want %q with code %d", tt.name, tt.err, fault.CodeOf(tt.err), tt.want, fault.CodeBadInput)
		}
	}
	if list, err := c.Jobs(ctx); err != nil || len(list) > 0 {
		t.Errorf("holdings %v, %v", list, err)
	}
	if err := c.Drop(ctx, unknown); fault.CodeOf(err) != fault.CodeBadInput || !strings.Contains(err.Error(), "is not open here") {
		t.Errorf("dropping what is not open: %v", err)
	}
	if f, err := c.Forget(ctx, unknown); err != nil || f.Everywhere || len(f.Erased) > 0 {
		t.Errorf("forgetting what was never kept: %v", err)
	}
}

func TestListen(t *testing.T) {
	dir := short(t)
	if _, err := Listen(filepath.Join(dir, strings.Repeat("x", maxSocketPath))); err == nil || !strings.Contains(err.Error(), "use a home with a shorter path") {
		t.Errorf("a path that is too long: %v", err)
	}
	if _, err := Listen(filepath.Join(dir, "none", "s")); err == nil {
		t.Error("a socket in a folder that is not there")
	}
	// What a killed process left is replaced.
	path := filepath.Join(dir, "s")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := Listen(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
}

func TestNoDaemon(t *testing.T) {
	c := NewClient(filepath.Join(short(t), "s"))
	defer c.Close()
	if _, err := c.Jobs(t.Context()); !errors.Is(err, ErrNoDaemon) {
		t.Errorf("error %v, want ErrNoDaemon", err)
	}
}

// Errors keep their code, their culprit and nothing else on the socket.
func TestProblems(t *testing.T) {
	c := serve(t, answering(func(*http.Request) (any, error) {
		return nil, &fault.Error{Code: fault.CodeMisbehaved, Blamed: "south", Err: errors.New("south lies")}
	}))
	_, err := c.Jobs(t.Context())
	var coded *fault.Error
	if !errors.As(err, &coded) || coded.Code != fault.CodeMisbehaved || coded.Blamed != "south" || err.Error() != "south lies" {
		t.Errorf("error %+v", err)
	}
}

// A number that no JSON has is an error, not a broken answer.
func TestAnswersThatDoNotMarshal(t *testing.T) {
	c := serve(t, answering(func(*http.Request) (any, error) { return math.NaN(), nil }))
	if _, err := c.Jobs(t.Context()); err == nil || !strings.Contains(err.Error(), "does not marshal") {
		t.Errorf("error %v", err)
	}
}

func TestBytesComeAsTheyAre(t *testing.T) {
	want := []byte{0, 1, 2, 255}
	c := serve(t, answering(func(*http.Request) (any, error) { return want, nil }))
	if got, err := c.Model(t.Context(), "x"); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%v, %v; want %v", got, err, want)
	}
}
