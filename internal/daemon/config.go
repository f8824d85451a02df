package daemon

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"

	"go.yaml.in/yaml/v3"

	"github.com/mercer-fl/mercer/internal/disk"
	"github.com/mercer-fl/mercer/internal/party"
	"github.com/mercer-fl/mercer/internal/session"
)

// Config is a home's config.yaml.
type Config struct {
	Name string `yaml:"name"`
	// Listen is the coordinator's address for parties, host:port.
	Listen string `yaml:"listen,omitempty"`
	// Coordinator is the address that a party dials, nats://host:port.
	Coordinator string `yaml:"coordinator,omitempty"`
	// Data is a party's catalogue: the names that jobs may ask for.
	Data   map[string]Source `yaml:"data,omitempty"`
	Policy party.Policy      `yaml:"policy,omitempty"`
}

// Source is an entry of a party's catalogue.
type Source struct {
	Path  string `yaml:"path"` // relative to the home
	Label string `yaml:"label,omitempty"`
	ID    string `yaml:"id,omitempty"`
}

func (c *Config) save(path string) error {
	b, err := yaml.Marshal(c)
	if err != nil {
		return fmt.Errorf("daemon: %w", err)
	}
	return disk.Replace(path, b)
}

// maxConfigBytes bounds what is read.
const maxConfigBytes = 1 << 20

func loadConfig(path string) (*Config, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, session.BadInput(fmt.Errorf("daemon: %w", err))
	}
	if info.Size() > maxConfigBytes {
		return nil, session.BadInput(fmt.Errorf("%s has %d bytes, at most %d are read", path, info.Size(), maxConfigBytes))
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("daemon: %w", err)
	}
	c := &Config{}
	if err := strict(b, c); err != nil {
		return nil, session.BadInput(fmt.Errorf("%s:%w", path, err))
	}
	if err := c.check(); err != nil {
		return nil, session.BadInput(fmt.Errorf("%s: %w", path, err))
	}
	return c, nil
}

// check finds what no daemon could work with.
func (c *Config) check() error {
	if c.Name == "" {
		return errors.New("the name is missing; it is what the roster calls this member")
	}
	if _, _, err := splitAddress(c.Listen); err != nil {
		return err
	}
	if err := c.Policy.Validate(); err != nil {
		return err
	}
	if c.Coordinator == "" {
		return nil
	}
	if u, err := url.Parse(c.Coordinator); err != nil || u.Scheme != "nats" && u.Scheme != "tls" || u.Port() == "" {
		return fmt.Errorf("coordinator address %q: write nats://host:port such as nats://127.0.0.1:4222", c.Coordinator)
	}
	return nil
}

// source finds a catalogue entry; its path is absolute.
func (c *Config) source(h Home, name string) (Source, error) {
	s, ok := c.Data[name]
	if !ok {
		return Source{}, fmt.Errorf("the catalogue in %s has no data called %q", h.ConfigPath(), name)
	}
	if !filepath.IsAbs(s.Path) {
		s.Path = h.path(s.Path)
	}
	return s, nil
}
