package nats

import (
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/mercer-fl/mercer/internal/base/disk"
	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/transport"
)

// Connection is a member's connection to the server.
type Connection struct {
	Member string
	Since  time.Time // start of the member's oldest open connection
	// Version is the version that the member's program states (see Options.Version), or "". The server does
	// not verify it.
	Version string
}

// Connections lists the connected members, in the order of the configuration or of the last [Server.Change]. A
// member that vanished without closing its connection stays in the list until it has not answered for about 80
// seconds.
func (s *Server) Connections() ([]Connection, error) {
	var list []Connection
	for _, m := range s.inForce.Load().Members {
		open, err := s.nats.Connz(&server.ConnzOptions{Account: accountName(m.Name), Limit: maxConnections})
		if err != nil {
			return nil, fmt.Errorf("nats: cannot list the connections of %q: %w", m.Name, err)
		}
		if len(open.Conns) == 0 {
			continue
		}
		c := Connection{Member: m.Name, Since: open.Conns[0].Start.UTC()}
		for _, o := range open.Conns {
			if t := o.Start.UTC(); !t.After(c.Since) {
				c.Since, c.Version = t, versionOf(o.Name)
			}
		}
		list = append(list, c)
	}
	return list, nil
}

// clients returns the addresses that the NATS server sees of its clients, logged in or not.
func (s *Server) clients() (map[string]bool, error) {
	open, err := s.nats.Connz(&server.ConnzOptions{Limit: s.inForce.Load().maxConnections()})
	if err != nil {
		return nil, err
	}
	addresses := make(map[string]bool, len(open.Conns))
	for _, c := range open.Conns {
		addresses[net.JoinHostPort(c.IP, strconv.Itoa(c.Port))] = true
	}
	return addresses, nil
}

// Load describes the server's queues.
type Load struct {
	Accepts  bool   // true if members can connect
	Messages uint64 // messages in all queues
	Bytes    uint64 // size of all queues
	Limit    uint64 // greatest size of all queues together, in bytes
	Free     uint64 // free space of the queues' disk, in bytes
}

// Load returns how full the queues are.
func (s *Server) Load() (Load, error) {
	l := Load{Accepts: s.nats.Running() && s.nats.Addr() != nil}
	for _, lane := range transport.Lanes() {
		l.Limit += uint64(s.cfg.maxQueueBytes(lane))
	}
	queues, err := s.nats.Jsz(nil)
	if err != nil {
		return l, fmt.Errorf("nats: cannot measure the queues: %w", err)
	}
	l.Messages, l.Bytes = queues.Messages, queues.Bytes
	l.Free, err = disk.Free(s.cfg.Dir)
	return l, err
}

// versionMark precedes the version in the name that a client gives, after the member's name.
const versionMark = " mercer "

// maxVersion bounds the length of a version in bytes.
const maxVersion = 64

// clientName returns the name that a member's client gives to the server.
func clientName(member, version string) string {
	if version == "" {
		return member
	}
	return member + versionMark + version
}

// versionOf returns the version in the name that a client gives, or "". The client chooses the name.
func versionOf(name string) string {
	_, version, found := strings.Cut(name, versionMark)
	if !found || len(version) > maxVersion {
		return ""
	}
	return fault.Printable(version)
}
