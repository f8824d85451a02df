package cli

import (
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/mercer-fl/mercer/internal/anonymous/simulator"
	"github.com/mercer-fl/mercer/internal/base/disk"
	"github.com/mercer-fl/mercer/internal/base/endpoint"
	"github.com/mercer-fl/mercer/internal/base/humanize"
	"github.com/mercer-fl/mercer/internal/base/regular"
	"github.com/mercer-fl/mercer/internal/catalogue"
	"github.com/mercer-fl/mercer/internal/daemon"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/node/devices"
	devicesim "github.com/mercer-fl/mercer/internal/node/devices/simulator"
)

// enrol returns the command with which an authority signs the list of devices. The authority's
// operator must not operate the server.
func (a *app) enrol() *cobra.Command {
	var home, jobFile, roster, out string
	cmd := &cobra.Command{
		Use:   "enrol",
		Short: "Enrol devices: sign a job with the key of every participant",
		Long: `Sign a job of protocol fedcfk, or of secvm with aggregation: secagg, together with the
public key of every participating device. The server and all devices need a copy of
the file, and the key that this command prints. The operator of the server must not
enrol devices: such a server could invent people, and read the others' data from its
sums.

The roster has a line for each device, as mercer device credentials prints it. Enrol
each person once. The home holds the key that signs.`,
		Example: "  mercer issuer enrol --home authority --job job.yaml --roster devices.txt --out enrolment",
		Args:    args(),
		RunE: a.run(func(context.Context, []string) (r Result, err error) {
			j, err := a.readJob(jobFile)
			if err != nil {
				return nil, err
			}
			keys, err := daemon.ReadRoster(roster)
			if err != nil {
				return nil, err
			}
			id, lock, err := a.at(home).Own(nil)
			if err != nil {
				return nil, err
			}
			defer func() { err = errors.Join(err, lock.Close()) }()
			signed, err := devices.Enrol(j, keys, id.SigningKey())
			if err != nil {
				return nil, err
			}
			return enrolment{len(keys), out, hex.EncodeToString(id.Public().Sign)}, disk.Replace(out, signed)
		}),
	}
	a.homeFlag(cmd, &home)
	cmd.Flags().StringVar(&jobFile, "job", "", "job file, with protocol fedcfk, or secvm and aggregation: secagg")
	cmd.Flags().StringVar(&roster, "roster", "", "file of the devices' public keys")
	cmd.Flags().StringVar(&out, "out", "enrolment", "file to write")
	return cmd
}

// enrolment describes a signed list of devices.
type enrolment struct {
	Devices   int    `json:"devices"`
	File      string `json:"file"`
	Authority string `json:"authority"`
}

// Print writes the key with which devices and server verify the file.
func (e enrolment) Print(w io.Writer) error {
	p := &printer{w: w}
	p.linef("%s in %s\nauthority: %s", humanize.Count(e.Devices, "device"), e.File, e.Authority)
	return p.err
}

// enrolmentFlags holds the flags that select an enrolment and its authority.
type enrolmentFlags struct{ path, authority string }

func (f *enrolmentFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.path, "enrolment", "enrolment", "enrolment file, signed by the authority")
	cmd.Flags().StringVar(&f.authority, "authority", "", "public key of the authority, in hexadecimal digits")
}

func (a *app) opened(f enrolmentFlags) (*devices.Enrolment, error) {
	return daemon.OpenEnrolment(f.path, f.authority, daemon.Options{Reader: a.reader})
}

func (a *app) gatewaySums() *cobra.Command {
	var home string
	var signed enrolmentFlags
	var doors daemon.Doors
	cmd := &cobra.Command{
		Use:   "sums",
		Short: "Run the server of devices that add up their data by secure aggregation",
		Long: `Run the server of a job of many devices. Devices call it by HTTP, and it adds up their
answers by secure aggregation. For protocol fedcfk, it computes the kernel between
items, sends it to the remaining devices, and leaves it in HOME/items.kernel. For
secvm with aggregation: secagg, it takes a step after each sum, publishes the next
weights, and leaves the model in HOME/model.

The enrolment names the job and all devices; another operator signs it with mercer
issuer enrol. The first device must come within timeout.join of the job. A round ends
timeout.round after its last message: a slower device counts as vanished.

You can kill and restart the server at any time. With --tls-cert and --tls-key it uses
HTTPS.`,
		Example: "  mercer gateway sums --home g --enrolment enrolment --authority 6f1c... --listen :8080",
		Args:    args(),
		RunE: a.run(func(ctx context.Context, _ []string) (r Result, err error) {
			began := time.Now()
			e, err := a.opened(signed)
			if err != nil {
				return nil, err
			}
			h := a.at(home)
			_, lock, err := h.Own(nil)
			if err != nil {
				return nil, err
			}
			defer func() { err = errors.Join(err, lock.Close()) }()
			done, err := h.RunSums(ctx, e, doors, a.readyOptions(home))
			switch {
			case err != nil:
				return nil, err
			case done == nil:
				return a.stopped(home, nil)
			}
			return a.summedUp(h.SumsModelPath(e.Job), e.Job, done, time.Since(began))
		}),
	}
	a.homeFlag(cmd, &home)
	signed.add(cmd)
	doorFlags(cmd, &doors, "127.0.0.1:8080")
	return daemonCommand(cmd)
}

// sumsResult holds the result of a finished job of devices, and the resources that the server used.
// After a restart, the resources are only those of the server's last process.
type sumsResult struct {
	*method.Result
	seconds, cpu float64
	shown        *method.Presentation // how the method presents the result, or nil
	verbose      bool                 // also print the details
}

func (a *app) summedUp(model string, j *job.Job, r *method.Result, took time.Duration) (Result, error) {
	b, err := os.ReadFile(model)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(b)
	r.ModelHash = hex.EncodeToString(sum[:])
	r.Models = []method.ModelFile{{Party: devices.Server, Path: model, SHA256: r.ModelHash}}
	s := sumsResult{Result: r, seconds: took.Seconds(), verbose: a.verbose}
	s.cpu, r.PeakRSS = daemon.Usage()
	s.shown, err = method.Presented(a.reader.Protocols, j, r)
	return s, err
}

// MarshalJSON writes the result, with the path of the model and the elapsed and processor time of this process.
func (s sumsResult) MarshalJSON() ([]byte, error) {
	b, err := json.Marshal(s.Result)
	for _, one := range []struct {
		key   string
		value any
	}{{"model", s.Models[0].Path}, {"wall_s", s.seconds}, {"cpu_s", s.cpu}} {
		if err == nil {
			b, err = withKey(b, one.key, one.value)
		}
	}
	return b, err
}

// Print writes the verdict, the scores, who can reconstruct records, the warnings, and the model's path. With
// verbose, it writes the details too.
func (s sumsResult) Print(w io.Writer) error {
	p, o := &printer{w: w}, outcome{Result: s.Result, shown: s.shown, verbose: s.verbose}
	o.printVerdict(p)
	o.printScores(p)
	o.printPrivacy(p)
	o.printNotices(p)
	if s.verbose {
		s.printDetails(p)
	}
	p.linef("\nmodel: %s", s.Models[0].Path)
	return p.err
}

// printDetails prints the method's tables, the costs, and what each role learns.
func (s sumsResult) printDetails(p *printer) {
	if s.shown != nil {
		p.blocks(p.w, s.shown.Text)
	}
	p.linef("\nthis process: %.0f s, processors %.1f s, memory %s", s.seconds, s.cpu, humanize.Bytes(s.PeakRSS))
	p.printLeakage(s.Leakage)
	p.linef("\nmodel_sha256: %s", s.ModelHash)
}

// sumsFlags holds the flags of mercer device sums.
type sumsFlags struct {
	home, server, authorities, vanish string
	ratings, rows, label              string // files with the people's data
	enrolment                         enrolmentFlags
	hosted                            devicesim.Config
	seed                              insecureSeed
}

func (a *app) deviceSums() *cobra.Command {
	f := sumsFlags{hosted: devicesim.Config{Limits: method.DefaultLimits()}}
	cmd := &cobra.Command{
		Use:   "sums",
		Short: "Join a secure sum with the data of one person, and keep the result",
		Long: `Join a job of protocol fedcfk with the ratings of one person, or a job of secvm with
aggregation: secagg with one record. The server learns sums over all devices. For tests
and demonstrations, one process can run a device for each of several people; each has
its own key, ledger and secrets. The command ends when each device has its
recommendations, or the model, in HOME/devices.

The enrolment names the job and all devices. The authority of --authority must have
signed it. Get this key from the authority, not from the server. A device refuses a
job outside the limits of a party: threshold 10, adversary active, corrupted from
0.05, dropped up to 0.2. A step of secvm needs 100 participants. A device adds its
data to one sum of each kind and never again; secvm has a sum for each iteration.

You can kill and restart the command: a device continues if its round is still open. A
device of secvm that was offline joins the next iteration. The exit code is not 0 if a
device was left out or gave up; the log says why.`,
		Example: "  mercer device credentials --home me --count 1\n  mercer device sums --home me --enrolment enrolment --authority 6f1c... --server https://sums.example/ --ratings me.csv\n  mercer device sums --home me --enrolment enrolment --authority 6f1c... --server https://sums.example/ --rows me.csv --label label",
		Args:    args(),
		RunE: a.run(func(ctx context.Context, _ []string) (Result, error) {
			return a.addUp(ctx, f)
		}),
	}
	a.homeFlag(cmd, &f.home)
	f.enrolment.add(cmd)
	flags := cmd.Flags()
	flags.StringVar(&f.server, "server", "", "address of the server")
	flags.StringVar(&f.ratings, "ratings", "", "text of user, item and rating, with the ratings of each device's person")
	flags.StringVar(&f.rows, "rows", "", "table with the row of each device's person, in place of --ratings")
	flags.StringVar(&f.label, "label", "", "column of the labels of --rows")
	flags.IntVar(&f.hosted.First, "first", 0, "first person with a device in this process, from 0")
	flags.IntVar(&f.hosted.Count, "count", 1, "number of people with a device in this process")
	flags.DurationVar(&f.hosted.Patience, "patience", 10*time.Minute, "how long a device waits for a server that does not answer")
	flags.IntVar(&f.hosted.Limits.Cohort, "min-cohort", f.hosted.Limits.Cohort, "refuse jobs of secvm that take a step with fewer devices than this")
	authoritiesFlag(cmd, &f.authorities)
	f.seed.flag(cmd)
	flags.StringVar(&f.vanish, "vanish", "", "for rehearsals: file with lines of device, step and kind of the message before which the device vanishes")
	return daemonCommand(cmd)
}

func (a *app) addUp(ctx context.Context, f sumsFlags) (r Result, err error) {
	c := f.hosted
	if c.Enrolment, err = a.opened(f.enrolment); err != nil {
		return nil, err
	}
	if c.Vanishing, err = readVanishing(f.vanish); err != nil {
		return nil, err
	}
	roots, err := endpoint.Authorities(f.authorities)
	if err != nil {
		return nil, err
	}
	c.HTTP = &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS13, RootCAs: roots}, MaxIdleConnsPerHost: 3 * f.hosted.Count}}
	if c.Source, c.People, err = a.readPeople(f); err != nil {
		return nil, err
	}
	if c.Build, err = daemon.Build(); err != nil {
		return nil, err
	}
	id, lock, err := a.at(f.home).Own(nil)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	c.Home, c.Server, c.Seed, c.Logger = f.home, f.server, f.seed.orNil(), a.log
	c.Credential = func(row int) ed25519.PrivateKey { return simulator.Credential(id, row) }
	done, err := devicesim.Run(ctx, c)
	switch {
	case isStop(ctx, err):
		return a.stopped(f.home, nil)
	case err != nil:
		return nil, err
	}
	s := devicesDone{Result: done}
	s.CPU, s.PeakRSS = daemon.Usage()
	return s, nil
}

// readPeople reads the data of the people whose devices this process can run.
func (a *app) readPeople(f sumsFlags) (source string, people []method.Table, err error) {
	switch {
	case (f.ratings == "") == (f.rows == ""):
		return "", nil, usage("the data of the device's person is missing; give --ratings for protocol fedcfk, or --rows and --label for secvm")
	case f.ratings != "":
		all, err := a.library().Ratings(f.ratings)
		if err != nil {
			return "", nil, err
		}
		return all.Name, devicesim.Ratings(all), nil
	}
	all, err := a.library().Load(f.rows, catalogue.Columns{Label: f.label})
	if err != nil {
		return "", nil, err
	}
	return all.Name, devicesim.Rows(all), nil
}

// readVanishing reads the moments at which simulated devices vanish, by the name of the device.
func readVanishing(path string) (map[string][]devicesim.Moment, error) {
	if path == "" {
		return nil, nil
	}
	b, err := regular.Read(path)
	if err != nil {
		return nil, usage("--vanish: %w", err)
	}
	list := make(map[string][]devicesim.Moment)
	for line := range strings.Lines(string(b)) {
		words := strings.Fields(line)
		if len(words) != 3 {
			return nil, usage("--vanish has the line %q; each line must name a device, a step and a kind of message", strings.TrimSpace(line))
		}
		list[words[0]] = append(list[words[0]], devicesim.Moment{Step: words[1], Kind: words[2]})
	}
	return list, nil
}

// devicesDone is the result of devices whose work is over.
type devicesDone struct {
	*devicesim.Result
	CPU     float64 `json:"cpu_s"`
	PeakRSS uint64  `json:"peak_rss_bytes"`
}

// Print writes how the devices took part.
func (s devicesDone) Print(w io.Writer) error {
	p, n := &printer{w: w}, max(1, s.Devices)
	p.linef("%s: %d finished, %d vanished as planned, %d left out", humanize.Count(s.Devices, "device"), s.Finished, s.Vanished, s.LeftOut)
	p.linef("each: %s sent, %s received, processors %.2f s", humanize.Bytes(s.Sent/uint64(n)), humanize.Bytes(s.Received/uint64(n)), s.CPU/float64(n))
	return p.err
}
