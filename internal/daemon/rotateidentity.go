package daemon

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/mercer-fl/mercer/internal/base/disk"
	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/base/identity"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/node/control"
	"github.com/mercer-fl/mercer/internal/node/roster"
	"github.com/mercer-fl/mercer/internal/node/vault"
)

// Rotated describes a change of a home's identity.
type Rotated struct {
	Member  roster.Member
	Sealed  int // number of keys of jobs and editions that now open with the new identity
	Foreign int // number of keys that the earlier identity could not open, so that they stay as they were
}

// RotateIdentity replaces the home's identity by a new one from the seed, which the earlier one signs. It returns an
// error while a daemon runs in the home or a job is open there. The retained state of jobs and the editions stay
// readable, and the earlier identity is destroyed: the key of each job is sealed to the new identity, so nothing
// needs the earlier one any more.
//
// The order makes a crash harmless. The member file and the keys of the new identity lie beside the
// former ones before the identity file is replaced, in one step. [Home.recoverIdentity] then takes the
// files of the identity that the home has, and removes the others.
func (h Home) RotateIdentity(jobs *job.Reader, seed [32]byte) (done Rotated, err error) {
	if _, _, err := h.open(jobs); err != nil {
		return done, err
	}
	err = h.alone(func() error {
		if err := h.closed(); err != nil {
			return err
		}
		r, err := h.keys.secrets.Rotate(h.IdentityPath(), seed)
		if err != nil {
			return err
		}
		if done, err = h.prepareRotation(r); err != nil {
			return errors.Join(err, h.recoverIdentity())
		}
		if err := r.Commit(); err != nil {
			return err
		}
		h.keys.forget()
		return h.recoverIdentity()
	})
	return done, err
}

// prepareRotation writes the files of the next identity beside those of the earlier one.
func (h Home) prepareRotation(r *identity.Rotation) (done Rotated, err error) {
	m, err := h.member()
	switch {
	case err != nil:
		return done, err
	case m.Fingerprint() != publicKeys(r.Earlier, m).Fingerprint():
		return done, fault.BadInputf("the member file %s does not belong to the identity in %s; restore the original member file", h.MemberPath(), h)
	}
	m.Public = publicKeys(r.Next, m)
	m.Succession = r.Earlier.SignNext(m.Name, m.Public)
	file, err := roster.MarshalMember(m)
	if err != nil {
		return done, err
	}
	done.Member = m
	if err := disk.Replace(h.nextMemberPath(), file); err != nil {
		return done, err
	}
	for _, artifacts := range h.sealedTo(r.Earlier) {
		sealed, foreign, err := artifacts.SealNext(r.Next.KEMKey().PublicKey())
		done.Sealed, done.Foreign = done.Sealed+sealed, done.Foreign+foreign
		if err != nil {
			return done, err
		}
	}
	return done, nil
}

// member reads the home's member file.
func (h Home) member() (roster.Member, error) {
	m, err := roster.LoadMember(h.MemberPath())
	if errors.Is(err, fs.ErrNotExist) {
		return m, fault.BadInputf("%s is no home of a federation; there is no %s", h, h.MemberPath())
	}
	if err != nil {
		return m, fault.BadInput(err)
	}
	return m, nil
}

// nextMemberPath returns the path of the member file of the next identity. The file is there only while
// the identity is being changed.
func (h Home) nextMemberPath() string { return h.path("member.next.yaml") }

// sealedTo returns the stores whose keys are sealed to the home's identity. id is this identity, and opens the keys.
func (h Home) sealedTo(id *identity.Identity) (stores []*vault.Artifacts) {
	for _, folder := range []string{h.retained(), h.editions(), h.snapshots()} {
		stores = append(stores, vault.ReadArtifacts(folder, id.KEMKey()))
	}
	return stores
}

// recoverIdentity completes or undoes a change of the identity, also one that a crash interrupted. The home must be
// locked. It removes the next member file last, so that a second crash is recovered in the same way.
func (h Home) recoverIdentity() error {
	if err := identity.Recover(h.IdentityPath()); err != nil {
		return err
	}
	next, err := roster.LoadMember(h.nextMemberPath())
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fault.BadInput(err)
	}
	id, err := h.identity()
	if err != nil {
		return err
	}
	for _, artifacts := range h.sealedTo(id) {
		if err := artifacts.Settle(); err != nil {
			return err
		}
	}
	if !bytes.Equal(next.Sign, id.Public().Sign) {
		return os.Remove(h.nextMemberPath())
	}
	if err := os.Rename(h.nextMemberPath(), h.MemberPath()); err != nil {
		return err
	}
	return disk.SyncDir(h.folder)
}

// closed returns an error, which lists the jobs, if the home has open sessions. The home must be locked.
func (h Home) closed() error {
	folder := h.path("vault")
	if _, err := os.Stat(folder); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	v, err := vault.OpenDisk(folder, "no session is resumed")
	if err != nil {
		return err
	}
	proposals, err := v.Unfinished()
	if err = errors.Join(err, v.Close()); err != nil || len(proposals) == 0 {
		return err
	}
	var open []string
	for _, b := range proposals {
		name := "a job whose proposal is lost"
		if p, err := control.DecodeProposal(b); err == nil {
			name = p.Job.String()
		}
		if !slices.Contains(open, name) {
			open = append(open, name)
		}
	}
	return fault.BadInputf("jobs are open in %s: %s; start the daemon and wait until they end, or end them with mercer job abort at the coordinator", h, strings.Join(open, ", "))
}
