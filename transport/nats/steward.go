package nats

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	natsgo "github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/mercer-fl/mercer/internal/base/tally"
	"github.com/mercer-fl/mercer/transport"
)

// hire connects the steward, a client in this process that uses the hub's account. The steward
// arranges the queues and requests deliveries for the members. Members must not request deliveries
// themselves, because a member could choose where the server sends the deliveries.
func hire(s *Server) (*natsgo.Conn, error) {
	var complaints tally.Tally
	nc, err := s.connectHub(func(_ *natsgo.Conn, sub *natsgo.Subscription, err error) {
		complain(s.cfg.Logger, &complaints, sub, err)
	})
	if err != nil {
		return nil, fmt.Errorf("cannot connect the steward: %w", err)
	}
	return nc, nil
}

// connectHub connects a client in this process with the login of the hub's account.
func (s *Server) connectHub(complain natsgo.ErrHandler) (*natsgo.Conn, error) {
	pub, err := s.key.PublicKey()
	if err != nil {
		return nil, err
	}
	return natsgo.Connect("", natsgo.InProcessServer(s.nats), natsgo.Nkey(pub, s.key.Sign), natsgo.MaxReconnects(-1), natsgo.ErrorHandler(complain))
}

// arrange creates or updates the queues of the members of cfg, and removes the queues of others.
func (s *Server) arrange(ctx context.Context, cfg Config) error {
	js, err := jetstream.New(s.steward)
	if err != nil {
		return err
	}
	return arrange(ctx, js, cfg)
}

// post is the part of the server's process that serves one member: it moves the member's messages into the
// queues, and requests deliveries from the member's own queues.
type post struct {
	ferry *natsgo.Conn
	asks  []*natsgo.Subscription // the steward's subscriptions to the member's requests, one for each lane
}

// openPosts opens the posts of members. If one cannot be opened, it opens none. s.changing is held.
func (s *Server) openPosts(cfg Config, members []Member) error {
	for i, m := range members {
		p, err := s.openPost(cfg, m.Name)
		if err != nil {
			s.closePosts(members[:i])
			return err
		}
		s.posts[m.Name] = p
	}
	return s.steward.Flush() // makes the server know the subscriptions before members connect
}

func (s *Server) openPost(cfg Config, member string) (*post, error) {
	p := &post{}
	var err error
	if p.ferry, err = ferryFor(s, member); err != nil {
		return nil, fmt.Errorf("cannot start the ferry of %q: %w", member, err)
	}
	for _, lane := range transport.Lanes() {
		sub, err := serve(s.steward, cfg, member, lane)
		if sub != nil {
			p.asks = append(p.asks, sub)
		}
		if err != nil {
			p.close(cfg.Logger)
			return nil, err
		}
	}
	return p, nil
}

// closePosts closes the posts of members. s.changing is held.
func (s *Server) closePosts(members []Member) {
	for _, m := range members {
		if p := s.posts[m.Name]; p != nil {
			p.close(s.cfg.Logger)
			delete(s.posts, m.Name)
		}
	}
}

// close ends the post. A subscription that cannot be ended serves nobody: its member has no account.
func (p *post) close(log *slog.Logger) {
	p.ferry.Close()
	for _, sub := range p.asks {
		if err := sub.Unsubscribe(); err != nil {
			log.Debug("cannot end a subscription of the steward", "subject", sub.Subject, "error", err)
		}
	}
}

// serve requests deliveries from a member's queue whenever the member asks for them. The account
// lets a member ask under its own name only, and the message holds only the address for the
// deliveries. Each member has its own goroutine here for each lane, which limits the rate of the member's
// requests. The goroutine drops requests that come too fast, so that a member that sends requests
// without end delays no other member.
func serve(nc *natsgo.Conn, cfg Config, member string, lane transport.Lane) (*natsgo.Subscription, error) {
	next := "$JS.API.CONSUMER.MSG.NEXT." + stream(lane) + "." + member
	request, err := json.Marshal(map[string]int64{
		"batch": batchMessages, "max_bytes": batchBytes,
		"expires": int64(requestLimit), "idle_heartbeat": int64(heartbeat),
	})
	if err != nil {
		return nil, err
	}
	pace := newPace(asksPerSecond)
	sub, err := nc.Subscribe(askSubject(lane, member, ">"), func(m *natsgo.Msg) {
		pace.wait()
		err := nc.PublishRequest(next, boxSubject(member, box(lane, member, m.Subject)), request)
		if err != nil && !errors.Is(err, natsgo.ErrConnectionClosed) {
			cfg.Logger.Warn("a member's request for deliveries is lost", "subject", m.Subject, "error", err)
		}
	})
	if err != nil {
		return nil, err
	}
	return sub, sub.SetPendingLimits(maxAsks, maxAsks<<10)
}

const (
	asksPerSecond = 1000 // generous limit for one member in a lane, because each request brings up to 2 MiB
	maxAsks       = 64   // most requests of one member in a lane that can wait while another of its requests is served
)

// complain logs that requests of a member are dropped.
func complain(log *slog.Logger, complaints *tally.Tally, sub *natsgo.Subscription, err error) {
	var subject string
	if sub != nil {
		subject = sub.Subject // a subject of the steward, which contains the member's name
	}
	if n, tell := complaints.Count("", subject); tell {
		log.Warn("a member asks for deliveries too often, or the steward has another problem", "subject", subject, "so far", n, "error", err)
	}
}

// pace limits the rate of requests. A burst of asksPerSecond requests passes at once.
type pace struct {
	gap  time.Duration
	next time.Time // time from which the next request passes
}

func newPace(perSecond int) *pace { return &pace{gap: time.Second / time.Duration(perSecond)} }

// wait waits until one more request can pass.
func (p *pace) wait() {
	now := time.Now()
	if idle := now.Add(-time.Second); p.next.Before(idle) {
		p.next = idle // an idle member saves up the requests of one second at most
	}
	p.next = p.next.Add(p.gap)
	time.Sleep(p.next.Sub(now))
}
