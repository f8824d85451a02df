package protocoltest

import (
	"errors"
	"fmt"

	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/sim"
)

// checkSilent tests that nodes end by timer and blame correctly if a node vanishes or timers fire
// early.
func checkSilent(c *Case) error {
	timers := false
	for _, n := range c.Nodes {
		timers = timers || len(n.Timers) > 0
	}
	if !timers {
		return fmt.Errorf("%w: no node has Timers", errNothing)
	}
	b, err := c.baseline()
	if err != nil {
		return err
	}
	if err := checkVanished(c, b); err != nil {
		return err
	}
	return checkEarlyTimers(c)
}

// checkVanished tests runs in which one node vanishes, for each node and each moment before the end
// of this node.
func checkVanished(c *Case, b *baseline) error {
	var all []sim.Crash
	for _, o := range b.Nodes {
		for event := range o.Events {
			all = append(all, sim.Crash{Node: o.Name, Event: event})
		}
	}
	for _, i := range sample(len(all), c.Runs) {
		gone := all[i].Node
		r, err := c.run(sim.Schedule{Gone: map[string]int{gone: all[i].Event}}, nil)
		if err == nil {
			err = checkNoticed(c, r, gone)
		}
		if err == nil {
			err = c.checkResults(r)
		}
		if err != nil {
			return fmt.Errorf("node %s vanishes after %d events: %w", gone, all[i].Event, err)
		}
	}
	return nil
}

// checkNoticed returns an error unless the remaining nodes noticed that a node was removed. Every node with timers must
// end: well, or with an error that blames the removed node or a node that failed because of it. Nodes that
// [protocol.MustGoOn] forbids to end are excepted.
func checkNoticed(c *Case, r *sim.Result, gone string) error {
	failed, named := false, false
	for i, o := range r.Nodes {
		switch {
		case o.Name == gone || o.End != nil && o.End.Err == nil:
			continue
		case o.End == nil && protocol.MustGoOn(o.Machine):
			named = true // other nodes can wait for this node, which does not say for whom it waits
			continue
		case o.End == nil && len(c.Nodes[i].Timers) > 0:
			return withTranscript(r, fmt.Errorf("node %s waits forever", o.Name))
		case o.End == nil:
			continue
		}
		failed = true
		party, err := silentParty(o.End.Err)
		if err != nil {
			return withTranscript(r, fmt.Errorf("node %s: %w", o.Name, err))
		}
		if p := r.Outcome(party); party == o.Name || p == nil || p.End != nil && p.End.Err == nil {
			return withTranscript(r, fmt.Errorf("node %s blames %s, which has not failed", o.Name, party))
		}
		named = named || party == gone
	}
	if failed && !named {
		return withTranscript(r, fmt.Errorf("no node blames the vanished node %s", gone))
	}
	return nil
}

// silentParty returns the name of the party that err blames for silence.
func silentParty(err error) (string, error) {
	var blame *protocol.BlameError
	if !errors.As(err, &blame) {
		return "", fmt.Errorf("the machine ended, but its error blames no party: %w", err)
	}
	if blame.Kind != protocol.KindSilent {
		return "", fmt.Errorf("the blame in the error has kind %q instead of %q: %w", blame.Kind, protocol.KindSilent, err)
	}
	return blame.Party, nil
}

// checkEarlyTimers tests runs in which timers fire at random moments. A machine that fails must
// report a silent peer; a machine that succeeds must have the right result.
func checkEarlyTimers(c *Case) error {
	for seed := range uint64(min(c.Runs, 50)) {
		r, err := c.run(sim.Schedule{Seed: seed, Hasty: 0.1, Reorder: 1, MaxDelay: 5}, nil)
		if err == nil {
			err = c.checkResults(r)
		}
		if err != nil {
			return fmt.Errorf("with early timers, seed %d: %w", seed, err)
		}
		for _, o := range r.Nodes {
			if o.End == nil || o.End.Err == nil {
				continue
			}
			if _, err := silentParty(o.End.Err); err != nil {
				return withTranscript(r, fmt.Errorf("with early timers, seed %d: node %s: %w", seed, o.Name, err))
			}
		}
	}
	return nil
}
