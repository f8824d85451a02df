package cli

import (
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"errors"
	"io"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/mercer-fl/mercer/internal/anonymous/fleet"
	"github.com/mercer-fl/mercer/internal/base/disk"
	"github.com/mercer-fl/mercer/internal/base/endpoint"
	"github.com/mercer-fl/mercer/internal/base/say"
	"github.com/mercer-fl/mercer/internal/daemon"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/node/crowd"
	"github.com/mercer-fl/mercer/internal/node/crowd/hosted"
)

// enrol is a command of the authority: another operator than the server's.
func (a *app) enrol() *cobra.Command {
	var home, jobFile, roster, out string
	cmd := &cobra.Command{
		Use:   "enrol",
		Short: "Sign the job of a crowd, with the key of every device that takes part",
		Long: `Sign a job of protocol fedcfk with the public key of every device that takes part. The
server and all devices need a copy of the file, and the key that this command prints.
Another operator than the server's must enrol devices: a server that could would
invent people, and read the others' lists from its sums.

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
			id, lock, err := daemon.Home(home).Own(nil)
			if err != nil {
				return nil, err
			}
			defer func() { err = errors.Join(err, lock.Close()) }()
			signed, err := crowd.Enrol(j, keys, id.SigningKey())
			if err != nil {
				return nil, err
			}
			return enrolment{len(keys), out, hex.EncodeToString(id.Public().Sign)}, disk.Replace(out, signed)
		}),
	}
	a.homeFlag(cmd, &home)
	cmd.Flags().StringVar(&jobFile, "job", "", "job file, with protocol fedcfk")
	cmd.Flags().StringVar(&roster, "roster", "", "file of the devices' public keys")
	cmd.Flags().StringVar(&out, "out", "enrolment", "file to write")
	return cmd
}

// enrolment reports a signed list of devices.
type enrolment struct {
	Devices   int    `json:"devices"`
	File      string `json:"file"`
	Authority string `json:"authority"`
}

// Print writes the key by which the file is checked.
func (e enrolment) Print(w io.Writer) error {
	p := &printer{w: w}
	p.linef("%s in %s\nauthority: %s", say.Count(e.Devices, "device"), e.File, e.Authority)
	return p.err
}

// enrolmentFlags select what an authority has signed.
type enrolmentFlags struct{ path, authority string }

func (f *enrolmentFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.path, "enrolment", "enrolment", "file that the authority has signed")
	cmd.Flags().StringVar(&f.authority, "authority", "", "public key of the authority, in hexadecimal digits")
}

func (a *app) opened(f enrolmentFlags) (*crowd.Enrolment, error) {
	return daemon.OpenEnrolment(f.path, f.authority, daemon.Options{Reader: a.reader})
}

func (a *app) gatewaySums() *cobra.Command {
	var home string
	var signed enrolmentFlags
	var doors daemon.Doors
	cmd := &cobra.Command{
		Use:   "sums",
		Short: "Run the server of a crowd whose lists are added up in secret",
		Long: `Run a job of protocol fedcfk as the server of a crowd. Devices call it by HTTP. It adds
their lists up by secure aggregation, makes the kernel between items, tells it to the
devices that are still there, and leaves it in HOME/items.kernel.

The enrolment names the job and all devices; mercer issuer enrol signs it, at another
operator. The first device must come within timeout.join of the job. A round is over
timeout.round after its last message: a device that is slower has vanished.

The server can be killed and started again at any time. With --tls-cert and --tls-key
it speaks HTTPS.`,
		Example: "  mercer gateway sums --home g --enrolment enrolment --authority 6f1c... --listen :8080",
		Args:    args(),
		RunE: a.run(func(ctx context.Context, _ []string) (r Result, err error) {
			began := time.Now()
			e, err := a.opened(signed)
			if err != nil {
				return nil, err
			}
			h := daemon.Home(home)
			_, lock, err := h.Own(nil)
			if err != nil {
				return nil, err
			}
			defer func() { err = errors.Join(err, lock.Close()) }()
			done, err := h.RunSums(ctx, e, doors, a.ready(home))
			if err != nil {
				return nil, err
			}
			return summedUp(h, done, time.Since(began))
		}),
	}
	a.homeFlag(cmd, &home)
	signed.add(cmd)
	doorFlags(cmd, &doors, "127.0.0.1:8080")
	return daemonCommand(cmd)
}

// summed is a crowd's job that is over, with the work of the server's last process.
type summed struct {
	*method.Result
	Model   string  `json:"model"`
	SHA256  string  `json:"model_sha256"`
	Seconds float64 `json:"wall_s"`
	CPU     float64 `json:"cpu_s"`
	PeakRSS uint64  `json:"peak_rss_bytes"`
}

func summedUp(h daemon.Home, r *method.Result, took time.Duration) (Result, error) {
	b, err := os.ReadFile(h.ItemsPath())
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(b)
	s := summed{Result: r, Model: h.ItemsPath(), SHA256: hex.EncodeToString(sum[:]), Seconds: took.Seconds()}
	s.CPU, s.PeakRSS = daemon.Usage()
	return s, nil
}

// Print describes the outcome, and what each role learnt.
func (s summed) Print(w io.Writer) error {
	p := &printer{w: w}
	p.linef("this process: %.0f s, processors %.1f s, memory %s", s.Seconds, s.CPU, say.Bytes(s.PeakRSS))
	p.learnt(s.Leakage)
	p.linef("\nmodel: %s\nmodel_sha256: %s", s.Model, s.SHA256)
	return p.err
}

// sumsFlags are the flags of mercer device sums.
type sumsFlags struct {
	home, server, ratings, authorities, vanish string
	enrolment                                  enrolmentFlags
	hosted                                     hosted.Config
}

func (a *app) deviceSums() *cobra.Command {
	var f sumsFlags
	cmd := &cobra.Command{
		Use:   "sums",
		Short: "Take part in a crowd's sums with one person's list, and recommend to that person",
		Long: `Take part in a job of protocol fedcfk with the ratings of one person. The server learns
sums over all devices. For tests and demonstrations, one process can run a device
for each of several people; each has its own key, ledger and secrets. The command
ends when each device has its recommendations, in HOME/devices.

The enrolment names the job and all devices. It must be signed by the authority whose
key is given. Get this key from the authority, not from the server. A device refuses
a job below the floors of a party: threshold 10, adversary active, corrupted from
0.05, dropped up to 0.2. It adds its list to one sum of each kind and never again.

The command can be killed and started again: a device goes on if the server still
waits for it.`,
		Example: "  mercer device credentials --home me --count 1\n  mercer device sums --home me --enrolment enrolment --authority 6f1c... --server https://sums.example/ --ratings me.csv",
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
	flags.IntVar(&f.hosted.First, "first", 0, "first person that has a device in this process, from 0")
	flags.IntVar(&f.hosted.Count, "count", 1, "number of people that have a device in this process")
	flags.DurationVar(&f.hosted.Patience, "patience", 10*time.Minute, "how long a device waits for a server that does not answer")
	authoritiesFlag(cmd, &f.authorities)
	flags.StringVar(&f.vanish, "vanish", "", "for rehearsals: file with lines of device, step and kind of message before which the device vanishes")
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
	if c.Ratings, err = a.library().Ratings(f.ratings); err != nil {
		return nil, err
	}
	if c.Build, err = daemon.Build(); err != nil {
		return nil, err
	}
	id, lock, err := daemon.Home(f.home).Own(nil)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	c.Home, c.Server, c.Floors, c.Logger = f.home, f.server, method.DefaultFloors(), a.log
	c.Credential = func(row int) ed25519.PrivateKey { return fleet.Credential(id, row) }
	done, err := hosted.Run(ctx, c)
	if err != nil {
		return nil, err
	}
	s := addedUp{Result: done}
	s.CPU, s.PeakRSS = daemon.Usage()
	return s, nil
}

// readVanishing reads which devices of a rehearsal vanish, and when.
func readVanishing(path string) (map[string][]hosted.Moment, error) {
	if path == "" {
		return nil, nil
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, usage("--vanish: %w", err)
	}
	list := make(map[string][]hosted.Moment)
	for line := range strings.Lines(string(b)) {
		words := strings.Fields(line)
		if len(words) != 3 {
			return nil, usage("--vanish: %q is no device, step and kind", strings.TrimSpace(line))
		}
		list[words[0]] = append(list[words[0]], hosted.Moment{Step: words[1], Kind: words[2]})
	}
	return list, nil
}

// addedUp reports the work that devices have done.
type addedUp struct {
	*hosted.Result
	CPU     float64 `json:"cpu_s"`
	PeakRSS uint64  `json:"peak_rss_bytes"`
}

// Print writes the report.
func (s addedUp) Print(w io.Writer) error {
	p, n := &printer{w: w}, max(1, s.Devices)
	p.linef("%s: %d have their recommendations, %d vanished as told, %d left out", say.Count(s.Devices, "device"), s.Finished, s.Vanished, s.LeftOut)
	p.linef("each: %s sent, %s received, processors %.2f s", say.Bytes(s.Sent/uint64(n)), say.Bytes(s.Received/uint64(n)), s.CPU/float64(n))
	return p.err
}
