package daemon

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"syscall"

	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/node/access"
	"github.com/mercer-fl/mercer/internal/node/admin"
	"github.com/mercer-fl/mercer/internal/node/roster"
)

// gate returns the gate that admits or refuses requests on the control sockets, and those of this machine's users on
// the web page. rules returns the setting "roles" in force.
func (h Home) gate(c *Config, members *roster.Roster, rules func() access.Rules) access.Gate {
	return access.Gate{
		Member: c.Name, Machine: access.ThisMachine(members.Federation), Owner: os.Geteuid(),
		Rules: rules, Accounts: access.SystemFiles().Account,
	}
}

// operator returns the user of this process as a person. Without an approved roster the person's machine is not known.
func (h Home) operator(c *Config) (access.Person, error) {
	members, err := h.ApprovedRoster()
	if err != nil {
		return access.Person{}, err
	}
	uid := os.Getuid()
	by := access.Person{Member: c.Name, UID: &uid}
	if members != nil {
		by.Machine = access.ThisMachine(members.Federation)
	}
	return by, nil
}

// warnOfStrangers logs the names in the setting "roles" that this machine does not have.
func warnOfStrangers(log *slog.Logger, rules access.Rules) {
	for _, name := range access.SystemFiles().Strangers(rules) {
		log.Warn("roles names somebody whom the files of users and groups of this machine do not have; nobody has a role by this name", "name", name)
	}
}

// errEntrance returns the error that a change of the second socket needs a new start of the daemon.
func errEntrance(h Home) error {
	return fault.BadInputf("%s changes \"folder\" or \"group\" of \"roles\"; start the daemon again to use the change", h.ConfigPath())
}

// doors are the sockets at which a daemon takes commands.
type doors []net.Listener

// openDoors opens the socket in the home and, if the setting "roles" has a folder, one for the members of its group.
func (h Home) openDoors(rules access.Rules) (open doors, err error) {
	own, err := admin.Listen(h.Socket())
	if err != nil {
		return nil, err
	}
	open = doors{own}
	if rules.Folder == "" {
		return open, nil
	}
	further, err := openFor(rules)
	if err != nil {
		return nil, errors.Join(err, open.close())
	}
	return append(open, further), nil
}

func (d doors) close() (err error) {
	for _, l := range d {
		err = errors.Join(err, l.Close())
	}
	return err
}

// openFor opens the socket in the folder of the setting "roles". The folder must belong to the daemon's user and hold
// nothing else, because the members of the group can enter it.
func openFor(rules access.Rules) (net.Listener, error) {
	gid, found := access.SystemFiles().Group(rules.Group)
	if !found {
		return nil, fault.BadInputf("the setting \"roles\" names the group %s, which this machine does not have; make the group with groupadd, or name another group", rules.Group)
	}
	if err := makeEntrance(rules.Folder, gid); err != nil {
		return nil, fault.BadInputf("the folder %s of the setting \"roles\" cannot be used: %w", rules.Folder, err)
	}
	path := filepath.Join(rules.Folder, socketName)
	if err := admin.Fits(path); err != nil {
		return nil, fault.BadInput(err)
	}
	return admin.ListenFor(path, gid)
}

// makeEntrance makes a folder that only the daemon's user and the members of a group can enter. It opens the folder
// before it looks at it and changes it, so that nobody can exchange the folder for another meanwhile.
func makeEntrance(folder string, gid int) (err error) {
	if err := safeWay(filepath.Dir(folder)); err != nil {
		return err
	}
	if err := os.Mkdir(folder, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return reason(err)
	}
	opened, err := os.OpenFile(folder, os.O_RDONLY|syscall.O_DIRECTORY|syscall.O_NOFOLLOW, 0)
	if errors.Is(err, syscall.ELOOP) || errors.Is(err, syscall.ENOTDIR) {
		return errNotOwn
	}
	if err != nil {
		return reason(err)
	}
	defer func() { err = errors.Join(err, opened.Close()) }()
	if err := holdsSocketAlone(opened); err != nil {
		return err
	}
	if err := opened.Chown(-1, gid); err != nil {
		return fmt.Errorf("its group cannot be set (%w); make the user who runs the daemon a member of the group", reason(err))
	}
	return reason(opened.Chmod(0o750))
}

// errNotOwn says that the folder of the second socket is a link, a file or somebody else's.
var errNotOwn = errors.New("it is not a folder of the user who runs the daemon")

// holdsSocketAlone returns an error unless a folder belongs to the daemon and has nothing but the socket in it.
func holdsSocketAlone(folder *os.File) error {
	info, err := folder.Stat()
	if err != nil {
		return reason(err)
	}
	if ownerOf(info) != os.Geteuid() {
		return errNotOwn
	}
	content, err := folder.ReadDir(-1)
	if err != nil {
		return reason(err)
	}
	for _, f := range content {
		if f.Name() != socketName {
			return fmt.Errorf("it holds %s; give a folder that holds nothing else, because others can enter it", f.Name())
		}
	}
	return nil
}

// safeWay returns an error if a user other than root and the daemon's user can replace the folder, or a folder
// above it, by another one. It checks the path as it is written, and the path to which its links lead.
func safeWay(folder string) error {
	real, err := filepath.EvalSymlinks(folder)
	if err != nil {
		return reason(err)
	}
	for _, at := range []string{folder, real} {
		for last := ""; at != last; at, last = filepath.Dir(at), at {
			if err := isGuarded(at); err != nil {
				return err
			}
		}
	}
	return nil
}

// isGuarded returns an error if a user other than root and the daemon's can exchange a file in a folder, or the link
// that stands in its place.
func isGuarded(folder string) error {
	info, err := os.Lstat(folder)
	if err != nil {
		return reason(err)
	}
	owner, mode := ownerOf(info), info.Mode()
	sticky := owner == 0 && mode&fs.ModeSticky != 0 // others remove and rename only what is their own
	open := mode.Perm()&0o022 != 0 && mode&fs.ModeSymlink == 0
	if owner != 0 && owner != os.Geteuid() || open && !sticky {
		return fmt.Errorf("other users can write in %s or own it, so they could put another folder in its place; give a folder below one that only root or the user of the daemon can write", folder)
	}
	return nil
}

// ownerOf returns the user to whom a file belongs, or [access.UnknownUID].
func ownerOf(info fs.FileInfo) int {
	if s, is := info.Sys().(*syscall.Stat_t); is {
		return int(s.Uid)
	}
	return access.UnknownUID
}

// reason returns the cause of an error about a path, without the path.
func reason(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}

// serve answers commands at all doors until ctx ends or one of them fails.
func (d doors) serve(ctx context.Context, h *admin.Requests) error {
	ended := make(chan error, len(d))
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	for _, l := range d {
		go func() {
			ended <- admin.Serve(ctx, l, h)
			stop()
		}()
	}
	var err error
	for range d {
		err = errors.Join(err, <-ended)
	}
	return err
}
