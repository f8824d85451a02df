package nats

import (
	"errors"
	"log/slog"
	"net"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Strangers who open silent connections take a quarter of this process's connections and no
// more: connected members notice nothing, the server works, and another member can connect
// once the strangers' time to log in is over. With TLS and without.
func TestStrangersLeaveDescriptors(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	secret, _ := tlsKey(1)
	for name, change := range map[string]func(*Config){
		"without TLS": nil,
		"with TLS":    func(c *Config) { c.TLS = secret },
	} {
		t.Run(name, func(t *testing.T) {
			const most = 1024 // of this process, which is the strangers' too
			lowerLimit(t, most)
			var log told
			f := newFederation(t, func(c *Config) {
				c.Logger = slog.New(slog.NewTextHandler(&log, nil))
				if change != nil {
					change(c)
				}
			})
			north := f.join("north")
			watched := make(chan error, 1)
			go func() { watched <- f.server.Watch(t.Context()) }()
			f.strangers(f.server.Addr(), 3*most/8) // more than a quarter; the other ends are this process's, too, also of those it refuses
			if n := f.server.nats.NumClients(); n > most/4+f.cfg.maxConnections()-f.cfg.portConnections() {
				t.Errorf("%d connections are open", n)
			}
			f.send(north, "south", "rows")
			began := time.Now()
			south := f.join("south")
			if waited := time.Since(began); waited > 3*handshakeLimit {
				t.Errorf("a member came in after %v", waited)
			}
			f.receive(south)
			select {
			case err := <-watched:
				t.Fatalf("the server is given up: %v", err)
			default:
			}
			if n := log.count("too many open files"); n > 0 {
				t.Errorf("%d times there was no descriptor left", n)
			}
		})
	}
}

// Without any free descriptor the server cannot see the queues, and still does not end: its
// queues are intact.
func TestNoDescriptorIsNoBrokenDisk(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	var log told
	f := newFederation(t, func(c *Config) { c.Logger = slog.New(slog.NewTextHandler(&log, nil)) })
	restore := lowerLimit(t, 3) // all of which are open
	const every = watchEvery / 4
	watched := make(chan error, 1)
	go func() { watched <- f.server.watch(t.Context(), every) }()
	f.eventually("it is seen that nothing can be seen", func() bool { return log.count("cannot check the queues") > watchFailures })
	restore()
	select {
	case err := <-watched:
		t.Fatalf("the server is given up: %v", err)
	case <-time.After(2 * every):
	}
	f.send(f.join("north"), "south", "rows")
	f.receive(f.join("south"))
}

// A member above the limit of connections learns so, and not that another program answers.
func TestOneTooManyIsTold(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	secret, pin := tlsKey(1)
	f := newFederation(t, func(c *Config) { c.TLS = secret })
	f.strangers(f.server.Addr(), f.cfg.portConnections()+len(f.cfg.Members)+100)
	f.eventually("a caller is told", func() bool {
		line, err := newCaller(Address{}, Options{TLS: pin}).Dial("tcp", f.server.Addr())
		if err == nil {
			return line.Close() != nil // there was room already
		}
		return strings.Contains(err.Error(), "has reached its limit of connections")
	})
}

// strangers opens silent connections to an address until the test ends.
func (f *federation) strangers(address string, n int) {
	f.Helper()
	for range n {
		c, err := net.Dial("tcp", address)
		if err != nil {
			f.Fatal(err)
		}
		f.Cleanup(func() {
			if err := c.Close(); err != nil && !errors.Is(err, net.ErrClosed) && !strings.Contains(err.Error(), "reset") {
				f.Error(err)
			}
		})
	}
}

// lowerLimit has this process open no more than a number of files until the test ends, or the
// function that it returns is called.
func lowerLimit(t *testing.T, to int) (restore func()) {
	t.Helper()
	var before syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &before); err != nil {
		t.Fatal(err)
	}
	low := before
	low.Cur = uint64(to)
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &low); err != nil {
		t.Fatal(err)
	}
	restore = func() {
		if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &before); err != nil {
			t.Error(err)
		}
	}
	t.Cleanup(restore)
	return restore
}
