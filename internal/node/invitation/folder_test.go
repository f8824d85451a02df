package invitation

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

var made = time.Date(2026, 11, 30, 4, 0, 0, 0, time.UTC)

func invited(name, key string) Invitation {
	return Invitation{Name: name, Key: key, Created: made, Expires: made.Add(time.Hour)}
}

func newFolder(t *testing.T) Folder { return Folder(filepath.Join(t.TempDir(), "invitations")) }

func (f Folder) put(t *testing.T, i Invitation) Invitation {
	t.Helper()
	if err := f.Put(i); err != nil {
		t.Fatal(err)
	}
	return i
}

func (f Folder) list(t *testing.T, now time.Time) []Invitation {
	t.Helper()
	list, err := f.List(now)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// An invitation belongs to the keys that claim it first, also after a restart. A new invitation of the same
// name is unclaimed, and the former cannot be claimed any more.
func TestClaimedOnce(t *testing.T) {
	f := newFolder(t)
	i := f.put(t, invited("west", "U1"))
	if list := f.list(t, made); len(list) != 1 || list[0].claimant != nil {
		t.Fatalf("%+v", list)
	}
	for range 2 {
		claimed, err := f.Claim(i, party(t, "west", 3))
		if err != nil {
			t.Fatal(err)
		}
		if m, is := claimed.Claimant(); !is || m.Fingerprint() != party(t, "west", 3).Fingerprint() {
			t.Errorf("%v, %t", m, is)
		}
	}
	if _, err := f.Claim(i, party(t, "west", 4)); !errors.Is(err, ErrClaimed) {
		t.Errorf("claimed by two: %v", err)
	}
	if m, is := f.list(t, made)[0].Claimant(); !is || m.Fingerprint() != party(t, "west", 3).Fingerprint() {
		t.Errorf("after a restart: %v, %t", m, is)
	}
	again := f.put(t, invited("west", "U2"))
	if _, err := f.Claim(i, party(t, "west", 3)); !errors.Is(err, ErrClaimed) {
		t.Errorf("the former invitation: %v", err)
	}
	if _, err := f.Claim(again, party(t, "west", 4)); err != nil {
		t.Error(err)
	}
	if err := f.Remove("west"); err != nil || len(f.list(t, made)) != 0 {
		t.Errorf("withdrawn: %v", err)
	}
	if _, err := f.Claim(again, party(t, "west", 4)); err == nil {
		t.Error("a withdrawn invitation was claimed")
	}
}

// A claim that a daemon writes while another invitation takes the place of its own does not count.
func TestClaimOfAReplacedInvitation(t *testing.T) {
	f := newFolder(t)
	i := f.put(t, invited("west", "U1"))
	if _, err := f.Claim(i, party(t, "west", 3)); err != nil {
		t.Fatal(err)
	}
	stale, err := os.ReadFile(f.claim("west"))
	if err != nil {
		t.Fatal(err)
	}
	again := f.put(t, invited("west", "U2"))
	if err := os.WriteFile(f.claim("west"), stale, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, is := f.list(t, made)[0].Claimant(); is {
		t.Error("the claim of the former invitation counts")
	}
	if claimed, err := f.Claim(again, party(t, "west", 4)); err != nil {
		t.Error(err)
	} else if m, _ := claimed.Claimant(); m.Fingerprint() != party(t, "west", 4).Fingerprint() {
		t.Error("claimed for another")
	}
}

// An invitation that has expired is removed: a clock that goes back does not bring it back. One that was
// made in the future has expired.
func TestExpiry(t *testing.T) {
	f := newFolder(t)
	f.put(t, invited("west", "U1"))
	for _, now := range []time.Time{made.Add(-time.Minute), made, made.Add(time.Hour - time.Second)} {
		if len(f.list(t, now)) != 1 {
			t.Errorf("gone at %v", now)
		}
	}
	if len(f.list(t, made.Add(time.Hour))) != 0 || len(f.list(t, made)) != 0 {
		t.Error("an expired invitation is there")
	}
	f.put(t, invited("west", "U1"))
	if len(f.list(t, made.Add(-time.Hour))) != 0 || len(f.list(t, made)) != 0 {
		t.Error("an invitation from the future is there")
	}
}

// Nobody else can read the folder, and it holds no secret. A file that cannot be used names itself.
func TestFolder(t *testing.T) {
	f := newFolder(t)
	f.put(t, invited("west", "U1"))
	for path, want := range map[string]os.FileMode{string(f): 0o700, f.file("west"): 0o600} {
		info, err := os.Stat(path)
		if err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v", path, info.Mode(), err)
		}
	}
	for _, bad := range []Invitation{{}, invited("../west", "U1"), invited("west", ""), {Name: "west", Key: "U", Created: made, Expires: made.Add(LongestLife + time.Second)}} {
		if err := f.Put(bad); err == nil {
			t.Errorf("stored %+v", bad)
		}
	}
	for _, text := range []string{"", "{", `{"name": "east", "key": "U1"}`, strings.Repeat("x", maxFile+1)} {
		if err := os.WriteFile(f.file("west"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := f.List(made); err == nil || !strings.Contains(err.Error(), f.file("west")) {
			t.Errorf("%.20q: %v", text, err)
		}
	}
}

// The number of open invitations is bounded.
func TestFullFolder(t *testing.T) {
	f := newFolder(t)
	for n := range MaxOpen {
		f.put(t, invited(fmt.Sprintf("p%d", n), fmt.Sprint("U", n)))
	}
	if err := f.Put(invited("west", "U")); err == nil {
		t.Error("more invitations than the most")
	}
	f.put(t, invited("p0", "Unew"))
	late := invited("west", "U")
	late.Created, late.Expires = made.Add(2*time.Hour), made.Add(3*time.Hour)
	f.put(t, late) // the others have expired
}
