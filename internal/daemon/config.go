package daemon

import (
	_ "embed"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/mercer-fl/mercer/internal/base/disk"
	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/base/strictyaml"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/node/party"
	"github.com/mercer-fl/mercer/internal/node/roster"
	"github.com/mercer-fl/mercer/transport/nats"
)

// Config holds the settings of a home's config.yaml.
type Config struct {
	Name string `yaml:"name"`
	// Listen is the coordinator's host:port, at which it listens for parties.
	Listen string `yaml:"listen,omitempty"`
	// Coordinator is the coordinator's address for a party, nats://host:port. The roster decides
	// whether the connection uses TLS; with tls://host:port, TLS is required.
	Coordinator string `yaml:"coordinator,omitempty"`
	// Data is a party's catalogue. Its keys are the names by which jobs refer to tables.
	Data map[string]Source `yaml:"data,omitempty"`
	// Policy applies to all tables that have no policy of their own.
	Policy party.Policy `yaml:"policy,omitempty"`
	// Retention is the time for which a party keeps its state of a job after the job has ended; the
	// default is no limit. The coordinator also deletes the job itself, at all members.
	Retention strictyaml.Days `yaml:"retention,omitempty"`
	// Unclosed is the time that a party waits for the coordinator to close a job; 30d by default.
	// After this time, the party destroys the job's secrets.
	Unclosed strictyaml.Days `yaml:"unclosed,omitempty"`

	earlier []string // warnings about settings that an earlier version wrote
}

// IsParty reports whether the home belongs to a party. It returns false if the home cannot be read.
func (h Home) IsParty(jobs *job.Reader) bool {
	c, err := h.Config(jobs)
	return err == nil && c.Coordinator != ""
}

func (c *Config) limits() party.Limits {
	return party.Limits{Unclosed: c.Unclosed.Duration, Retention: c.Retention.Duration}
}

// example is an example of a catalogue, written as comments for the operator to edit. It allows no
// job.
//
//go:embed example.yaml
var example []byte

// save writes the configuration. For a party without a catalogue, it adds an example of a
// catalogue.
func (c *Config) save(path string, role roster.Role) error {
	b, err := yaml.Marshal(c)
	if err != nil {
		return fmt.Errorf("daemon: %w", err)
	}
	if role == roster.Party && c.Data == nil {
		b = append(b, example...)
	}
	return disk.Replace(path, b)
}

// Config reads the home's configuration. jobs knows the names that policies may use.
func (h Home) Config(jobs *job.Reader) (*Config, error) { return loadConfig(jobs, h.ConfigPath()) }

// maxConfigBytes is the largest size of a configuration file.
const maxConfigBytes = 1 << 20

func loadConfig(jobs *job.Reader, path string) (*Config, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fault.BadInputf("daemon: %w", err)
	}
	if info.Size() > maxConfigBytes {
		return nil, fault.BadInputf("%s has %d bytes; at most %d are allowed", path, info.Size(), maxConfigBytes)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("daemon: %w", err)
	}
	c := &Config{}
	if err := decodeStrictly(b, c); err != nil {
		return nil, fault.BadInputf("%s:%w", path, err)
	}
	if err := errors.Join(c.upgrade(), c.check(jobs.Known())); err != nil {
		return nil, fault.BadInputf("%s: %w", path, err)
	}
	return c, nil
}

// upgrade moves settings from their places in an earlier version to their current places. It stores
// a warning about each of them.
func (c *Config) upgrade() error {
	policies := map[string]*party.Policy{"": &c.Policy}
	for name, s := range c.Data {
		if s.Policy != nil {
			policies["data "+name+": "] = s.Policy
		}
	}
	for _, where := range slices.Sorted(maps.Keys(policies)) {
		warnings, err := policies[where].Upgrade()
		if err != nil {
			return fmt.Errorf("%s%w", where, err)
		}
		for _, w := range warnings {
			c.earlier = append(c.earlier, where+w)
		}
	}
	return nil
}

// check returns an error if a setting is missing or wrong. known holds the names that policies may
// use.
func (c *Config) check(known job.Names) error {
	if c.Name == "" {
		return errors.New("the setting \"name\" is missing; write the name that the roster gives this member")
	}
	if _, _, err := splitAddress(c.Listen); err != nil {
		return err
	}
	if err := c.Policy.Validate(known); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(c.Data)) {
		if err := c.Data[name].check(known); err != nil {
			return fmt.Errorf("data %s: %w", name, err)
		}
	}
	if c.Coordinator == "" {
		return nil
	}
	if _, err := nats.ParseAddress(c.Coordinator); err != nil {
		return fmt.Errorf("coordinator %w", err)
	}
	return nil
}

// source returns a catalogue entry with an absolute path to its file.
func (c *Config) source(h Home, name string) (Source, error) {
	s, ok := c.Data[name]
	if !ok {
		return Source{}, fmt.Errorf("the catalogue in %s has no entry called %q", h.ConfigPath(), name)
	}
	if !filepath.IsAbs(s.Path) && !s.Given() {
		s.Path = h.path(s.Path)
	}
	return s, nil
}

// decodeStrictly decodes a configuration and refuses unknown settings. Its errors begin with the
// line; the caller adds the file.
func decodeStrictly(b []byte, c *Config) error {
	err := strictyaml.Decode(b, c)
	var problem *strictyaml.Error
	switch {
	case errors.Is(err, io.EOF):
		return errors.New("1: the file is empty; it needs at least the setting \"name\"")
	case errors.As(err, &problem) && problem.Line > 0:
		return fmt.Errorf("%d: %w", problem.Line, err)
	case err != nil:
		return fmt.Errorf(" %w", err)
	}
	return nil
}
