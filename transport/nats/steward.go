package nats

import (
	"context"
	"errors"
	"fmt"

	natsgo "github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nkeys"
)

// hire connects the steward: the one in the hub's account, within this
// process. It arranges the queues, and asks them for deliveries on behalf of
// the members, who cannot do so themselves without choosing where the answers
// go.
func hire(ctx context.Context, s *Server, key nkeys.KeyPair) (*natsgo.Conn, error) {
	pub, err := key.PublicKey()
	if err != nil {
		return nil, err
	}
	nc, err := natsgo.Connect("", natsgo.InProcessServer(s.nats), natsgo.Nkey(pub, key.Sign), natsgo.MaxReconnects(-1))
	if err != nil {
		return nil, fmt.Errorf("steward: %w", err)
	}
	if err := prepare(ctx, nc, s.cfg); err != nil {
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
	_, err = nc.Subscribe(askSubject("*", ">"), func(m *natsgo.Msg) {
		if err := forward(nc, m); err != nil && !errors.Is(err, natsgo.ErrConnectionClosed) {
			cfg.Logger.Warn("a member's request for deliveries is lost", "subject", m.Subject, "error", err)
		}
	})
	if err != nil {
		return err
	}
	return nc.Flush() // the server knows the subscription before members come
}

// forward passes a request for deliveries on to the queue of the member who
// asked: its account lets it ask under its own name only. The server checks
// the request itself.
func forward(nc *natsgo.Conn, m *natsgo.Msg) error {
	member, box := asked(m.Subject)
	next := "$JS.API.CONSUMER.MSG.NEXT." + stream + "." + member
	return nc.PublishRequest(next, boxSubject(member, box), m.Data)
}
