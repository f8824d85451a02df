package daemon

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/base/identity"
	"github.com/mercer-fl/mercer/internal/method/all"
	"github.com/mercer-fl/mercer/internal/node/coordinator"
	"github.com/mercer-fl/mercer/internal/node/invitation"
	"github.com/mercer-fl/mercer/internal/node/roster"
)

// invites makes an invitation at the coordinator, whose daemon accepts it at once.
func (s *site) invites(name string) invitation.Token {
	s.t.Helper()
	token, err := s.home.Invite(all.Reader(), name, "", time.Hour)
	if err != nil {
		s.t.Fatal(err)
	}
	s.reloads()
	return token
}

// reloads makes the daemon read its files again.
func (s *site) reloads() {
	s.t.Helper()
	if err := s.client().Reload(s.t.Context()); err != nil {
		s.t.Fatal(err)
	}
}

// enrols prepares a new home to use an invitation.
func enrols(t *testing.T, home Home, token invitation.Token) *Enrolment {
	t.Helper()
	e, err := home.Enrol(all.Reader(), token, coordinator.RandomSeed(""))
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// alone starts a coordinator without parties.
func alone(t *testing.T) *site {
	t.Helper()
	boss := sites(t)["boss"]
	boss.start()
	within(t, 20*time.Second, "boss runs", func() bool { _, err := boss.overview(); return err == nil })
	return boss
}

// After a party is revoked, the file of an earlier roster does not bring it back.
func TestAnEarlierRosterDoesNotUndoARevocation(t *testing.T) {
	boss := alone(t)
	_, west := newcomer(t, boss, "west")
	before := boss.roster().With(west)
	boss.joins(before)
	after, err := boss.home.Revoke(all.Reader(), "west")
	if err != nil || boss.roster().Hash() != after.Hash() {
		t.Fatalf("%v, %v", after, err)
	}
	if err := before.Save(boss.home.RosterPath()); err != nil {
		t.Fatal(err)
	}
	if err := boss.client().Reload(t.Context()); fault.CodeOf(err) != fault.CodePolicy || !strings.Contains(err.Error(), "is not approved") {
		t.Errorf("the daemon reads the earlier roster: %v", err)
	}
	boss.joins(before) // the operator compares again
	boss.reloads()
}

// Two commands that change the roster follow one another, so that neither change is lost.
func TestChangesOfARosterFollowOneAnother(t *testing.T) {
	boss := alone(t)
	_, west := newcomer(t, boss, "west")
	boss.joins(boss.roster().With(west))
	_, lock, err := boss.home.lockMembers(all.Reader()) // another command has read the roster
	if err != nil {
		t.Fatal(err)
	}
	revoked := make(chan error, 1)
	go func() {
		_, err := boss.home.Revoke(all.Reader(), "west")
		revoked <- err
	}()
	select {
	case err := <-revoked:
		t.Fatalf("the roster changes under the other command: %v", err)
	case <-time.After(300 * time.Millisecond):
	}
	_, east := newcomer(t, boss, "east")
	boss.joins(boss.roster().With(east))
	if err := errors.Join(lock.Close(), <-revoked); err != nil {
		t.Fatal(err)
	}
	if _, is := boss.roster().Lookup("east"); !is {
		t.Error("the change of the other command is lost")
	}
}

// Two parties use their invitations at the same time. Each waits until the operator has compared its
// fingerprint, and then receives a roster that has it. A restart of the coordinator changes nothing.
func TestInvitedPartiesJoin(t *testing.T) {
	boss := alone(t)
	names := []string{"north", "west"}
	tokens := []invitation.Token{boss.invites("north"), boss.invites("west")}
	enrolments := make([]*Enrolment, 2)
	var joining sync.WaitGroup
	for i, token := range tokens {
		enrolments[i] = enrols(t, At(boss.home.folder+"-"+names[i]), token)
		joining.Go(func() {
			if r, err := enrolments[i].Ask(t.Context()); r != nil || err != nil {
				t.Errorf("before the approval: %v, %v", r, err)
			}
		})
	}
	joining.Wait()
	boss.halt()
	boss.start()
	within(t, 20*time.Second, "boss runs again", func() bool { _, err := boss.overview(); return err == nil })
	for i, name := range names {
		m, err := boss.home.Newcomer(name)
		if err != nil || m.Fingerprint() != enrolments[i].Member.Fingerprint() {
			t.Fatalf("%s: %v, %v", name, m.Fingerprint(), err)
		}
		if _, err := boss.home.ApproveNewcomer(all.Reader(), name, m.Fingerprint()); err != nil {
			t.Fatal(err)
		}
	}
	boss.reloads()
	for i, name := range names {
		r, err := enrolments[i].Ask(t.Context())
		if err != nil || r == nil || r.Hash() != boss.roster().Hash() {
			t.Fatalf("%s after the approval: %v, %v", name, r, err)
		}
		if err := enrolments[i].Home.Join(all.Reader(), r); err != nil {
			t.Fatal(err)
		}
		s := &site{t: t, name: name, home: enrolments[i].Home, run: RunParty, log: &logBuffer{}}
		s.start()
		t.Cleanup(s.halt)
		within(t, 5*time.Second, name+" is connected", func() bool { return boss.connected(name) })
	}
}

// A file that is no invitation ends invitations, and does not keep a member in.
func TestDamagedInvitation(t *testing.T) {
	boss := alone(t)
	e := enrols(t, At(boss.home.folder+"-west"), boss.invites("west"))
	_, other := newcomer(t, boss, "other")
	boss.change(boss.roster().With(other))
	if err := os.WriteFile(filepath.Join(string(boss.home.Invitations()), "x.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	boss.change(boss.roster().Without("other"))
	boss.says("x.json cannot be used; remove it and invite again")
	if _, err := e.Ask(t.Context()); err == nil {
		t.Error("an invitation beside a damaged one is open")
	}
	if o, err := boss.overview(); err != nil || len(o.Members) != 0 {
		t.Errorf("%+v, %v", o.Members, err)
	}
}

// Of two homes that use one invitation at the same time, one waits for approval. The other is refused, and
// the coordinator's log says so.
func TestInvitationUsedTwiceAtOnce(t *testing.T) {
	boss := alone(t)
	token := boss.invites("west")
	var joining sync.WaitGroup
	errs := make([]error, 2)
	for i, name := range []string{"-west", "-thief"} {
		e := enrols(t, At(boss.home.folder+name), token)
		joining.Go(func() { _, errs[i] = e.Ask(t.Context()) })
	}
	joining.Wait()
	if (errs[0] == nil) == (errs[1] == nil) {
		t.Fatalf("%v and %v", errs[0], errs[1])
	}
	for _, err := range errs {
		if err != nil && (fault.CodeOf(err) != fault.CodePolicy || !strings.Contains(err.Error(), "has been used already, with other keys")) {
			t.Errorf("the second was told %v", err)
		}
	}
	boss.says("refused the claim of an invitation")
}

// An invitation that is over, that another has replaced, or whose name has become a member's is refused.
func TestInvitationsThatAreOver(t *testing.T) {
	boss := alone(t)
	former := boss.invites("west")
	token := boss.invites("west")
	e := enrols(t, At(boss.home.folder+"-west"), former)
	if _, err := e.Ask(t.Context()); err == nil || !strings.Contains(err.Error(), "another one has replaced it") {
		t.Errorf("a former invitation: %v", err)
	}
	e = enrols(t, At(boss.home.folder+"-west"), token)
	_, other := newcomer(t, boss, "other")
	other.Name = "west"
	boss.change(boss.roster().With(other))
	if _, err := e.Ask(t.Context()); err == nil || !strings.Contains(err.Error(), "has a member called west with other keys") {
		t.Errorf("a name that exists: %v", err)
	}
	if _, err := boss.home.Invite(all.Reader(), "west", "", time.Hour); err == nil || !strings.Contains(err.Error(), "west is a member already") {
		t.Errorf("an invitation of a member: %v", err)
	}
	past := token
	past.Expires = time.Now().Add(-time.Second)
	if _, err := At(boss.home.folder+"-late").Enrol(all.Reader(), past, coordinator.RandomSeed("")); fault.CodeOf(err) != fault.CodeBadInput || !strings.Contains(err.Error(), "expired") {
		t.Errorf("an invitation that has expired: %v", err)
	}
	if _, err := os.Stat(boss.home.folder + "-late"); err == nil {
		t.Error("an expired invitation has made a home")
	}
}

// Claims that do not fit their invitation are refused with a sentence, and record nothing.
func TestClaimsThatAreRefused(t *testing.T) {
	boss := sites(t)["boss"]
	id, c, err := boss.home.open(all.Reader())
	if err != nil {
		t.Fatal(err)
	}
	token, err := boss.home.Invite(all.Reader(), "west", "", time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	m := boss.home.newMembership(all.Reader(), c, id, boss.roster(), slog.New(slog.DiscardHandler))
	own := enrols(t, At(boss.home.folder+"-west"), token)
	key, err := guestKey(token.Secret())
	if err != nil {
		t.Fatal(err)
	}
	claim := func(id *identity.Identity, name string, role roster.Role) []byte {
		b, err := invitation.Sign(id, roster.Member{Name: name, Role: role, Public: id.Public()}, key)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	for _, tt := range []struct {
		what, guest string
		claim       []byte
		want        string
	}{
		{"another name", "west", claim(own.id, "east", roster.Party), "the invitation is for a party called west"},
		{"another role", "west", claim(own.id, "west", roster.Coordinator), "the invitation is for a party called west"},
		{"keys of a member", "west", claim(id, "west", roster.Party), "the keys belong to another member"},
		{"no invitation", "east", claim(own.id, "east", roster.Party), "the invitation of east has expired"},
		{"junk", "west", []byte("junk"), "the claim of an invitation"},
	} {
		a, err := invitation.DecodeAnswer(m.answer(tt.guest, tt.claim))
		if err != nil || a.State != invitation.Refused || !strings.Contains(a.Reason, tt.want) {
			t.Errorf("%s: %+v, %v", tt.what, a, err)
		}
	}
	if _, err := boss.home.Newcomer("west"); err == nil {
		t.Error("a refused claim was recorded")
	}
	if a, err := invitation.DecodeAnswer(m.answer("west", own.claim)); err != nil || a.State != invitation.Pending {
		t.Errorf("the claim that fits: %+v, %v", a, err)
	}
}

// The daemon refuses an invitation after its time by either clock: the one that operators set, and the one
// that nobody can set back.
func TestDaemonRefusesAfterTheTime(t *testing.T) {
	now := time.Now()
	i := invitation.Invitation{Name: "west", Key: "U", Created: now, Expires: now.Add(time.Hour)}
	open := opened([]invitation.Invitation{i}, nil, now)["west"]
	if open.over(now) || open.over(now.Add(59*time.Minute)) || !open.over(now.Add(time.Hour)) {
		t.Error("an invitation is not valid for its time")
	}
	i.Expires = i.Expires.Add(24 * time.Hour) // as a clock that went back makes it seem
	open.Invitation = i
	if later := opened([]invitation.Invitation{i}, map[string]openInvitation{"west": open}, now)["west"]; !later.over(now.Add(time.Hour)) {
		t.Error("a clock that goes back makes an invitation valid for longer")
	}
}

// An answer that names another coordinator than the invitation is refused.
func TestAnswerOfAnotherCoordinator(t *testing.T) {
	boss := alone(t)
	token := boss.invites("west")
	e := enrols(t, At(boss.home.folder+"-west"), token)
	_, false1 := newcomer(t, boss, "false")
	false1.Role, false1.Name = roster.Coordinator, "boss"
	forged := (&roster.Roster{Federation: "clinics", Members: []roster.Member{false1}}).With(e.Member)
	file, err := forged.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.heard(invitation.Answer{State: invitation.Approved, Roster: file}.Encode()); fault.CodeOf(err) != fault.CodePolicy {
		t.Errorf("a roster of another coordinator: %v", err)
	}
	without, err := boss.roster().Marshal()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.heard(invitation.Answer{State: invitation.Approved, Roster: without}.Encode()); err == nil || !strings.Contains(err.Error(), "the roster has no member west") {
		t.Errorf("a roster without the newcomer: %v", err)
	}
}

// The secret of an invitation is in no file of the coordinator's home and in no log.
func TestSecretStaysInTheInvitation(t *testing.T) {
	boss := alone(t)
	token := boss.invites("west")
	e := enrols(t, At(boss.home.folder+"-west"), token)
	if _, err := e.Ask(t.Context()); err != nil {
		t.Fatal(err)
	}
	secret := token.Secret()
	forms := [][]byte{secret[:], []byte(hex.EncodeToString(secret[:])), []byte(base64.RawURLEncoding.EncodeToString(secret[:30])), []byte(token.Encode()[60:100])}
	look := func(what string, b []byte) {
		for _, form := range forms {
			if bytes.Contains(b, form) {
				t.Errorf("%s has the secret", what)
			}
		}
	}
	look("the log", []byte(boss.log.String()))
	for _, home := range []Home{boss.home, e.Home} {
		err := filepath.WalkDir(home.folder, func(path string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() {
				return err
			}
			b, err := os.ReadFile(path)
			look(path, b)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}
