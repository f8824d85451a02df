package daemon

import (
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/node/access"
	"github.com/mercer-fl/mercer/internal/node/admin"
	"github.com/mercer-fl/mercer/internal/node/audit"
)

// ownGroup is the group of this process.
func ownGroup(t *testing.T) string {
	t.Helper()
	g, err := user.LookupGroupId(strconv.Itoa(os.Getgid()))
	if err != nil {
		t.Skip("this group has no name")
	}
	return g.Name
}

// entrance is a path for the folder of the second socket.
func entrance(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "m") // short, for the socket
	if err == nil {
		err = os.Chmod(dir, 0o711)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return filepath.Join(dir, "north")
}

// The folder of the second socket is open to its group alone, and is never a folder with other files.
func TestEntrance(t *testing.T) {
	folder, group := entrance(t), ownGroup(t)
	for range 2 { // also after a daemon that was killed
		l, err := openFor(access.Rules{Folder: folder, Group: group})
		if err != nil {
			t.Fatal(err)
		}
		for path, want := range map[string]os.FileMode{folder: 0o750, filepath.Join(folder, socketName): 0o660} {
			if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
				t.Errorf("%s has mode %v, %v", path, info.Mode(), err)
			}
		}
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	}
	if err := os.WriteFile(filepath.Join(folder, "patients.csv"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	link := folder + "-link"
	if err := os.Symlink(folder, link); err != nil {
		t.Fatal(err)
	}
	open := filepath.Join(filepath.Dir(folder), "open") // others could exchange what is in it
	for _, err := range []error{os.Mkdir(open, 0o700), os.Mkdir(filepath.Join(open, "inner"), 0o700), os.Symlink(filepath.Dir(folder), filepath.Join(open, "link")), os.Chmod(open, 0o770)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		folder, group, want string
	}{
		{folder, group, "it holds patients.csv; give a folder that holds nothing else"},
		{link, group, "it is not a folder of the user who runs the daemon"},
		{filepath.Join(folder, "a", "b"), group, "no such file or directory"},
		{filepath.Join(open, "north"), group, "other users can write in " + open},
		{filepath.Join(open, "inner", "north"), group, "other users can write in " + open},
		{filepath.Join(open, "link", "north"), group, "other users can write in " + open},
		{folder, "no-such-group", "names the group no-such-group, which this machine does not have"},
	} {
		if _, err := openFor(access.Rules{Folder: c.folder, Group: c.group}); fault.CodeOf(err) != fault.CodeBadInput || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

// askingUser names the folder whose daemon this process, as the child of a test, asks for its jobs.
const askingUser = "MERCER_TEST_ASK"

// TestAsk is the child of TestOtherUsers.
func TestAsk(t *testing.T) {
	folder := os.Getenv(askingUser)
	if folder == "" {
		t.Skip("for TestOtherUsers")
	}
	c := admin.NewClient(At(folder).Socket())
	defer c.Close()
	_, err := c.Jobs(t.Context())
	t.Logf("jobs: %v", err)
	t.Logf("reload: %v", c.Reload(t.Context()))
}

// The kernel tells the daemon which user asks. A user of the group reaches the second socket alone, and may do
// there what its role allows; another is not let in.
func TestOtherUsers(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can be other users")
	}
	const viewer, other, group = 61001, 61002, 0
	folder := entrance(t)
	s := sites(t, "north")["boss"]
	s.configure(t, "roles:\n  administrator: {uids: [0]}\n  viewer: {uids: [61001]}\n  folder: "+folder+"\n  group: root\n")
	s.start()
	within(t, 2*noticed, "boss serves", func() bool { _, err := s.overview(); return err == nil })
	program := filepath.Join(filepath.Dir(folder), "ask")
	if b, err := os.ReadFile(os.Args[0]); err != nil || os.WriteFile(program, b, 0o755) != nil { //nolint:gosec // others run it
		t.Fatal(err)
	}
	for _, c := range []struct {
		uid, gid     uint32
		at           string
		jobs, reload string
	}{
		{viewer, group, folder, "jobs: <nil>", "reload: this request needs the role administrator, which user 61001 does not have"},
		{other, group, folder, "jobs: this request needs the role viewer, which user 61002 does not have", "reload: this request needs the role administrator"},
		{viewer, group, s.home.folder, "jobs: this user is not allowed to open the control socket", "reload: this user is not allowed to open"},
		{viewer, 61000, folder, "jobs: this user is not allowed to open the control socket", "reload: this user is not allowed to open"},
	} {
		child := exec.CommandContext(t.Context(), program, "-test.run=^TestAsk$", "-test.v")
		child.Env = append(os.Environ(), askingUser+"="+c.at)
		child.Dir = filepath.Dir(folder)
		child.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: c.uid, Gid: c.gid, Groups: []uint32{c.gid}}}
		out, err := child.CombinedOutput()
		if err != nil || !strings.Contains(string(out), c.jobs) || !strings.Contains(string(out), c.reload) {
			t.Errorf("%+v: %v\n%s", c, err, out)
		}
	}
}

// configure adds text to the home's configuration.
func (s *site) configure(t *testing.T, text string) {
	t.Helper()
	before, err := os.ReadFile(s.home.ConfigPath())
	if err == nil {
		err = os.WriteFile(s.home.ConfigPath(), append(before, text...), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// The record of a coordinator has who submitted a job. Roles change while it runs; its second socket does not.
func TestACoordinatorsRecordAndRoles(t *testing.T) {
	s := sites(t, "north", "south")["boss"]
	plain, err := os.ReadFile(s.home.ConfigPath())
	if err != nil {
		t.Fatal(err)
	}
	s.start()
	within(t, 2*noticed, "boss serves", func() bool { _, err := s.overview(); return err == nil })
	id := s.submit([]byte(smallJob))
	var events []audit.Event
	if _, err := audit.Verify(s.home.AuditPath(), func(e audit.Event, _ string) error { events = append(events, e); return nil }); err != nil {
		t.Fatal(err)
	}
	if len(events) != 2 || events[0].Kind != audit.Started || events[1].Kind != audit.Submitted || events[1].Job != id || events[1].By.UID == nil || *events[1].By.UID != os.Getuid() {
		t.Errorf("%+v", events)
	}
	c := s.client()
	uid := strconv.Itoa(os.Getuid())
	for _, step := range []struct{ roles, want string }{
		{"roles: {administrator: {uids: [" + uid + "]}, folder: /run/m, group: m}\n", "changes \"folder\" or \"group\" of \"roles\""},
		{"roles: {viewer: {uids: [" + uid + "]}}\n", `"roles" names no administrator`},
		{"roles: {viewer: {uids: [" + uid + "]}, administrator: {uids: [" + strconv.Itoa(os.Getuid()+1) + "], users: [no-such-user]}}\n", ""},
	} {
		if err := os.WriteFile(s.home.ConfigPath(), append(slices.Clone(plain), step.roles...), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := c.Reload(t.Context()); (err == nil) != (step.want == "") || err != nil && !strings.Contains(err.Error(), step.want) {
			t.Errorf("%s: %v", step.roles, err)
		}
	}
	s.says("no-such-user")
	if _, err := c.Jobs(t.Context()); err != nil {
		t.Errorf("a viewer sees no jobs: %v", err)
	}
	if _, err := c.Submit(t.Context(), "job.yaml", []byte(smallJob)); fault.CodeOf(err) != fault.CodePolicy {
		t.Errorf("a viewer submits: %v", err)
	}
	if err := c.Reload(t.Context()); fault.CodeOf(err) != fault.CodePolicy {
		t.Errorf("a viewer reloads: %v", err)
	}
	if err := os.WriteFile(s.home.ConfigPath(), plain, 0o600); err != nil {
		t.Fatal(err)
	}
	s.hangUp() // the owner can always ask by a signal
	within(t, 10*time.Second, "the roles are as before", func() bool { return c.Reload(t.Context()) == nil })
}
