package daemon

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/base/identity"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method/all"
	"github.com/mercer-fl/mercer/internal/node/control"
	"github.com/mercer-fl/mercer/internal/node/roster"
	"github.com/mercer-fl/mercer/internal/node/vault"
	"github.com/mercer-fl/mercer/protocol"
)

var kept = []byte("an encoder, which only this home has")

// rotatable returns a home with retained state of a job and of an edition.
func rotatable(t *testing.T) Home {
	t.Helper()
	h := newHome(t, roster.Party)
	id, err := h.identity()
	if err != nil {
		t.Fatal(err)
	}
	for _, folder := range []string{h.retained(), h.editions()} {
		e, err := vault.OpenArtifacts(folder, id.KEMKey())
		if err == nil {
			err = e.Put(job.ID{1}, vault.Model, kept)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return At(h.folder) // as another process
}

// wantWhole checks that a home has the identity of the seed, that its member file belongs to it, and that
// it reads all that it had.
func wantWhole(t *testing.T, h Home, seed byte) {
	t.Helper()
	want, err := identity.FromSeed([32]byte{seed})
	if err != nil {
		t.Fatal(err)
	}
	id, err := h.identity()
	if err != nil || id.Public().Fingerprint() != want.Public().Fingerprint() {
		t.Fatalf("not the identity of seed %d: %v", seed, err)
	}
	for _, e := range h.sealedTo(id) {
		if got, err := e.Get(job.ID{1}, vault.Model); !errors.Is(err, vault.ErrNoState) && (err != nil || !bytes.Equal(got, kept)) {
			t.Errorf("%q, %v", got, err)
		}
	}
	if f, err := h.Fingerprint(); err != nil || f != want.Public().Fingerprint() {
		t.Errorf("%v, %v", f, err)
	}
}

// The new identity opens everything, and the earlier one signs it and opens nothing.
func TestRotateIdentity(t *testing.T) {
	h := rotatable(t)
	before, err := roster.LoadMember(h.MemberPath())
	if err != nil {
		t.Fatal(err)
	}
	done, err := h.RotateIdentity(all.Reader(), [32]byte{2})
	if err != nil || done.Sealed != 2 || done.Foreign != 0 {
		t.Fatalf("%+v, %v", done, err)
	}
	wantWhole(t, h, 2)
	wantWhole(t, At(h.folder), 2)
	m, err := roster.LoadMember(h.MemberPath())
	if err != nil || m.Fingerprint() != done.Member.Fingerprint() || !before.SignedNext("north", m.Public, m.Succession) {
		t.Errorf("the member file has other keys, or no signature of the earlier ones: %v", err)
	}
	earlier, err := identity.FromSeed([32]byte{1})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range h.sealedTo(earlier) {
		if _, err := e.Get(job.ID{1}, vault.Model); err == nil {
			t.Error("the earlier identity opens what the home has")
		}
	}
	for _, left := range []string{"identity.new", "member.next.yaml", "keepsakes/*/key.n*", "editions/*/key.n*"} {
		if files, _ := filepath.Glob(h.path(left)); len(files) > 0 {
			t.Errorf("%v is left", files)
		}
	}
	if _, err := h.RotateIdentity(all.Reader(), [32]byte{3}); err != nil {
		t.Errorf("a second rotation: %v", err)
	}
}

// A process that is killed at any step leaves the earlier or the new identity, whole: at once for readers,
// and after the next start also without the files of the other one.
func TestRotationIsKilled(t *testing.T) {
	for name, c := range map[string]struct {
		until func(h Home, r *identity.Rotation) error
		seed  byte
	}{
		"before anything": {func(Home, *identity.Rotation) error { return nil }, 1},
		"prepared": {func(h Home, r *identity.Rotation) error {
			_, err := h.prepareRotation(r)
			return err
		}, 1},
		"the draft written": {func(h Home, r *identity.Rotation) error {
			_, err := h.prepareRotation(r)
			return errors.Join(err, os.WriteFile(h.IdentityPath()+".new", bytes.Repeat([]byte{2}, 32), 0o600))
		}, 1},
		"committed": {func(h Home, r *identity.Rotation) error {
			_, err := h.prepareRotation(r)
			return errors.Join(err, r.Commit())
		}, 2},
		"one store settled": {func(h Home, r *identity.Rotation) error {
			_, err := h.prepareRotation(r)
			return errors.Join(err, r.Commit(), h.sealedTo(r.Next)[0].Settle())
		}, 2},
		"one store settled to the earlier": {func(h Home, r *identity.Rotation) error {
			_, err := h.prepareRotation(r)
			return errors.Join(err, h.sealedTo(r.Earlier)[0].Settle())
		}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			h := rotatable(t)
			r, err := h.keys.secrets.Rotate(h.IdentityPath(), [32]byte{2})
			if err != nil {
				t.Fatal(err)
			}
			if err := c.until(h, r); err != nil {
				t.Fatal(err)
			}
			reader := At(h.folder)
			id, err := reader.identity()
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range reader.sealedTo(id)[:2] {
				if got, err := e.Get(job.ID{1}, vault.Model); err != nil || !bytes.Equal(got, kept) {
					t.Errorf("a reader after the kill: %q, %v", got, err)
				}
			}
			if err := At(h.folder).alone(func() error { return nil }); err != nil {
				t.Fatal(err)
			}
			wantWhole(t, At(h.folder), c.seed)
			for _, left := range []string{"identity.new", "member.next.yaml", "*/*/key.n*"} {
				if files, _ := filepath.Glob(h.path(left)); len(files) > 0 {
					t.Errorf("%v is left", files)
				}
			}
			if _, err := At(h.folder).RotateIdentity(all.Reader(), [32]byte{3}); err != nil {
				t.Fatal(err)
			}
			wantWhole(t, At(h.folder), 3)
		})
	}
}

// A home with open sessions keeps its identity, and the error lists the jobs.
func TestRotateIdentityInAJob(t *testing.T) {
	h := rotatable(t)
	v, err := vault.OpenDisk(h.path("vault"), "a build")
	if err != nil {
		t.Fatal(err)
	}
	for n := range byte(3) { // two sessions of one job, one of another
		p := control.Proposal{Job: job.ID{n / 2}, Spec: []byte("kind: Job"), Descriptor: protocol.Descriptor{
			Protocol: "okra", Version: 1, Params: []byte{1}, Purpose: "train",
			Members: []protocol.Member{{Name: "boss", Role: protocol.RoleServer}, {Name: "north", Role: protocol.RoleLeader}},
		}}
		if _, err := v.Create(protocol.SessionID{n}, [32]byte{n}, p.Encode()); err != nil {
			t.Fatal(err)
		}
	}
	if err := v.Close(); err != nil {
		t.Fatal(err)
	}
	_, err = h.RotateIdentity(all.Reader(), [32]byte{2})
	if fault.CodeOf(err) != fault.CodeBadInput || strings.Count(err.Error(), job.ID{0}.String()) != 1 || strings.Count(err.Error(), job.ID{1}.String()) != 1 {
		t.Errorf("%v", err)
	}
	wantWhole(t, At(h.folder), 1)
}

// Nothing is changed in a home whose member file belongs to another identity.
func TestRotateIdentityOfAStrangersFile(t *testing.T) {
	h, other := rotatable(t), rotatable(t)
	if _, err := other.RotateIdentity(all.Reader(), [32]byte{9}); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(other.MemberPath(), h.MemberPath()); err != nil {
		t.Fatal(err)
	}
	if _, err := h.RotateIdentity(all.Reader(), [32]byte{2}); fault.CodeOf(err) != fault.CodeBadInput || !strings.Contains(err.Error(), "does not belong to the identity") {
		t.Errorf("%v", err)
	}
	if id, err := At(h.folder).identity(); err != nil || id.Public().Fingerprint() == (identity.Fingerprint{}) {
		t.Fatal(err)
	}
	if _, err := os.Stat(h.nextMemberPath()); err == nil {
		t.Error("a member file is left")
	}
}
