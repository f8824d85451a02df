package protocoltest

import (
	"fmt"

	"github.com/mercer-fl/mercer/protocol/sim"
)

func plain(c *Case) error {
	_, err := c.baseline()
	return err
}

// schedules disturbs the network in every way at once.
func schedules(c *Case) error {
	b, err := c.baseline()
	if err != nil {
		return err
	}
	for seed := range uint64(c.Runs) {
		r, err := c.run(weather(seed), nil)
		if err == nil {
			err = c.unchanged(b, r)
		}
		if err != nil {
			return fmt.Errorf("schedule %d: %w", seed, err)
		}
	}
	return nil
}

// weather is a schedule that depends on the seed in more than its random
// numbers: short and long delays, small and no windows.
func weather(seed uint64) sim.Schedule {
	level := float64(seed%4) / 4
	return sim.Schedule{
		Seed: seed, Loss: level, Duplicate: 1 - level, Reorder: 1 - level/2,
		MaxDelay: []int64{0, 3, 100}[seed%3], Window: []int{0, 1, 8}[seed%3], CrashRate: level / 8,
	}
}

// crashes loses every machine once after each of its events.
func crashes(c *Case) error {
	b, err := c.baseline()
	if err != nil {
		return err
	}
	var all []sim.Crash
	for _, o := range b.Nodes {
		for event := range o.Events {
			all = append(all, sim.Crash{Node: o.Name, Event: event})
		}
	}
	for _, i := range sample(len(all), c.Runs) {
		r, err := c.run(sim.Schedule{Crash: all[i : i+1]}, nil)
		if err == nil {
			err = c.unchanged(b, r)
		}
		if err != nil {
			return fmt.Errorf("crash of %s after event %d: %w", all[i].Node, all[i].Event, err)
		}
	}
	return nil
}

// slow delays each node in turn by more than a whole run takes.
func slow(c *Case) error {
	b, err := c.baseline()
	if err != nil {
		return err
	}
	for _, n := range c.Nodes {
		r, err := c.run(sim.Schedule{Slow: map[string]int64{n.Name: 1 << 20}, Window: Window}, nil)
		if err == nil {
			err = c.unchanged(b, r)
		}
		if err == nil && r.Peak.Bytes > c.InFlight {
			err = found(r, fmt.Errorf("%d bytes in %d messages are under way, at most %d bytes are allowed", r.Peak.Bytes, r.Peak.Messages, c.InFlight))
		}
		if err != nil {
			return fmt.Errorf("%s is slow: %w", n.Name, err)
		}
	}
	return nil
}
