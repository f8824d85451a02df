package nats

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/mercer-fl/mercer/transport"
)

// arrange creates or updates the streams and their consumers for the configuration. Messages in
// members' queues stay.
func arrange(ctx context.Context, js jetstream.JetStream, cfg Config) error {
	for _, lane := range transport.Lanes() {
		if err := cfg.arrange(ctx, js, lane); err != nil {
			return fmt.Errorf("cannot arrange the stream %s: %w", stream(lane), err)
		}
	}
	return nil
}

func (c Config) arrange(ctx context.Context, js jetstream.JetStream, lane transport.Lane) error {
	held, err := c.removeFormer(ctx, js, lane)
	if err != nil {
		return err
	}
	s, err := js.CreateOrUpdateStream(ctx, c.stream(lane, held))
	if err != nil {
		return err
	}
	for _, m := range c.Members {
		if _, err := s.CreateOrUpdateConsumer(ctx, c.consumer(lane, m.Name, held)); err != nil {
			return fmt.Errorf("cannot arrange the queue of %q: %w", m.Name, err)
		}
	}
	return nil
}

// stream returns the settings of a lane's stream. An acknowledged message is deleted. A full share
// or disk quota makes the sender wait; it does not drop other members' messages. Subjects name the
// receivers, so that a message to a stranger finds no stream and is refused. Subjects also name the
// senders, so that the server counts each member's share. A share below the number of messages that
// a member already has in a queue would delete messages. Therefore the share is at least backlog,
// the largest such number.
func (c Config) stream(lane transport.Lane, backlog int) jetstream.StreamConfig {
	s := jetstream.StreamConfig{
		Name:       stream(lane),
		Retention:  jetstream.WorkQueuePolicy,
		Discard:    jetstream.DiscardNew,
		Storage:    jetstream.FileStorage,
		MaxAge:     c.MaxAge,
		MaxBytes:   c.maxQueueBytes(lane),
		MaxMsgSize: transport.MaxMessageBytes,

		MaxMsgsPerSubject:    int64(max(c.share(lane), backlog)),
		DiscardNewPerSubject: true,
	}
	for _, m := range c.Members {
		s.Subjects = append(s.Subjects, subject(lane, "*", m.Name))
	}
	return s
}

// consumer returns the settings of a member's queue. It allows as many unsettled deliveries as
// all senders' shares together. Therefore messages that the receiver puts back do not block
// other senders' messages.
func (c Config) consumer(lane transport.Lane, name string, held int) jetstream.ConsumerConfig {
	return jetstream.ConsumerConfig{
		Durable:       name,
		FilterSubject: subject(lane, "*", name),
		AckPolicy:     jetstream.AckExplicitPolicy,
		AckWait:       c.AckWait,
		MaxDeliver:    -1,
		MaxAckPending: max(c.share(lane), held) * len(c.Members),
	}
}

// removeFormer removes the queues of former members. It returns the largest number of messages that
// one member has in another member's queue; with keepShares, it returns at least the present share.
func (c Config) removeFormer(ctx context.Context, js jetstream.JetStream, lane transport.Lane) (held int, err error) {
	s, err := js.Stream(ctx, stream(lane))
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	if err := dismiss(ctx, s, lane, c.Members); err != nil {
		return 0, err
	}
	info, err := s.Info(ctx, jetstream.WithSubjectFilter(">"))
	if err != nil {
		return 0, err
	}
	for _, n := range info.State.Subjects {
		held = max(held, int(n))
	}
	if c.keepShares {
		held = max(held, int(info.Config.MaxMsgsPerSubject))
	}
	return held, nil
}

// dismiss deletes the queues of former members and the messages for them.
func dismiss(ctx context.Context, s jetstream.Stream, lane transport.Lane, members []Member) error {
	names := s.ConsumerNames(ctx)
	for name := range names.Name() {
		if slices.ContainsFunc(members, func(m Member) bool { return m.Name == name }) {
			continue
		}
		if err := s.DeleteConsumer(ctx, name); err != nil {
			return fmt.Errorf("cannot remove the queue of the former member %q: %w", name, err)
		}
		if err := s.Purge(ctx, jetstream.WithPurgeSubject(subject(lane, "*", name))); err != nil {
			return fmt.Errorf("cannot remove the messages for the former member %q: %w", name, err)
		}
	}
	if err := names.Err(); err != nil {
		return fmt.Errorf("cannot list the queues: %w", err)
	}
	return nil
}
