// Package querytest starts a PostgreSQL server for a test.
//
//	server, err := querytest.Start()
//	if errors.Is(err, querytest.ErrNoPostgres) {
package querytest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// Required is the environment variable that makes a test fail, instead of being skipped, if no
// server is installed.
const Required = "MERCER_REQUIRE_POSTGRES"

// ErrNoPostgres is the error if PostgreSQL is not installed and Required is not set.
var ErrNoPostgres = errors.New("PostgreSQL is not installed; install it with apt-get install postgresql")

// Server is a PostgreSQL server with its own database. It is reachable only by a Unix socket.
type Server struct {
	folder  string
	process *exec.Cmd
}

// Postgres starts a server that stops at the end of the test. Without PostgreSQL it skips the test, or fails it if
// MERCER_REQUIRE_POSTGRES is set.
func Postgres(t *testing.T) *Server {
	t.Helper()
	s, err := Start()
	if errors.Is(err, ErrNoPostgres) {
		t.Skipf("NOT TESTED on PostgreSQL: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Stop(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// Look returns an error if PostgreSQL is not installed: [ErrNoPostgres], or another one if [Required] is set.
func Look() error {
	_, err := programs()
	return err
}

// Start creates a database cluster and starts its server.
func Start() (*Server, error) {
	programs, err := programs()
	if err != nil {
		return nil, err
	}
	folder, err := os.MkdirTemp("", "pg") // a short path, because a socket's path can have only about 100 bytes
	if err != nil {
		return nil, err
	}
	s := &Server{folder: folder}
	if err := s.start(programs); err != nil {
		return nil, errors.Join(err, s.Stop())
	}
	return s, nil
}

// programs returns the folder of the server's programs.
func programs() (string, error) {
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/initdb") // folder of Debian's packages, which is not in PATH
	if err != nil {
		return "", err
	}
	if path, err := exec.LookPath("initdb"); err == nil {
		found = append(found, path)
	}
	switch {
	case len(found) > 0:
		return filepath.Dir(found[len(found)-1]), nil
	case os.Getenv(Required) != "":
		return "", fmt.Errorf("%s is set, but PostgreSQL is not installed", Required)
	}
	return "", ErrNoPostgres
}

const startTime = time.Minute

func (s *Server) start(programs string) error {
	who, err := s.owner()
	if err != nil {
		return err
	}
	data := filepath.Join(s.folder, "data")
	create := exec.Command(filepath.Join(programs, "initdb"), "-D", data, "-U", "owner", "-A", "trust", "-E", "UTF8", "--no-locale", "--no-sync")
	create.SysProcAttr, create.Dir = who, s.folder
	if said, err := create.CombinedOutput(); err != nil {
		return fmt.Errorf("initdb failed: %w: %s", err, said)
	}
	log, err := os.Create(filepath.Join(s.folder, "log"))
	if err != nil {
		return err
	}
	s.process = exec.Command(filepath.Join(programs, "postgres"), "-D", data, "-k", s.folder, "-c", "listen_addresses=", "-c", "fsync=off")
	s.process.SysProcAttr, s.process.Dir, s.process.Stderr = who, s.folder, log
	if err := errors.Join(s.process.Start(), log.Close()); err != nil {
		return err
	}
	for since := time.Now(); ; time.Sleep(50 * time.Millisecond) {
		err := s.Exec("SELECT 1")
		if err == nil {
			return nil
		}
		if time.Since(since) > startTime {
			said, readErr := os.ReadFile(log.Name())
			return fmt.Errorf("PostgreSQL does not answer: %w: %s", errors.Join(err, readErr), said)
		}
	}
}

// owner makes an unprivileged user the owner of the folder if this process is root. PostgreSQL
// refuses to run as root.
func (s *Server) owner() (*syscall.SysProcAttr, error) {
	if os.Geteuid() != 0 {
		return &syscall.SysProcAttr{}, nil
	}
	u, err := user.Lookup("postgres")
	if err != nil {
		u, err = user.Lookup("nobody")
	}
	if err != nil {
		return nil, err
	}
	uid, err := strconv.Atoi(u.Uid)
	gid, gidErr := strconv.Atoi(u.Gid)
	if err := errors.Join(err, gidErr, os.Chown(s.folder, uid, gid)); err != nil {
		return nil, err
	}
	return &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}, nil
}

// DSN returns the connection string for a user of the database.
func (s *Server) DSN(user string) string {
	return fmt.Sprintf("host=%s user=%s dbname=postgres", s.folder, user)
}

// Exec runs SQL statements as the database's owner.
func (s *Server) Exec(statements string) (err error) {
	ctx, stop := context.WithTimeout(context.Background(), startTime)
	defer stop()
	conn, err := pgx.Connect(ctx, s.DSN("owner"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close(ctx)) }()
	_, err = conn.PgConn().Exec(ctx, statements).ReadAll()
	return err
}

// Stop stops the server and removes its files.
func (s *Server) Stop() error {
	var err error
	if s.process != nil && s.process.Process != nil {
		err = s.process.Process.Signal(syscall.SIGINT)
		if waited := s.process.Wait(); err == nil {
			err = waited
		}
	}
	return errors.Join(err, os.RemoveAll(s.folder))
}
