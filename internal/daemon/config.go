package daemon

import (
	"cmp"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/mercer-fl/mercer/internal/base/disk"
	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/base/humanize"
	"github.com/mercer-fl/mercer/internal/base/strictyaml"
	"github.com/mercer-fl/mercer/internal/catalogue"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/node/access"
	"github.com/mercer-fl/mercer/internal/node/coordinator"
	"github.com/mercer-fl/mercer/internal/node/party"
	"github.com/mercer-fl/mercer/internal/node/retention"
	"github.com/mercer-fl/mercer/internal/node/roster"
)

// Config holds the settings of a home's config.yaml.
type Config struct {
	Name string `yaml:"name"`
	// Listen is the coordinator's host:port, at which it listens for parties.
	Listen string `yaml:"listen,omitempty"`
	// ListenWSS is the coordinator's host:port at which it also listens for parties, by WebSocket over
	// TLS.
	ListenWSS string `yaml:"listen_wss,omitempty"`
	// Coordinator is the coordinator's address for a party, nats://host:port. The roster decides
	// whether the connection uses TLS; with tls://host:port, TLS is required. wss://host:port connects to
	// the coordinator's listen_wss.
	Coordinator string `yaml:"coordinator,omitempty"`
	// Proxy is the HTTP proxy through which a party connects to tls:// or wss://, as
	// http://user:password@host:port. The default is the proxy of the environment; "none" is no proxy.
	Proxy string `yaml:"proxy,omitempty"`
	// Data is a party's catalogue. Its keys are the names by which jobs refer to tables.
	Data map[string]Source `yaml:"data,omitempty"`
	// Policy applies to all tables that have no policy of their own.
	Policy party.Policy `yaml:"policy,omitempty"`
	// Retention says how long the home keeps what jobs leave, and lines of its record; the default is no limit. One
	// time in place of a map holds for models, predictions and results.
	Retention retention.Times `yaml:"retention,omitempty"`
	// Unclosed is the time that a party waits for the coordinator to close a job; 30d by default.
	// After this time, the party destroys the job's secrets.
	Unclosed strictyaml.Days `yaml:"unclosed,omitempty"`

	// Metrics is the address on loopback, host:port, at which the daemon serves /metrics, /healthz and
	// /readyz. The default is none.
	Metrics string `yaml:"metrics,omitempty"`

	// Page serves a web page for the people of this home.
	Page Page `yaml:"page,omitempty"`

	// Roles says who is allowed to do what with the daemon. By default the home's owner and root are allowed everything.
	Roles access.Rules `yaml:"roles,omitempty"`

	// Audit says where the record goes besides its file.
	Audit Audit `yaml:"audit,omitempty"`

	// MaxRunningJobs bounds the jobs that a coordinator runs at a time. The default is
	// coordinator.DefaultMaxRunning.
	MaxRunningJobs *int `yaml:"max_running_jobs,omitempty"`

	// Cells lets other processes compute cells of a coordinator's grids.
	Cells Cells `yaml:"cells,omitempty"`

	earlier []string // warnings about settings that an earlier version wrote
}

// Cells is the folder through which other processes can compute cells of a grid.
type Cells struct {
	Folder string `yaml:"folder"`
	// Wait is how long the coordinator waits for the first result, and after each for the next; 1m by
	// default.
	Wait strictyaml.Days `yaml:"wait,omitempty"`
}

// check returns an error if the setting is wrong. It does not look at the folder, which is checked when the
// coordinator starts.
func (c Cells) check(party bool) error {
	switch {
	case c == Cells{}:
		return nil
	case party:
		return errors.New("the setting \"cells\" is for coordinators; remove it")
	case c.Folder == "":
		return errors.New("the setting \"cells\" has no folder; write \"cells: {folder: /shared/cells, wait: 10m}\"")
	}
	return nil
}

// IsParty reports whether the home belongs to a party. It returns false if the home cannot be read.
func (h Home) IsParty(jobs *job.Reader) bool {
	c, err := h.Config(jobs)
	return err == nil && c.Coordinator != ""
}

func (c *Config) limits() party.Limits {
	return party.Limits{Unclosed: c.Unclosed.Duration, Retention: c.Retention}
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

// Config reads the home's configuration. jobs knows the names that policies can use.
func (h Home) Config(jobs *job.Reader) (*Config, error) { return loadConfig(jobs, h.ConfigPath()) }

// maxConfigBytes is the largest size of a configuration file.
const maxConfigBytes = 1 << 20

func loadConfig(jobs *job.Reader, path string) (*Config, error) {
	b, err := readConfig(path)
	if err != nil {
		return nil, err
	}
	c := &Config{}
	if err := decodeStrictly(b, c); err != nil {
		return nil, fault.BadInputf("%s:%w", path, err)
	}
	if err := errors.Join(c.upgrade(), c.check(jobs.Known())); err != nil {
		return nil, fault.BadInputf("%s:%d: %w", path, lineOf(b, err), err)
	}
	return c, nil
}

// absentConfig is the error that a home has no configuration. It matches [fs.ErrNotExist]. It holds
// the path.
type absentConfig string

func (path absentConfig) Error() string {
	return string(path) + " does not exist; create a home with mercer federation init, or restore the file from a backup"
}

func (absentConfig) Is(target error) bool { return target == fs.ErrNotExist }

func readConfig(path string) ([]byte, error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fault.BadInput(absentConfig(path))
	case err != nil:
		return nil, fault.BadInputf("%s cannot be read: %w", path, errors.Unwrap(err))
	case !info.Mode().IsRegular():
		return nil, fault.BadInputf("%s is not a file; restore it from a backup", path)
	case info.Size() > maxConfigBytes:
		return nil, fault.BadInputf("%s has %d bytes; at most %d are allowed", path, info.Size(), maxConfigBytes)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, fault.BadInputf("%s cannot be read: %w", path, errors.Unwrap(err))
	}
	return b, nil
}

// lineOf returns the line of the setting that the error is about: among the settings that the text
// has, the one that the message names first. A message about a table begins with the words
// "data NAME:"; then only the table's settings count. If the message names none of them, lineOf returns
// the table's own line.
func lineOf(text []byte, err error) int {
	var doc yaml.Node
	if yaml.Unmarshal(text, &doc) != nil || len(doc.Content) == 0 {
		return 1
	}
	line, part, message := 1, doc.Content[0], err.Error()
	_, tables := setting(part, "data")
	if rest, ok := strings.CutPrefix(message, "data "); ok {
		name, about, _ := strings.Cut(rest, ": ")
		if key, table := setting(tables, name); key != nil {
			line, part, message = key.Line, table, about
		}
	} else if tables != nil {
		tables.Content = nil
	}
	first := len(message)
	for key := range settings(part) {
		place := regexp.MustCompile(`\b` + regexp.QuoteMeta(key.Value) + `\b`).FindStringIndex(message)
		if place != nil && place[0] < first {
			first, line = place[0], key.Line
		}
	}
	return line
}

// setting returns the key and the value of a setting in a map, or nil.
func setting(n *yaml.Node, name string) (key, value *yaml.Node) {
	if n == nil || n.Kind != yaml.MappingNode {
		return nil, nil
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == name {
			return n.Content[i], n.Content[i+1]
		}
	}
	return nil, nil
}

// settings yields all keys of a map and of the maps in it.
func settings(n *yaml.Node) iter.Seq[*yaml.Node] {
	return func(yield func(*yaml.Node) bool) {
		for i := 0; i+1 < len(n.Content) && n.Kind == yaml.MappingNode; i += 2 {
			if !yield(n.Content[i]) {
				return
			}
			for key := range settings(n.Content[i+1]) {
				if !yield(key) {
					return
				}
			}
		}
	}
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

// check returns an error if a setting is missing or wrong. names are those that policies can use.
func (c *Config) check(names job.Names) error {
	if c.Name == "" {
		return errors.New("the setting \"name\" is missing; write the name that the roster gives this member")
	}
	if err := c.Policy.Validate(names); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(c.Data)) {
		if err := c.Data[name].check(names); err != nil {
			return fmt.Errorf("data %s: %w", name, err)
		}
	}
	return cmp.Or(checkMetrics(c.Metrics), c.Page.check(), c.Roles.Check(), c.Audit.check(), c.Retention.Check(), c.Cells.check(c.Coordinator != ""), c.checkRunningJobs(), c.checkLine())
}

// mostRunningJobs bounds max_running_jobs. A coordinator holds the matrices of all running jobs in memory.
const mostRunningJobs = 256

func (c *Config) checkRunningJobs() error {
	switch n := c.MaxRunningJobs; {
	case n == nil:
	case c.Coordinator != "":
		return errors.New("the setting \"max_running_jobs\" is for coordinators; remove it")
	case *n < 1 || *n > mostRunningJobs:
		return fmt.Errorf("the setting \"max_running_jobs\" is %d; write a number from 1 to %d, or remove it for the default of %d", *n, mostRunningJobs, coordinator.DefaultMaxRunning)
	}
	return nil
}

// maxRunning returns the largest number of jobs that a coordinator runs at a time, or 0 for the default.
func (c *Config) maxRunning() int {
	if c.MaxRunningJobs == nil {
		return 0
	}
	return *c.MaxRunningJobs
}

// source returns a catalogue entry. If the path of its file is relative, source puts the home's folder in front.
func (c *Config) source(h Home, name string) (Source, error) {
	s, ok := c.Data[name]
	if !ok {
		return Source{}, fmt.Errorf("the catalogue in %s has no entry called %q; it has %s", h.ConfigPath(), name, cmp.Or(humanize.Names(slices.Sorted(maps.Keys(c.Data)), mostListed), "no table yet"))
	}
	if !filepath.IsAbs(s.Path) && !s.Given() {
		s.Path = h.path(s.Path)
	}
	return s, nil
}

// MissingFiles warns of the tables whose files do not exist.
func (c *Config) MissingFiles(h Home) (warnings []string) {
	for _, name := range slices.Sorted(maps.Keys(c.Data)) {
		s, err := c.source(h, name)
		if err == nil && !s.Given() && catalogue.New("").Missing(s.Path) {
			warnings = append(warnings, fmt.Sprintf("no job can read %s, because there is no file %s", name, s.Path))
		}
	}
	return warnings
}

// decodeStrictly decodes a configuration and refuses unknown settings. Its errors begin with the
// line; the caller adds the file.
func decodeStrictly(b []byte, c *Config) error {
	err := strictyaml.Decode(b, c)
	var problem *strictyaml.Error
	switch {
	case errors.Is(err, io.EOF):
		return errors.New("1: the file is empty; it needs at least the setting \"name\"")
	case errors.As(err, &problem):
		return fmt.Errorf("%d: %w", max(problem.Line, 1), err)
	}
	return err
}
