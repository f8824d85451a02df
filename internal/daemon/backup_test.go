package daemon

import (
	"archive/tar"
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"filippo.io/age"
	"github.com/google/go-cmp/cmp"

	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/all"
	"github.com/mercer-fl/mercer/internal/node/audit"
	"github.com/mercer-fl/mercer/internal/node/disclosure"
	"github.com/mercer-fl/mercer/internal/node/party"
	"github.com/mercer-fl/mercer/internal/node/roster"
	"github.com/mercer-fl/mercer/internal/node/vault"
	"github.com/mercer-fl/mercer/protocol"
)

// operatorKey returns a new key of age.
func operatorKey(t *testing.T) *age.X25519Identity {
	t.Helper()
	key, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// backsUp backs a home up to a key.
func backsUp(t *testing.T, h Home, key *age.X25519Identity) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "backup")
	if _, err := h.Backup(file, []age.Recipient{key.Recipient()}, true); err != nil {
		t.Fatal(err)
	}
	return file
}

// files returns the content of all files of a home, by name.
func files(t *testing.T, h Home) map[string]string {
	t.Helper()
	all := make(map[string]string)
	err := filepath.WalkDir(h.folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		b, err := os.ReadFile(path)
		name, _ := filepath.Rel(h.folder, path)
		all[name] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// A restored home has every file that belongs to a backup, with its mode and its time, and no other.
func TestBackupAndRestore(t *testing.T) {
	h, key := rotatable(t), operatorKey(t)
	write := func(name, content string) {
		t.Helper()
		path := h.path(name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(content), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"releases/key", "vault/claims", "vault/journals/used/00ff", "editions/list", "studies/one", "approvals"} {
		write(name, name)
	}
	want := files(t, h)
	for _, name := range []string{"vault/journals/session/00ff/seed", "vault/documents/00ff/proposal", "snapshots/a/key", "queues/a", "invitations/a", "consents/a", "rows.csv", "releases/.new-1", "lock"} {
		write(name, "must not be in a backup")
	}
	long := time.Now().Add(-1000 * time.Hour).Truncate(time.Second)
	jobs, err := filepath.Glob(h.path("keepsakes/*"))
	if err != nil || len(jobs) != 1 {
		t.Fatal(jobs, err)
	}
	items, err := filepath.Glob(jobs[0] + "/*")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range append(items, jobs[0]) {
		if err := os.Chtimes(path, long, long); err != nil {
			t.Fatal(err)
		}
	}
	file := backsUp(t, h, key)
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if _, err := h.Backup(file, []age.Recipient{key.Recipient()}, true); fault.CodeOf(err) != fault.CodeBadInput {
		t.Errorf("over a backup: %v", err)
	}
	restored := At(filepath.Join(t.TempDir(), "again"))
	done, err := restored.Restore(file, []age.Identity{key})
	if err != nil || done.Name != "north" || done.Role != string(roster.Party) {
		t.Fatalf("%+v, %v", done, err)
	}
	got := files(t, restored)
	if got["restored"] == "" {
		t.Error("the home is not marked")
	}
	delete(got, "restored")
	for name := range got {
		if strings.HasSuffix(name, "/lock") || strings.HasSuffix(name, "/making") { // of the copy itself
			delete(got, name)
			delete(want, name)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	again, err := filepath.Glob(restored.path("keepsakes/*"))
	if err != nil || len(again) != 1 {
		t.Fatal(again, err)
	}
	if info, err := os.Stat(again[0]); err != nil || !info.ModTime().Equal(long) {
		t.Errorf("retention would count from %v, %v; want %v", info.ModTime(), err, long)
	}
	if info, err := os.Stat(restored.folder); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	wantWhole(t, restored, 1)
	if _, err := restored.Restore(file, []age.Identity{key}); fault.CodeOf(err) != fault.CodeBadInput || !strings.Contains(err.Error(), "exists already") {
		t.Errorf("into a home: %v", err)
	}
	without := filepath.Join(t.TempDir(), "without")
	if _, err := h.Backup(without, []age.Recipient{key.Recipient()}, false); err != nil {
		t.Fatal(err)
	}
	less := At(filepath.Join(t.TempDir(), "less"))
	if _, err := less.Restore(without, []age.Identity{key}); err != nil {
		t.Fatal(err)
	}
	for name := range files(t, less) {
		if strings.HasPrefix(name, "keepsakes") {
			t.Errorf("%s is in a backup without retained state", name)
		}
	}
}

// A backup that is cut off anywhere, changed, sealed to another key, or made by somebody else with other
// files is refused in a sentence, and leaves nothing.
func TestRestoreRefuses(t *testing.T) {
	h, key := rotatable(t), operatorKey(t)
	good, err := os.ReadFile(backsUp(t, h, key))
	if err != nil {
		t.Fatal(err)
	}
	sealed := func(content []byte) []byte {
		var b bytes.Buffer
		w, err := age.Encrypt(&b, key.Recipient())
		if err == nil {
			_, err = w.Write(content)
		}
		if err = errors.Join(err, w.Close()); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	r, err := age.Decrypt(bytes.NewReader(good), key)
	if err != nil {
		t.Fatal(err)
	}
	plain, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	crafted := func(kind byte, name, end string) []byte { // by somebody who knows the recipient
		var b bytes.Buffer
		w := &backupWriter{tar: tar.NewWriter(&b), done: &Backup{Stamp: Stamp{Format: stampFormat, Role: string(roster.Party)}}}
		stamp, err := json.Marshal(w.done.Stamp)
		if err == nil {
			err = w.entry(stampName, stamp)
		}
		if err == nil {
			err = w.tar.WriteHeader(&tar.Header{Typeflag: kind, Name: name, Linkname: "/etc/passwd", Mode: 0o777})
		}
		if err = errors.Join(err, w.entry(end, nil), w.tar.Close()); err != nil {
			t.Fatal(err)
		}
		return sealed(b.Bytes())
	}
	cases := map[string]struct {
		content []byte
		want    string
	}{
		"another key":        {good, "is not sealed to this key"},
		"empty":              {nil, "is no whole backup"},
		"a passphrase":       {[]byte(words + "\n"), "it does not begin like a file of age"}, // age would quote it
		"no archive":         {sealed([]byte("hello")), "is no whole backup"},
		"cut, sealed again":  {sealed(plain[:len(plain)-2048]), "is no whole backup"},
		"another format":     {crafted(tar.TypeReg, stampName, endName), "is no file of a home"},
		"up":                 {crafted(tar.TypeReg, "../split.key", endName), "is no file of a home"},
		"up from inside":     {crafted(tar.TypeReg, "releases/../../split.key", endName), "is no file of a home"},
		"absolute":           {crafted(tar.TypeReg, "/etc/split.key", endName), "is no file of a home"},
		"a session's seed":   {crafted(tar.TypeReg, "vault/journals/session/00/seed", endName), "is no file of a home"},
		"another file":       {crafted(tar.TypeReg, "restored", endName), "is no file of a home"},
		"a link":             {crafted(tar.TypeSymlink, "split.key", endName), "is no file of a home"},
		"a folder":           {crafted(tar.TypeDir, "releases/", endName), "is no file of a home"},
		"cut behind the end": {sealed(append(bytes.Clone(plain), make([]byte, 1<<18)...))[:1<<17], "is no whole backup"},
		"no end":             {crafted(tar.TypeReg, "split.key", "approvals"), "its end is missing"},
	}
	for n := 0; n < len(good); n += 997 {
		cases["cut at "+string(rune('a'+n/997%26))+time.Duration(n).String()] = struct {
			content []byte
			want    string
		}{good[:n], "is no whole backup"}
		flipped := bytes.Clone(good)
		flipped[len(good)-1-n] ^= 1
		cases["flipped "+time.Duration(n).String()] = struct {
			content []byte
			want    string
		}{flipped, "restored"} // "nothing was restored", or the key does not fit
	}
	for name, c := range cases {
		dir := t.TempDir()
		file, by := filepath.Join(t.TempDir(), "backup"), age.Identity(key)
		if name == "another key" {
			by = operatorKey(t)
		}
		if err := os.WriteFile(file, c.content, 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := At(filepath.Join(dir, "home")).Restore(file, []age.Identity{by})
		if fault.CodeOf(err) != fault.CodeBadInput || !strings.Contains(err.Error(), c.want) && !strings.Contains(err.Error(), "is not sealed to this key") {
			t.Errorf("%s: %v; want %q", name, err, c.want)
		}
		if strings.Contains(err.Error(), words[:13]) {
			t.Errorf("%s: the error quotes the file", name)
		}
		if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
			t.Errorf("%s: %v is left, %v", name, left, err)
		}
	}
}

// after is a restored home's start: the error with which its daemon ends, or nil if it connects and stays.
func (s *site) after(boss *site) error {
	s.start()
	for range 500 {
		select {
		case err := <-s.ended:
			s.stop = nil
			return err
		case <-time.After(20 * time.Millisecond):
		}
		if _, err := os.Stat(s.home.restoredPath()); errors.Is(err, fs.ErrNotExist) {
			return nil
		}
	}
	s.t.Fatalf("%s neither ends nor goes on", s.name)
	return nil
}

// restores replaces a party's home by what a backup holds.
func (s *site) restores(file string, key age.Identity) {
	s.t.Helper()
	s.halt()
	lost := s.home.folder + "-lost"
	if err := errors.Join(os.RemoveAll(lost), os.Rename(s.home.folder, lost)); err != nil {
		s.t.Fatal(err)
	}
	s.home = At(s.home.folder)
	if _, err := s.home.Restore(file, []age.Identity{key}); err != nil {
		s.t.Fatal(err)
	}
	tables, err := filepath.Glob(lost + "/*.csv") // no backup has them
	for _, path := range tables {
		err = errors.Join(err, os.Rename(path, s.home.path(filepath.Base(path))))
	}
	if err != nil || len(tables) == 0 {
		s.t.Fatal(tables, err)
	}
}

// A backup may be made in the middle of a job. The home that is restored from the last backup goes on. One
// from before the last job, or from the middle of a job, is found out by what the coordinator has seen, and
// goes on only after the operator has accepted the loss, which the audit record says.
func TestAnOldBackupIsFoundOut(t *testing.T) {
	of := trainable(t)
	boss, north, key := of["boss"], of["north"], operatorKey(t)
	first := backsUp(t, north.home, key) // after no job
	var middle string
	trainsOnce(t, of, func() { middle = backsUp(t, north.home, key) })
	last := backsUp(t, north.home, key)
	boss.knowsTheEndOf(north)

	north.restores(last, key)
	if err := north.after(boss); err != nil {
		t.Fatalf("the last backup: %v", err)
	}
	within(t, noticed, "north takes part again", func() bool { return boss.connected("north") })
	if kinds := kindsOf(t, north.home); !slices.Contains(kinds, audit.Restored) || slices.Contains(kinds, audit.LossAccepted) {
		t.Errorf("the record has %v", kinds)
	}
	for name, file := range map[string]string{"before the job": first, "in the middle of it": middle} {
		north.restores(file, key)
		err := north.after(boss)
		if fault.CodeOf(err) != fault.CodeBadInput || !strings.Contains(err.Error(), "mercer audit accept-loss") {
			t.Errorf("%s: %v", name, err)
		}
		if err := north.after(boss); err == nil {
			t.Errorf("%s: the second start goes on", name)
		}
		if slices.Contains(kindsOf(t, north.home), audit.Restored) {
			t.Errorf("%s: the record says that nothing is lost", name)
		}
	}
	if err := north.home.AcceptLoss(all.Reader()); err != nil {
		t.Fatal(err)
	}
	if err := north.home.AcceptLoss(all.Reader()); fault.CodeOf(err) != fault.CodeBadInput {
		t.Errorf("twice: %v", err)
	}
	north.home = At(north.home.folder)
	if err := north.after(boss); err != nil {
		t.Fatalf("after the operator has accepted it: %v", err)
	}
	if accepted := north.recorded(audit.LossAccepted); len(accepted) != 1 || accepted[0].By == nil || accepted[0].By.Member != "north" || *accepted[0].By.UID != os.Getuid() || accepted[0].By.Machine == "" {
		t.Errorf("the record has %+v", accepted)
	}
	within(t, noticed, "north takes part again", func() bool { return boss.connected("north") })
	trainsOnce(t, of, func() {})
	boss.knowsTheEndOf(north)
	north.restores(backsUp(t, north.home, key), key) // the history that began with the loss has its last backup
	if err := north.after(boss); err != nil {
		t.Fatalf("the last backup after the loss: %v", err)
	}
}

// knowsTheEndOf waits until the coordinator has the head that a party told after the end of its job.
func (s *site) knowsTheEndOf(party *site) {
	s.t.Helper()
	within(s.t, noticed, s.name+" knows the end of the job", func() bool {
		head := s.headOf(party.name)
		found, err := audit.Look(party.home.AuditPath(), head)
		return err == nil && found.Has && len(found.Open) == 0 && lastOf(s.t, party.home, head) == audit.Closed
	})
}

// headOf returns the hash that the coordinator keeps of a party's audit record, "" if there is none.
func (s *site) headOf(party string) string {
	s.t.Helper()
	b, err := os.ReadFile(s.home.path("heads/" + party))
	if errors.Is(err, fs.ErrNotExist) {
		return ""
	}
	if err != nil {
		s.t.Fatal(err)
	}
	r, head := wire.NewReader(b), [32]byte{}
	r.Magic(32, "mercer/v1/head", "the format is %q")
	r.Fixed(head[:])
	if r.Err() != nil {
		s.t.Fatal(r.Err())
	}
	return hex.EncodeToString(head[:])
}

// lastOf returns the kind of the line with a hash.
func lastOf(t *testing.T, h Home, hash string) (kind audit.Kind) {
	t.Helper()
	if _, err := audit.Verify(h.AuditPath(), func(e audit.Event, own string) error {
		if own == hash {
			kind = e.Kind
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return kind
}

func kindsOf(t *testing.T, h Home) (kinds []audit.Kind) {
	t.Helper()
	if _, err := audit.Verify(h.AuditPath(), func(e audit.Event, _ string) error { kinds = append(kinds, e.Kind); return nil }); err != nil {
		t.Fatal(err)
	}
	return kinds
}

// A coordinator that has lost the party's head cannot say that a backup is the last one.
func TestACoordinatorThatKnowsNothing(t *testing.T) {
	of := trainable(t)
	boss, north, key := of["boss"], of["north"], operatorKey(t)
	never := backsUp(t, north.home, key)
	north.restores(never, key)
	if err := north.after(boss); err != nil {
		t.Errorf("a party that has consented to nothing: %v", err)
	}
	within(t, noticed, "north is back", func() bool { return boss.connected("north") })
	trainsOnce(t, of, func() {})
	last := backsUp(t, north.home, key)
	if err := os.RemoveAll(boss.home.path("heads")); err != nil {
		t.Fatal(err)
	}
	north.restores(last, key)
	if err := north.after(boss); err == nil || !strings.Contains(err.Error(), "has no record of this party") {
		t.Errorf("%v", err)
	}
}

// trainable returns a running coordinator, with parties north and south that can train. South's operator
// approves each job.
func trainable(t *testing.T) map[string]*site {
	t.Helper()
	of := sites(t, "north", "south")
	of["north"].shares(0, 2, "")
	of["south"].shares(1, 2, "each")
	of["boss"].start()
	of["south"].start()
	return of
}

// trainsUntil begins a job of north and south. It returns the job's id when north has consented to its first
// session, and south awaits its operator.
func trainsUntil(t *testing.T, of map[string]*site) (id string) {
	t.Helper()
	boss, north, south := of["boss"], of["north"], of["south"]
	if north.stop == nil {
		north.start()
	}
	for _, s := range []*site{north, south} {
		within(t, 2*noticed, "boss sees "+s.name, func() bool { return boss.connected(s.name) })
	}
	before := len(kindsOf(t, north.home))
	id = boss.submit(sharedJob("people", "north", "south"))
	within(t, 2*noticed, "south is asked", func() bool { o, err := south.overview(); return err == nil && len(o.Awaiting) == 1 })
	within(t, 2*noticed, "north has consented", func() bool { return slices.Contains(kindsOf(t, north.home)[before:], audit.Accepted) })
	return id
}

// trainsOnce runs a job of north and south. The function during runs when north has consented to its first
// session, and south has not.
func trainsOnce(t *testing.T, of map[string]*site, during func()) {
	t.Helper()
	boss, north, south := of["boss"], of["north"], of["south"]
	before := len(kindsOf(t, north.home))
	id := trainsUntil(t, of)
	during()
	if err := south.client().Approve(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	if j := boss.wait(id); j.Failure != nil {
		t.Fatalf("%+v", j.Failure)
	}
	within(t, noticed, "north has closed the job", func() bool { return slices.Contains(kindsOf(t, north.home)[before:], audit.Closed) })
}

// A ledger whose entries are renamed while it is copied is in the backup with every entry, once.
func TestBackupOfALedgerThatChanges(t *testing.T) {
	h, key := newHome(t, roster.Party), operatorKey(t)
	const entries = 60
	name := func(n int, state string) string { return h.path("releases/rows-" + strconv.Itoa(n) + "." + state) }
	if err := os.MkdirAll(h.path("releases"), 0o700); err != nil {
		t.Fatal(err)
	}
	for n := range entries {
		if err := os.WriteFile(name(n, "admitted"), []byte("entry"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	stop, changing := make(chan struct{}), make(chan error, 1)
	go func() {
		states := []string{"admitted", "released"}
		for {
			select {
			case <-stop:
				changing <- nil
				return
			default:
			}
			if err := h.Releases().Still(func() (err error) {
				for n := range entries {
					err = errors.Join(err, os.Rename(name(n, states[0]), name(n, states[1])))
				}
				return err
			}); err != nil {
				changing <- err
				return
			}
			states[0], states[1] = states[1], states[0]
		}
	}()
	for range 20 {
		file := filepath.Join(t.TempDir(), "backup")
		if _, err := h.Backup(file, []age.Recipient{key.Recipient()}, false); err != nil {
			t.Fatal(err)
		}
		f, err := os.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		into := At(t.TempDir())
		if _, err := into.unpack(f, []age.Identity{key}); err != nil {
			t.Fatal(err)
		}
		if list, err := filepath.Glob(into.path("releases/rows-*")); err != nil || len(list) != entries {
			t.Errorf("%d of %d entries, %v", len(list), entries, err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
	close(stop)
	if err := <-changing; err != nil {
		t.Fatal(err)
	}
}

// A job that was open at the time of the backup is over for the restored party.
func TestRestoreEndsOpenJobs(t *testing.T) {
	h, key := newHome(t, roster.Party), operatorKey(t)
	record, err := audit.Open(h.AuditPath())
	if err != nil {
		t.Fatal(err)
	}
	open, closed := job.ID{1}, job.ID{2}
	for _, e := range []audit.Event{
		{Kind: audit.Accepted, Job: closed.String(), Session: "1"}, {Kind: audit.Accepted, Job: open.String(), Session: "2"}, {Kind: audit.Closed, Job: closed.String()},
	} {
		if err := record.Append(e); err != nil {
			t.Fatal(err)
		}
	}
	restored := At(filepath.Join(t.TempDir(), "again"))
	if _, err := restored.Restore(backsUp(t, h, key), []age.Identity{key}); err != nil {
		t.Fatal(err)
	}
	claims, err := vault.ReadClaims(restored.path("vault"))
	if err != nil {
		t.Fatal(err)
	}
	if err := claims.Unclaimed(protocol.SessionID{}, party.OverClaim(open.String())); err == nil {
		t.Error("the open job can go on")
	}
	if err := claims.Unclaimed(protocol.SessionID{}, party.OverClaim(closed.String())); err != nil {
		t.Error(err)
	}
}

// A job may have made its admitted releases after the backup. The restored party counts them as made, and a start of its
// daemon does not remove them.
func TestRestoreReleasesWhatWasAdmitted(t *testing.T) {
	h, key := newHome(t, roster.Party), operatorKey(t)
	id, err := h.Releases().Admit(disclosure.Asker{}, method.Release{Kind: method.ReleaseProducts, Job: "kidney", Peers: []string{"hub"}, Table: "patients", Set: unnamed()}, 0)
	if err != nil {
		t.Fatal(err)
	}
	if list, err := h.Releases().List(); err != nil || len(list) != 1 || list[0].State != disclosure.Admitted {
		t.Fatalf("before the backup: %+v, %v", list, err)
	}
	restored := At(filepath.Join(t.TempDir(), "again"))
	if _, err := restored.Restore(backsUp(t, h, key), []age.Identity{key}); err != nil {
		t.Fatal(err)
	}
	if err := restored.Releases().Restart(func(string) bool { return false }); err != nil {
		t.Fatal(err)
	}
	if list, err := restored.Releases().List(); err != nil || len(list) != 1 || list[0].ID != id || list[0].State != disclosure.Released {
		t.Errorf("%+v, %v; want the release %s", list, err, id)
	}
}

// The coordinator knows of a consent before the job goes on: a home that is lost in the middle of its first
// job, and restored from before it, is found out.
func TestAHomeLostInTheMiddleOfAJob(t *testing.T) {
	of := trainable(t)
	boss, north, key := of["boss"], of["north"], operatorKey(t)
	never := backsUp(t, north.home, key)
	trainsUntil(t, of)
	within(t, noticed, "boss knows of the consent", func() bool { _, err := os.Stat(boss.home.path("heads/north")); return err == nil })
	north.restores(never, key)
	if err := north.after(boss); err == nil || !strings.Contains(err.Error(), "is an old one") {
		t.Errorf("%v", err)
	}
}

// The coordinator's head and the restored record decide whether a home goes on.
func TestIsNewest(t *testing.T) {
	zero, job1 := [32]byte{}, job.ID{1}.String()
	accepted, ended, closed := audit.Event{Kind: audit.Accepted, Job: job1, Session: "1"}, audit.Event{Kind: audit.Ended, Job: job1, Session: "1"}, audit.Event{Kind: audit.Closed, Job: job1}
	for name, c := range map[string]struct {
		lines []audit.Event
		seen  int // the line that the coordinator has seen last; 0: none, -1: one that the record lacks
		want  string
	}{
		"nothing was done":              {[]audit.Event{{Kind: audit.Started}}, 0, ""},
		"all was seen":                  {[]audit.Event{accepted, ended, closed}, 3, ""},
		"more than was seen":            {[]audit.Event{accepted, ended, closed, {Kind: audit.Started}}, 3, ""},
		"a later line was seen":         {[]audit.Event{accepted, ended, closed}, -1, "is an old one"},
		"nothing done, but seen":        {[]audit.Event{{Kind: audit.Started}}, -1, "is an old one"},
		"no record, but seen":           {nil, -1, "is an old one"},
		"the coordinator has forgotten": {[]audit.Event{accepted, ended, closed}, 0, "has no record of this party"},
		"in the middle of a session":    {[]audit.Event{accepted}, 1, "made while jobs were open (" + job1 + ")"},
		"in the middle of a second one": {[]audit.Event{accepted, ended, {Kind: audit.Accepted, Job: job1, Session: "2"}}, 1, "made while jobs were open"},
		"between two sessions of a job": {[]audit.Event{accepted, ended}, 1, ""},
	} {
		h := newHome(t, roster.Party)
		heads := [][32]byte{zero}
		record, err := audit.Open(h.AuditPath())
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range c.lines {
			if err := record.Append(e); err != nil {
				t.Fatal(err)
			}
			heads = append(heads, partyHome{audit: record}.head().Head)
		}
		head := [32]byte{9}
		if c.seen >= 0 {
			head = heads[c.seen]
		}
		err = h.isNewest(Stamp{}, head)
		if (err == nil) != (c.want == "") || err != nil && (!strings.Contains(err.Error(), c.want) || fault.CodeOf(err) != fault.CodeBadInput) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}
