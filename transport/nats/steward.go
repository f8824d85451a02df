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
	"github.com/nats-io/nkeys"

	"github.com/mercer-fl/mercer/internal/base/tally"
	"github.com/mercer-fl/mercer/transport"
)

// hire connects the steward, a client in this process that uses the hub's account. The steward
// arranges the queues and requests deliveries for the members. Members must not request deliveries
// themselves, because a member could choose where the server sends the deliveries.
func hire(ctx context.Context, s *Server, key nkeys.KeyPair) (*natsgo.Conn, error) {
	pub, err := key.PublicKey()
	if err != nil {
		return nil, err
	}
	var complaints tally.Tally
	nc, err := natsgo.Connect("", natsgo.InProcessServer(s.nats), natsgo.Nkey(pub, key.Sign), natsgo.MaxReconnects(-1),
		natsgo.ErrorHandler(func(_ *natsgo.Conn, sub *natsgo.Subscription, err error) {
			complain(s.cfg.Logger, &complaints, sub, err)
		}))
	if err != nil {
		return nil, fmt.Errorf("cannot connect the steward: %w", err)
	}
	err = prepare(ctx, nc, s.cfg)
	if err == nil {
		s.ferries, err = startFerries(s, key, pub)
	}
	if err != nil {
		nc.Close()
		return nil, err
	}
	return nc, nil
}

func prepare(ctx context.Context, nc *natsgo.Conn, cfg Config) error {
	js, err := jetstream.New(nc)
	if err != nil {
		return err
	}
	if err := arrange(ctx, js, cfg); err != nil {
		return err
	}
	for _, m := range cfg.Members {
		for _, lane := range transport.Lanes() {
			if err := serve(nc, cfg, m.Name, lane); err != nil {
				return err
			}
		}
	}
	return nc.Flush() // makes the server know the subscriptions before members connect
}

// serve requests deliveries from a member's queue whenever the member asks for them. The account
// lets a member ask under its own name only, and the message holds only the address for the
// deliveries. Each member has its own goroutine here, which limits the rate of the member's
// requests. The goroutine drops requests that come too fast, so that a member that sends requests
// without end delays no other member.
func serve(nc *natsgo.Conn, cfg Config, member string, lane transport.Lane) error {
	next := "$JS.API.CONSUMER.MSG.NEXT." + stream(lane) + "." + member
	request, err := json.Marshal(map[string]int64{
		"batch": batchMessages, "max_bytes": batchBytes,
		"expires": int64(requestLimit), "idle_heartbeat": int64(heartbeat),
	})
	if err != nil {
		return err
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
		return err
	}
	return sub.SetPendingLimits(maxAsks, maxAsks<<10)
}

const (
	asksPerSecond = 1000 // generous limit for one member, because each request brings up to 2 MiB
	maxAsks       = 64   // requests of one member that may wait while another is served
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
	next time.Time // time from which the next request may pass
}

func newPace(perSecond int) *pace { return &pace{gap: time.Second / time.Duration(perSecond)} }

// wait waits until one more request may pass.
func (p *pace) wait() {
	now := time.Now()
	if idle := now.Add(-time.Second); p.next.Before(idle) {
		p.next = idle // an idle member saves up the requests of one second at most
	}
	p.next = p.next.Add(p.gap)
	time.Sleep(p.next.Sub(now))
}
