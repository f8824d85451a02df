package daemon

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/dataset/bundled"
	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/method/all"
	"github.com/mercer-fl/mercer/internal/node/admin"
	"github.com/mercer-fl/mercer/internal/node/coordinator"
	"github.com/mercer-fl/mercer/internal/node/overview"
	"github.com/mercer-fl/mercer/internal/node/party"
	"github.com/mercer-fl/mercer/internal/node/roster"
)

// hangUp asks the daemon to read its files again.
func (s *site) hangUp() { s.reload <- syscall.SIGHUP }

// says waits until the daemon's log has a text, and returns how long it took.
func (s *site) says(text string) time.Duration {
	s.t.Helper()
	return within(s.t, 20*time.Second, s.name+" logs "+text, func() bool { return strings.Contains(s.log.String(), text) })
}

// shares gives the home the part k of n of two tables, people and digits, and a policy.
func (s *site) shares(k, n int, approve string) {
	s.t.Helper()
	c, err := s.home.Config(all.Reader())
	if err != nil {
		s.t.Fatal(err)
	}
	c.Policy = party.Policy{Protocols: []string{"okra"}, Limits: party.NoLimits(), Approve: approve}
	c.Roles.Alone = true // one user runs the test
	c.Data = make(map[string]Source)
	for table, name := range map[string]string{"people": "wdbc", "digits": "digits"} {
		set, err := bundled.Load(name)
		if err != nil {
			s.t.Fatal(err)
		}
		var rows []int
		for i := k; i < min(set.X.Rows(), 600); i += n {
			rows = append(rows, i)
		}
		f, err := os.Create(s.home.path(table + ".csv"))
		if err == nil {
			err = errors.Join(dataset.WriteCSV(f, set.Subset(rows)), f.Close())
		}
		if err != nil {
			s.t.Fatal(err)
		}
		c.Data[table] = Source{Path: table + ".csv", Label: Labels{Columns: []string{"label"}}}
	}
	if err := c.save(s.home.ConfigPath(), roster.Party); err != nil {
		s.t.Fatal(err)
	}
}

// joins installs and approves a roster, as mercer federation join does.
func (s *site) joins(r *roster.Roster) {
	s.t.Helper()
	if err := s.home.Join(all.Reader(), r); err != nil {
		s.t.Fatal(err)
	}
}

func (s *site) roster() *roster.Roster {
	s.t.Helper()
	r, err := s.home.ApprovedRoster()
	if err != nil || r == nil {
		s.t.Fatalf("no roster in %s: %v", s.home, err)
	}
	return r
}

// newcomer makes the home of a party that is in no roster yet, for the federation of a coordinator.
func newcomer(t *testing.T, boss *site, name string) (*site, roster.Member) {
	t.Helper()
	c, err := boss.home.Config(all.Reader())
	if err != nil {
		t.Fatal(err)
	}
	s := &site{t: t, name: name, home: At(boss.home.folder + "-" + name), run: RunParty, log: &logBuffer{}, reload: make(chan os.Signal, 1)}
	m, err := s.home.Create(all.Reader(), &Config{Name: name, Coordinator: "nats://" + c.Listen}, roster.Party, coordinator.RandomSeed(""))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.halt)
	return s, m
}

func sharedJob(table string, parties ...string) []byte {
	return fmt.Appendf(nil, `apiVersion: mercer/v1
kind: Job
metadata: {name: of-%s}
spec:
  data: {source: %s, label: label, scale: standard, partition: {parties: [%s]}}
  protocol: {name: okra}
  kernel: {name: rbf, gamma: 0.02}
  learner: {name: svc, C: 10}
  timeout: {join: 2m}
`, strings.Join(parties, "-"), table, strings.Join(parties, ", "))
}

// client returns a client of the daemon's socket.
func (s *site) client() *admin.Client {
	c := admin.NewClient(s.home.Socket())
	s.t.Cleanup(c.Close)
	return c
}

func (s *site) submit(file []byte) (id string) {
	s.t.Helper()
	j, err := s.client().Submit(s.t.Context(), "job.yaml", file)
	if err != nil {
		s.t.Fatal(err)
	}
	return j.ID
}

func (s *site) wait(id string) admin.Job {
	s.t.Helper()
	j, err := s.client().Wait(s.t.Context(), id)
	if err != nil {
		s.t.Fatal(err)
	}
	return j
}

// connected reports whether the coordinator sees a connection of a member.
func (s *site) connected(member string) bool {
	o, err := s.overview()
	if err != nil {
		return false
	}
	i := slices.IndexFunc(o.Members, func(m overview.Member) bool { return m.Name == member })
	return i >= 0 && o.Members[i].Connected
}

// trained runs a job of north and south, in homes with fixed keys and seeds. The function during runs when
// the job waits for the operator of south, and a function that it returns until the job ends.
func trained(t *testing.T, homes string, of map[string]*site, during func() (meanwhile func())) admin.Job {
	t.Helper()
	for _, s := range of {
		if err := errors.Join(os.RemoveAll(s.home.folder), os.CopyFS(s.home.folder, os.DirFS(homes+"/"+s.name)), os.Chmod(s.home.IdentityPath(), 0o600)); err != nil {
			t.Fatal(err)
		}
		s.home = At(s.home.folder) // with another identity than before
		s.start()
		t.Cleanup(s.halt)
	}
	boss, south := of["boss"], of["south"]
	for _, name := range []string{"north", "south", "east"} {
		within(t, 20*time.Second, "boss sees "+name, func() bool { return boss.connected(name) })
	}
	id := boss.submit(sharedJob("people", "north", "south"))
	within(t, 20*time.Second, "south is asked", func() bool { o, err := south.overview(); return err == nil && len(o.Awaiting) == 1 })
	meanwhile := during()
	if err := south.client().Approve(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	client := boss.client() // one, since each keeps a connection, of which the socket allows 64
	for j, err := client.Job(t.Context(), id); ; j, err = client.Job(t.Context(), id) {
		if err != nil {
			t.Fatal(err)
		}
		if j.State.Over() {
			return j
		}
		meanwhile()
	}
}

// A member joins and another is revoked, again and again, while others have a job: they train the same
// model as without the change, and their daemons and connections stay. The newcomer is connected within 5
// seconds, and then trains with a member. The revoked member's connection ends, and it is told why.
func TestRosterChangesDuringAJob(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	of := sites(t, "north", "south", "east")
	boss, north, east := of["boss"], of["north"], of["east"]
	north.shares(0, 3, "")
	of["south"].shares(1, 3, "each")
	homes := t.TempDir()
	for i, name := range []string{"boss", "north", "south", "east"} {
		of[name].seed = InsecureSeeds(uint64(i))
		if err := os.CopyFS(homes+"/"+name, os.DirFS(of[name].home.folder)); err != nil {
			t.Fatal(err)
		}
	}
	undisturbed := trained(t, homes, of, func() func() { return func() { time.Sleep(10 * time.Millisecond) } })
	if undisturbed.Failure != nil {
		t.Fatalf("%+v", undisturbed.Failure)
	}
	for _, s := range of {
		s.halt()
		s.log = &logBuffer{}
	}

	west, member := newcomer(t, boss, "west")
	west.shares(2, 3, "")
	before := boss.roster()
	after := before.Without("east").With(member)
	_, passing := newcomer(t, boss, "passing")
	changes := 0
	disturbed := trained(t, homes, of, func() func() {
		boss.change(after)
		west.joins(after)
		west.start()
		within(t, 5*time.Second, "west is connected", func() bool { return boss.connected("west") })
		if err := east.end(); err == nil || !strings.Contains(err.Error(), "has removed the member from the roster") {
			t.Errorf("east was told %v", err)
		}
		return func() {
			changes++
			boss.change([]*roster.Roster{after, after.With(passing)}[changes%2])
		}
	})
	if disturbed.Failure != nil || disturbed.Result.ModelHash != undisturbed.Result.ModelHash {
		t.Errorf("%+v; the model is %+v, and undisturbed %s", disturbed.Failure, disturbed.Result, undisturbed.Result.ModelHash)
	}
	if changes < 3 {
		t.Errorf("the roster changed %d times during the job", changes)
	}
	for _, s := range []*site{boss, north, of["south"], west} {
		if n := strings.Count(s.log.String(), "connection lost"); n > 0 {
			t.Errorf("%s lost its connection %d times", s.name, n)
		}
	}

	// The newcomer trains with a member that has approved it, and not with another.
	if j := boss.wait(boss.submit(sharedJob("people", "south", "west"))); j.Failure == nil || j.Failure.Code != fault.CodePolicy || !strings.Contains(j.Failure.Message, `"west" is not a party in the roster that this party's operator approved`) {
		t.Errorf("a job with a member that has not approved the newcomer: %+v", j.Failure)
	}
	north.change(after)
	if j := boss.wait(boss.submit(sharedJob("digits", "north", "west"))); j.Failure != nil {
		t.Errorf("a job with the newcomer: %+v", j.Failure)
	}
	east.start()
	if err := east.end(); err == nil || !strings.Contains(err.Error(), "does not know the key") {
		t.Errorf("the revoked member starts again: %v", err)
	}
}

// change installs a roster and waits until the daemon has it in force.
func (s *site) change(r *roster.Roster) {
	s.t.Helper()
	s.joins(r)
	read := func() int { return strings.Count(s.log.String(), "read again") }
	before := read()
	s.hangUp()
	within(s.t, 5*time.Second, s.name+" has a new roster", func() bool { return read() > before })
}

// end waits until the daemon ends by itself, and returns its error.
func (s *site) end() error {
	s.t.Helper()
	select {
	case err := <-s.ended:
		s.stop()
		s.stop = nil
		return err
	case <-time.After(5 * time.Second):
		s.t.Fatalf("%s does not end", s.name)
		return nil
	}
}

// A job with a member that is revoked, or that gets other keys, ends with a sentence: also one that waits
// in the queue, and one for whose consent the coordinator waits. A job of others behind it runs.
func TestRevokedWhileItsJobWaits(t *testing.T) {
	of := sites(t, "north", "south", "east")
	boss, north := of["boss"], of["north"]
	for i, name := range []string{"north", "south", "east"} {
		of[name].shares(i, 3, map[string]string{"east": "each"}[name])
	}
	for _, s := range of {
		s.start()
	}
	within(t, 20*time.Second, "boss sees all", func() bool { return boss.connected("north") && boss.connected("south") && boss.connected("east") })
	running := boss.submit(sharedJob("people", "north", "east"))
	within(t, 20*time.Second, "east is asked", func() bool { o, err := of["east"].overview(); return err == nil && len(o.Awaiting) == 1 })
	queued := boss.submit(sharedJob("people", "south", "east"))
	others := boss.submit(sharedJob("people", "north", "south"))
	boss.change(boss.roster().Without("east"))
	for _, id := range []string{running, queued} {
		j := boss.wait(id)
		if j.Failure == nil || j.Failure.Code != fault.CodeFailed || j.Failure.Message != "aborted because the new roster does not have east, or has other keys" {
			t.Errorf("a job of a revoked member: %+v", j.Failure)
		}
	}
	if j := boss.wait(others); j.Failure != nil {
		t.Errorf("a job of others: %+v", j.Failure)
	}
	if err := of["east"].end(); err == nil {
		t.Error("the revoked member was not told")
	}
	if o, err := north.overview(); err != nil || len(o.Jobs) != 0 {
		t.Errorf("north still holds %+v, %v", o.Jobs, err)
	}
}

// A party that adopts a roster ends its sessions with whom the roster removes, whatever the coordinator
// does.
func TestAPartyEndsSessionsWithTheRevoked(t *testing.T) {
	of := sites(t, "north", "east")
	boss, north := of["boss"], of["north"]
	north.shares(0, 2, "")
	of["east"].shares(1, 2, "each")
	for _, s := range of {
		s.start()
	}
	within(t, 20*time.Second, "boss sees both", func() bool { return boss.connected("north") && boss.connected("east") })
	id := boss.submit(sharedJob("people", "north", "east"))
	within(t, 20*time.Second, "north has accepted", func() bool { o, err := north.overview(); return err == nil && len(o.Jobs) == 1 })
	north.change(north.roster().Without("east"))
	j := boss.wait(id)
	if j.Failure == nil || !strings.Contains(j.Failure.Message, "the roster of north has no east any more, or has other keys") {
		t.Errorf("%+v", j.Failure)
	}
}

// A roster that cannot be used changes nothing: half of a file, one that was not approved, one with a key
// twice, one without this member, one with another coordinator.
func TestUnusableRosters(t *testing.T) {
	of := sites(t, "north", "east")
	boss, north := of["boss"], of["north"]
	boss.start()
	north.start()
	within(t, 20*time.Second, "boss sees north", func() bool { return boss.connected("north") })
	good := boss.roster()
	whole, err := good.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	write := func(s *site, b []byte) {
		t.Helper()
		if err := os.WriteFile(s.home.RosterPath(), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	_, stranger := newcomer(t, boss, "stranger")
	added, err := good.With(stranger).Marshal()
	if err != nil {
		t.Fatal(err)
	}
	double := strings.Replace(string(added), stranger.NKey, good.Members[1].NKey, 1)
	other := *good
	other.Federation = "another"
	for _, s := range []*site{boss, north} {
		for _, bad := range []struct {
			what string
			file []byte
			want string
		}{
			{"half", whole[:len(whole)*2/3], s.home.RosterPath()},
			{"not approved", added, "is not approved"},
			{"a key twice", []byte(double), `have the same nkey`},
		} {
			before := strings.Count(s.log.String(), "as they were")
			write(s, bad.file)
			s.hangUp()
			within(t, 5*time.Second, s.name+" refuses "+bad.what, func() bool { return strings.Count(s.log.String(), "as they were") > before })
			if log := s.log.String(); !strings.Contains(log[strings.LastIndex(log, "as they were"):], bad.want) {
				t.Errorf("%s, %s: %s", s.name, bad.what, log[strings.LastIndex(log, "as they were"):])
			}
		}
		before := strings.Count(s.log.String(), "as they were")
		s.joins(&other)
		s.hangUp()
		within(t, 5*time.Second, s.name+" refuses another federation", func() bool { return strings.Count(s.log.String(), "as they were") > before })
		s.change(good)
	}
	if !boss.connected("north") || strings.Contains(north.log.String(), "connection lost") {
		t.Error("north lost its connection")
	}
}
