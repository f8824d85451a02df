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

// Bounds on the packages that Gateway seals.
const (
	MinGatewayPackages = 100
	MaxGatewayPackages = 1_000_000
)

// gatewaySize holds the numbers of packages.
type gatewaySize struct {
	rsa, voprf int   // sealed, with tokens of either kind
	counted    []int // of windows that are counted without cryptography, in ascending order
}

// Gateway measures a gateway of SecVM in a separate process; program is the command line
// that runs mercer. The given number of packages, each with a token of blind RSA, are
// sealed beforehand and posted over loopback. The gateway's processor time is compared with
// the time of opening them and verifying their tokens alone. A fortieth of that number have
// tokens of VOPRF, which take long to make. The growth of cost and memory with a window is
// measured on the counter alone, up to a million packages. Homes and records are in the
// folder dir, which the caller removes.
func Gateway(reader *job.Reader, program []string, dir string, packages int) Benchmark {
	return gatewayBenchmark(reader, program, dir, gatewaySize{rsa: packages, voprf: max(packages/40, MinGatewayPackages), counted: []int{10_000, 100_000, 1_000_000}})
}

func gatewayBenchmark(reader *job.Reader, program []string, dir string, size gatewaySize) Benchmark {
	posted := func(kind privacypass.Type, packages int) scene {
		return scene{kind.String(), func(ctx context.Context) (race, error) { return raceGateway(ctx, reader, program, dir, kind, packages) }}
	}
	return Benchmark{[]scene{
		posted(privacypass.BlindRSA, size.rsa),
		posted(privacypass.VOPRF, size.voprf),
		{"counter", func(context.Context) (race, error) { return raceCounter(dir, size.counted) }},
	}}
}

// samples bounds the packages that are opened, and the tokens that are verified, for the
// limit.
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

// openAlone opens packages, as the gateway must, and does nothing else. They are sealed to
// another key, because the gateway's is its secret.
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

// onAllCores calls do n times, on all cores, as the gateway does.
func onAllCores(n int, do func(i int) error) run {
	return func(context.Context) error {
		errs := make([]error, n)
		linalg.Each(n, 16, func(i int) {
			errs[i] = do(i)
		})
		return errors.Join(errs...)
	}
}
