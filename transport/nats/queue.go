package nats

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/mercer-fl/mercer/transport"
)

// arrange brings the stream and its consumers in line with the configuration.
// What members had in their queues stays.
func arrange(ctx context.Context, js jetstream.JetStream, cfg Config) error {
	if err := dismiss(ctx, js, cfg.Members); err != nil {
		return err
	}
	if _, err := js.CreateOrUpdateStream(ctx, streamConfig(cfg)); err != nil {
		return fmt.Errorf("stream %s: %w", stream, err)
	}
	for _, m := range cfg.Members {
		if _, err := js.CreateOrUpdateConsumer(ctx, stream, consumerConfig(cfg, m.Name)); err != nil {
			return fmt.Errorf("queue of %q: %w", m.Name, err)
		}
	}
	return nil
}

// streamConfig: an acknowledged message is deleted, and a full disk quota makes
// senders wait instead of dropping what others wait for. Subjects name the
// receivers, so that a message to a stranger finds no stream and is refused.
func streamConfig(cfg Config) jetstream.StreamConfig {
	s := jetstream.StreamConfig{
		Name:       stream,
		Retention:  jetstream.WorkQueuePolicy,
		Discard:    jetstream.DiscardNew,
		Storage:    jetstream.FileStorage,
		MaxAge:     cfg.MaxAge,
		MaxBytes:   cfg.MaxBytes,
		MaxMsgSize: transport.MaxMessageBytes,
	}
	for _, m := range cfg.Members {
		s.Subjects = append(s.Subjects, subject("*", m.Name))
	}
	return s
}

func consumerConfig(cfg Config, name string) jetstream.ConsumerConfig {
	return jetstream.ConsumerConfig{
		Durable:       name,
		FilterSubject: subject("*", name),
		AckPolicy:     jetstream.AckExplicitPolicy,
		AckWait:       cfg.AckWait,
		MaxDeliver:    -1,
		MaxAckPending: cfg.MaxUnsettled,
	}
}

// dismiss removes the queues of those who are no longer members.
func dismiss(ctx context.Context, js jetstream.JetStream, members []Member) error {
	s, err := js.Stream(ctx, stream)
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("stream %s: %w", stream, err)
	}
	names := s.ConsumerNames(ctx)
	for name := range names.Name() {
		if slices.ContainsFunc(members, func(m Member) bool { return m.Name == name }) {
			continue
		}
		if err := s.DeleteConsumer(ctx, name); err != nil {
			return fmt.Errorf("queue of %q, who left: %w", name, err)
		}
		if err := s.Purge(ctx, jetstream.WithPurgeSubject(subject("*", name))); err != nil {
			return fmt.Errorf("messages for %q, who left: %w", name, err)
		}
	}
	if err := names.Err(); err != nil {
		return fmt.Errorf("list of queues: %w", err)
	}
	return nil
}
