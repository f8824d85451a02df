package cli

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"golang.org/x/sys/unix"
)

// inNetwork says that a process is in the network namespace of this test.
const inNetwork = "MERCER_TEST_NETWORK"

// TestNetwork runs scripts in a network namespace of their own, with two addresses beside
// loopback: 10.77.0.1 and 10.77.0.2. They have the other scripts' commands, and
// networkCommands.
func TestNetwork(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	if os.Getenv(inNetwork) == "" {
		enterNetwork(t)
		return
	}
	for _, a := range []struct { // in this order: the first of a net is where calls come from
		alias   string
		address [4]byte
	}{{"lo", [4]byte{127, 0, 0, 1}}, {"lo:1", [4]byte{10, 77, 0, 1}}, {"lo:2", [4]byte{10, 77, 0, 2}}} {
		if err := setAddress(a.alias, a.address); err != nil {
			t.Fatal(err)
		}
	}
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("testdata", "network"),
		RequireExplicitExec: true,
		Deadline:            time.Now().Add(2 * time.Minute),
		Setup: func(e *testscript.Env) error {
			e.Values[processKey("processes")] = make(map[string]*process)
			e.Values[onlookerKey{}] = make(map[string]*onlooker)
			return nil
		},
		Cmds: networkCommands(),
	})
}

// enterNetwork runs the test once more in a namespace, where that is allowed.
func enterNetwork(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestNetwork$", "-test.v")
	cmd.Env = append(os.Environ(), inNetwork+"=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNET,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
	}
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	switch {
	case err != nil && !errors.As(err, &exit):
		t.Skipf("this machine gives a process no network of its own: %v", err)
	case err != nil:
		t.Fatalf("%v\n%s", err, out)
	case !strings.Contains(string(out), "--- PASS: TestNetwork/"):
		t.Fatalf("no script ran:\n%s", out)
	}
}

// setAddress gives loopback another address, and turns it on.
func setAddress(alias string, address [4]byte) error {
	socket, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM, 0)
	if err != nil {
		return err
	}
	defer unix.Close(socket) //nolint:errcheck // nothing was written
	request, err := unix.NewIfreq(alias)
	if err != nil {
		return err
	}
	if err := request.SetInet4Addr(address[:]); err != nil {
		return err
	}
	if err := unix.IoctlIfreq(socket, unix.SIOCSIFADDR, request); err != nil {
		return fmt.Errorf("address of %s: %w", alias, err)
	}
	request.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
	return unix.IoctlIfreq(socket, unix.SIOCSIFFLAGS, request)
}

// networkCommands are for scripts in a network of their own.
//
//	onlooker NAME LISTEN TARGET   passes connections at an address on to another, and keeps all bytes
//	[!] reads NAME TEXT...        an onlooker has seen one of the texts, in either direction, whatever its case;
//	                              texts of five letters and more, since ciphertext holds any shorter one by chance
//	soon FILE PATTERN             a line of a file matches within 5 s
func networkCommands() map[string]func(*testscript.TestScript, bool, []string) {
	all := commands()
	all["onlooker"] = plain(3, look)
	all["reads"] = reads
	all["soon"] = plain(2, soon)
	return all
}

type onlookerKey struct{}

// onlooker keeps what passes between the two ends of each connection.
type onlooker struct {
	l    net.Listener
	runs sync.WaitGroup

	mu   sync.Mutex
	open []net.Conn
	seen []*strings.Builder // of each connection two
}

func look(ts *testscript.TestScript, args []string) {
	l, err := net.Listen("tcp", args[1])
	ts.Check(err)
	o := &onlooker{l: l}
	o.runs.Go(func() {
		for {
			from, err := l.Accept()
			if err != nil {
				return
			}
			o.between(from, args[2])
		}
	})
	ts.Defer(o.stop)
	ts.Value(onlookerKey{}).(map[string]*onlooker)[args[0]] = o
}

func (o *onlooker) between(from net.Conn, target string) {
	to, err := net.Dial("tcp", target)
	if err != nil {
		_ = from.Close() // the coordinator does not run yet
		return
	}
	up, down := new(strings.Builder), new(strings.Builder)
	o.mu.Lock()
	o.open, o.seen = append(o.open, from, to), append(o.seen, up, down)
	o.mu.Unlock()
	o.runs.Go(func() { o.pass(from, to, up) })
	o.runs.Go(func() { o.pass(to, from, down) })
}

func (o *onlooker) pass(from, to net.Conn, seen *strings.Builder) {
	b := make([]byte, 1<<16)
	for {
		n, err := from.Read(b)
		o.mu.Lock()
		seen.Write(b[:n])
		o.mu.Unlock()
		if _, failed := to.Write(b[:n]); err != nil || failed != nil {
			_, _ = from.Close(), to.Close()
			return
		}
	}
}

func (o *onlooker) stop() {
	_ = o.l.Close()
	o.mu.Lock()
	for _, c := range o.open {
		_ = c.Close() // its other end may have closed it
	}
	o.mu.Unlock()
	o.runs.Wait()
}

func reads(ts *testscript.TestScript, neg bool, args []string) {
	o := ts.Value(onlookerKey{}).(map[string]*onlooker)[args[0]]
	o.mu.Lock()
	defer o.mu.Unlock()
	found, bytes := "", 0
	for _, seen := range o.seen {
		bytes += seen.Len()
		text := strings.ToLower(seen.String())
		for _, want := range args[1:] {
			if strings.Contains(text, strings.ToLower(want)) {
				found = want
			}
		}
	}
	switch {
	case bytes < 2000:
		ts.Fatalf("an onlooker of %d bytes proves nothing", bytes)
	case neg && found != "":
		ts.Fatalf("the onlooker reads %s", found)
	case !neg && found == "":
		ts.Fatalf("the onlooker reads none of %v", args[1:])
	}
}

func soon(ts *testscript.TestScript, args []string) {
	want := regexp.MustCompile(args[1])
	for began := time.Now(); time.Since(began) < 5*time.Second; time.Sleep(20 * time.Millisecond) {
		if want.MatchString(ts.ReadFile(args[0])) {
			return
		}
	}
	ts.Fatalf("after 5 s no line of %s matches %s:\n%s", args[0], args[1], ts.ReadFile(args[0]))
}
