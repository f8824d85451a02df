package nats

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nkeys"

	"github.com/mercer-fl/mercer/internal/base/disk"
	"github.com/mercer-fl/mercer/transport"
)

func TestConfigRefused(t *testing.T) {
	secret, _ := tlsKey(1)
	_, one := newKey(t)
	_, two := newKey(t)
	for want, c := range map[string]Config{
		"Config.Dir is empty":                                           {Members: []Member{{"a", one}}},
		"port 65536 is not valid; use 0 to 65535":                       {Dir: "x", Port: 65536, Members: []Member{{"a", one}}},
		"one of Config.AckWait, Share, MaxAge and MaxBytes is negative": {Dir: "x", AckWait: -1, Members: []Member{{"a", one}}},
		"the configuration has 0 members; use 1 to":                     {Dir: "x"},
		`two members are called "a"`:                                    {Dir: "x", Members: []Member{{"a", one}, {"a", two}}},
		`"a" and "b" have the same key`:                                 {Dir: "x", Members: []Member{{"a", one}, {"b", one}}},
		`member name "a.b" is not valid; use only lower-case letters`:   {Dir: "x", Members: []Member{{"a.b", one}}},
		`member name "*" is not valid; use only lower-case letters`:     {Dir: "x", Members: []Member{{"*", one}}},
		`member name "-a" is not valid; use only lower-case letters`:    {Dir: "x", Members: []Member{{"-a", one}}},
		"a member's name must have 1 to 64 bytes":                       {Dir: "x", Members: []Member{{"", one}}},
		`"UABC" is not a public user nkey`:                              {Dir: "x", Members: []Member{{"a", "UABC"}}},
		"cannot listen":                                                 {Dir: "x", Host: "nowhere.invalid", TLS: secret, Members: []Member{{"a", one}}},
	} {
		t.Chdir(t.TempDir())
		s, err := Start(t.Context(), c)
		if err == nil {
			t.Errorf("%s: started", want)
			if err := s.Shutdown(t.Context()); err != nil {
				t.Error(err)
			}
		} else if !strings.HasPrefix(err.Error(), "nats: ") || !strings.Contains(err.Error(), want) {
			t.Errorf("error %q, want one about %q", err, want)
		}
		if left, err := os.ReadDir("."); err != nil || len(left) > 0 {
			t.Errorf("%s: left behind %v (%v)", want, left, err)
		}
	}
}

func TestPortTaken(t *testing.T) {
	other, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := other.Close(); err != nil {
			t.Error(err)
		}
	}()
	f := &federation{TB: t, keys: make(map[string]nkeys.KeyPair)}
	dir := filepath.Join(t.TempDir(), "queues")
	port := other.Addr().(*net.TCPAddr).Port
	_, err = Start(t.Context(), Config{Port: port, Dir: dir, Members: []Member{f.newMember("north")}})
	var taken *PortTakenError
	if !errors.As(err, &taken) || taken.Port != port || taken.Host != "127.0.0.1" {
		t.Fatalf("error %v, want that port %d is taken", err, port)
	}
	want := fmt.Sprintf("nats: another program uses port %d on 127.0.0.1; stop that program or choose another port", port)
	if err.Error() != want {
		t.Errorf("error %q, want %q", err, want)
	}
	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("something was written to %s: %v", dir, err)
	}
}

func TestSecondServerOnSameQueues(t *testing.T) {
	f := newFederation(t, nil)
	_, err := Start(t.Context(), f.cfg)
	if !errors.Is(err, disk.ErrLocked) {
		t.Errorf("error %v, want that the folder is in use", err)
	}
}

func TestStartFailsClean(t *testing.T) {
	f := &federation{TB: t, keys: make(map[string]nkeys.KeyPair)}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "jetstream"), []byte("not a folder"), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg := Config{Dir: dir, Members: []Member{f.newMember("north")}}
	if _, err := Start(t.Context(), cfg); err == nil || !strings.Contains(err.Error(), "JetStream") {
		t.Fatalf("error %v, want one about the store", err)
	}
	if err := os.Remove(filepath.Join(dir, "jetstream")); err != nil {
		t.Fatal(err)
	}
	s, err := Start(t.Context(), cfg) // the lock is free again
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(s.Addr(), "127.0.0.1:") {
		t.Errorf("listens on %s, want this machine only", s.Addr())
	}
	if err := s.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestShutdownGivesUpWaiting(t *testing.T) {
	f := newFederation(t, nil)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	// Either outcome is right: stopping may be faster than the check of ended.
	if err := f.server.Shutdown(ended); err != nil && !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want that time is up", err)
	}
	if err := f.server.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
}

// A former member has no queue, no messages and no access as soon as the server starts
// again; the others keep theirs.
func TestMemberLeaves(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	f := newFederation(t, nil)
	north, south := f.join("north"), f.join("south")
	f.send(north, "south", "for south")
	f.send(south, "east", "for east")
	f.cfg.Members = f.cfg.Members[:1:1] // north
	f.cfg.Members = append(f.cfg.Members, f.newMember("east"))
	f.restart(0)

	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	_, err := south.Receive(ctx, transport.Bulk)
	var refused *CredentialError
	if !errors.As(err, &refused) {
		t.Errorf("who left got error %v, want that its key is unknown", err)
	}
	if d := f.receive(f.join("east")); string(d.Data) != "for east" {
		t.Errorf("got %q, want what was kept for east", d.Data)
	}
	if n := f.stored()[subject(transport.Bulk, "north", "south")]; n != 0 {
		t.Errorf("%d messages are kept for one who left", n)
	}
}
