package bench

import (
	"context"
	"errors"
	"fmt"

	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/ohttp"
	"github.com/mercer-fl/mercer/ohttp/bhttp"
	"github.com/mercer-fl/mercer/privacypass"
	"github.com/mercer-fl/mercer/protocol/secvm"
)

// MinGatewayPackages and MaxGatewayPackages limit the number of packages that Gateway seals.
const (
	MinGatewayPackages = 100
	MaxGatewayPackages = 1_000_000
)

// gatewaySize holds the numbers of packages that the benchmark uses.
type gatewaySize struct {
	rsa, voprf int   // numbers of sealed packages, by the kind of their tokens
	counted    []int // sizes of windows that are counted without cryptography, in ascending order
}

// Gateway returns a benchmark of a SecVM gateway in a separate process. The argument program is the
// command line that runs mercer. The benchmark seals the given number of packages beforehand, each
// with a token of blind RSA, and posts them over loopback. It compares the gateway's processor time
// with the time of only opening the packages and verifying their tokens. It repeats the comparison
// with tokens of VOPRF, but only with a fortieth of the packages (at least 100), because these tokens take
// long to make. With the counter alone and up to a million packages, it measures how cost and memory grow
// with the size of the window, the set of packages that are counted together. The gateways' home folders
// and records are in the folder dir, which the caller removes.
func Gateway(reader *job.Reader, program []string, dir string, packages int) Benchmark {
	return gatewayBenchmark(reader, program, dir, gatewaySize{rsa: packages, voprf: max(packages/40, MinGatewayPackages), counted: []int{10_000, 100_000, 1_000_000}})
}

func gatewayBenchmark(reader *job.Reader, program []string, dir string, size gatewaySize) Benchmark {
	posted := func(kind privacypass.Type, packages int) scene {
		return scene{kind.String(), func(ctx context.Context) (race, error) { return raceGateway(ctx, reader, program, dir, kind, packages) }}
	}
	return Benchmark{cases: []scene{
		posted(privacypass.BlindRSA, size.rsa),
		posted(privacypass.VOPRF, size.voprf),
		{"counter", func(context.Context) (race, error) { return raceCounter(dir, size.counted) }},
	}}
}

// samples is the largest number of packages, and of their tokens, with which the limit is measured.
const samples = 2_000

func (g *postedGateway) samples() int { return min(len(g.tokens), samples) }

func raceGateway(ctx context.Context, reader *job.Reader, program []string, dir string, kind privacypass.Type, packages int) (r race, err error) {
	g, err := newPostedGateway(ctx, reader, program, dir, kind, packages)
	if err != nil {
		return race{}, err
	}
	open, err := g.openAlone()
	if err != nil {
		return race{}, err
	}
	var idle, busy float64
	r.runs = []run{open, g.verifyAlone(), g.measured(&idle, nil), g.measured(&busy, g.letters)}
	r.rows = func(best []span) []Row {
		opening, verifying := best[0].cpu/float64(g.samples()), best[1].cpu/float64(g.samples())
		name := func(what string) string { return fmt.Sprintf("%v: %s", kind, what) }
		rate := figure(name(fmt.Sprintf("%d packages over loopback HTTP", packages)), float64(packages)/(busy-idle), "packages/s of gateway CPU").
			beside("1/(t_open + t_verify)", 1/(opening+verifying))
		if kind == privacypass.BlindRSA {
			rate = rate.atLeast(.5)
		}
		return []Row{
			figure(name("t_open, a package opened and decoded, processor time"), opening, "s"),
			figure(name("t_verify, a token verified, processor time"), verifying, "s"),
			rate,
			figure(name("start and end of the gateway, processor time, not in the rate"), idle, "s"),
		}
	}
	return r, nil
}

// openAlone returns a run that only opens and decodes packages. The packages are sealed to a key
// made here, because the gateway's key is secret.
func (g *postedGateway) openAlone() (run, error) {
	seed := seedOf("ohttp", 0)
	key, err := ohttp.NewKey(1, seed[:])
	if err != nil {
		return nil, err
	}
	sealed := make([][]byte, g.samples())
	for i := range sealed {
		l, err := sealFor(key.Config(), g.configuration, g.tokens[i], i)
		if err != nil {
			return nil, err
		}
		sealed[i] = l.sealed
	}
	size := privacypass.Type(g.configuration.TokenType).Size()
	return onAllCores(len(sealed), func(i int) error {
		message, _, err := key.Decapsulate(sealed[i])
		if err != nil {
			return err
		}
		q, err := bhttp.ParseRequest(message)
		if err != nil {
			return err
		}
		_, err = secvm.DecodeSpent(q.Content, size)
		return err
	}), nil
}

func (g *postedGateway) verifyAlone() run {
	challenge := g.challenge().Digest()
	return onAllCores(g.samples(), func(i int) error { return g.verifier.Verify(g.tokens[i], challenge) })
}

// onAllCores returns a run that calls do n times, distributed over all cores.
func onAllCores(n int, do func(i int) error) run {
	return func(context.Context) error {
		errs := make([]error, n)
		linalg.Each(n, 16, func(i int) {
			errs[i] = do(i)
		})
		return errors.Join(errs...)
	}
}
