package bench

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/ecdh"
	"crypto/ed25519"
	"fmt"
	"runtime"

	"github.com/mercer-fl/mercer/protocol/secagg"
)

// devicesSize holds the size of a session of secure aggregation. The vectors have the given
// number of entries, each 0 or 1.
type devicesSize struct{ clients, entries int }

// SecAgg returns a benchmark of secure aggregation. It compares the expansion of masks with the
// cipher that generates them. It compares the cost of sessions, for a client and for the server,
// with a prediction from the numbers of cipher streams and keys. It runs one client's whole part
// of each session, and the server's work for some of the clients.
func SecAgg() Benchmark {
	var sizes []devicesSize
	for _, clients := range []int{100, 1000, 10_000} {
		for _, entries := range []int{1e5, 1e6, 1e7} {
			sizes = append(sizes, devicesSize{clients, entries})
		}
	}
	const movieUsers, moviePairs = 6040, 3706 * 3707 / 2 // numbers of users and of pairs of movies in ml-1m
	return secaggOf(512<<20, append(sizes, devicesSize{movieUsers, moviePairs}))
}

// secaggOf returns a benchmark of masks and of sessions. It measures masks over the given number of
// bytes of keystream. The predictions for sessions measure less keystream.
func secaggOf(keystream int, sizes []devicesSize) Benchmark {
	b := Benchmark{cases: []scene{sceneOf("masks", keystream, raceMasks)}}
	for _, s := range sizes {
		b.cases = append(b.cases, scene{
			name:    s.String(),
			prepare: func(context.Context) (race, error) { return raceSession(s, keystream/8) },
		})
	}
	return b
}

func (s devicesSize) String() string {
	return fmt.Sprintf("%d clients, %d entries", s.clients, s.entries)
}

// cipherAlone returns a run that generates keystream by AES-CTR and discards it.
func cipherAlone(bytes int) (run, error) {
	block, err := aes.NewCipher(make([]byte, 16))
	if err != nil {
		return nil, fmt.Errorf("bench: %w", err)
	}
	zeros, key := make([]byte, 16<<10), make([]byte, 16<<10)
	return pure(func() {
		ctr := cipher.NewCTR(block, make([]byte, aes.BlockSize))
		for range bytes / len(key) {
			ctr.XORKeyStream(key, zeros)
		}
	}), nil
}

func raceMasks(keystream int) (race, error) {
	const masks = 32
	list, sum := make([]secagg.Mask, masks), make([]uint64, keystream/8/masks)
	for i := range list {
		list[i] = secagg.Mask{Key: [32]byte{byte(i)}, Subtract: i%2 == 1}
	}
	alone, err := cipherAlone(keystream)
	if err != nil {
		return race{}, err
	}
	return race{
		runs: []run{alone, func(context.Context) error {
			onCores(1, func() { secagg.AESCTR{}.Add(sum, 0, list) })
			return nil
		}},
		rows: func(best []span) []Row {
			gigabytes := float64(keystream) / 1e9
			return []Row{figure("masks expanded and added, 1 core", gigabytes/best[1].wall, "GB/s").
				beside("AES-CTR alone", gigabytes/best[0].wall).
				byCPU(best[0].cpu / best[1].cpu).atLeast(.8)}
		},
	}, nil
}

// unitTurns is the number of key agreements, or of signature verifications, in one run.
const unitTurns = 200

// units returns the runs for keystream, key agreements and signature verifications. A prediction
// combines their times.
func units(keystream int) ([]run, error) {
	alone, err := cipherAlone(keystream)
	if err != nil {
		return nil, err
	}
	own, err := ecdh.X25519().NewPrivateKey(append(make([]byte, 31), 1))
	if err != nil {
		return nil, fmt.Errorf("bench: %w", err)
	}
	signer := ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))
	message := make([]byte, 140)
	signature := ed25519.Sign(signer, message)
	agreements := func(context.Context) error {
		for range unitTurns {
			if _, err := own.ECDH(own.PublicKey()); err != nil {
				return fmt.Errorf("bench: %w", err)
			}
		}
		return nil
	}
	checks := func(context.Context) error {
		for range unitTurns {
			if !ed25519.Verify(signer.Public().(ed25519.PublicKey), message, signature) {
				return fmt.Errorf("bench: the signature of the test message is invalid")
			}
		}
		return nil
	}
	return []run{alone, agreements, checks}, nil
}

// tally counts the operations that a session needs. The keystream is in bytes.
type tally struct{ keystream, agreements, checks float64 }

// on predicts how long the counted operations take on one core. The spans u are the times of the
// runs that units returns.
func (w tally) on(u []span, keystream int) span {
	seconds := func(of func(span) float64) float64 {
		return w.keystream*of(u[0])/float64(keystream) + (w.agreements*of(u[1])+w.checks*of(u[2]))/unitTurns
	}
	return span{seconds(wallOf), seconds(cpuOf)}
}

func wallOf(s span) float64 { return s.wall }
func cpuOf(s span) float64  { return s.cpu }

// sample holds the numbers of staying and vanished clients for which the server's work is
// measured.
type sample struct{ stayed, vanished int }

// sampleOf returns the numbers of sampled clients. Enough other clients remain to hold the shares
// of the sampled clients.
func sampleOf(p secagg.Params, clients int) sample {
	spare := clients - p.Degree().Threshold
	return sample{min(16, spare), min(2, spare)}
}

// bits is a client's vector of zeros and ones.
type bits struct{}

func (bits) Read(_, first int, dst []int64) {
	for i := range dst {
		dst[i] = int64((first + i) % 3 & 1)
	}
}

func raceSession(s devicesSize, keystream int) (race, error) {
	p, err := secagg.NewParams(secagg.Spec{
		Corrupted: .05, Dropped: .1, Minimum: 2, Epoch: "bench",
		Groups: []secagg.Group{{Entries: s.entries, Bound: 1}},
	}, s.clients)
	if err != nil {
		return race{}, err
	}
	r, err := secagg.NewRehearsal(p, bits{})
	if err != nil {
		return race{}, err
	}
	sampled := sampleOf(p, s.clients)
	stayed, err := r.Unmasking(sampled.stayed, false)
	if err != nil {
		return race{}, err
	}
	vanished, err := r.Unmasking(sampled.vanished, true)
	if err != nil {
		return race{}, err
	}
	runs, err := units(keystream)
	if err != nil {
		return race{}, err
	}
	var sent, received int
	runs = append(runs, func(context.Context) (err error) {
		onCores(1, func() { sent, received, err = r.Client() })
		return err
	}, func(context.Context) error { return stayed() }, func(context.Context) error { return vanished() })
	return race{runs: runs, rows: func(best []span) []Row {
		f := forecast{s, p, sampled, best[:3], keystream}
		return f.rows(best[3], best[4], best[5], sent, received)
	}}, nil
}

// forecast predicts the cost of a session from the numbers of its operations.
type forecast struct {
	devicesSize
	p         secagg.Params
	sampled   sample
	unit      []span
	keystream int
}

func (f forecast) rows(client, stayed, vanished span, sent, received int) []Row {
	gone := int(.1 * float64(f.clients))
	in := f.clients - gone
	scaled := func(of func(span) float64) float64 {
		return of(stayed)*float64(in)/float64(f.sampled.stayed) + of(vanished)*float64(gone)/float64(f.sampled.vanished)
	}
	serving, part := f.server(in, gone).on(f.unit, f.keystream), f.client().on(f.unit, f.keystream)
	cores := float64(runtime.GOMAXPROCS(0))
	measured := fmt.Sprintf("server, %v: unmasking with %d vanished, extrapolated from %d clients", f.devicesSize, gone, f.sampled.stayed+f.sampled.vanished)
	out, back := f.traffic()
	return []Row{
		figure(fmt.Sprintf("client, %v: 1 core", f.devicesSize), client.wall, "s").
			beside("counted streams, keys and signatures", part.wall).byCPU(client.cpu / part.cpu),
		figure(measured, scaled(wallOf), "s").
			beside("counted streams and keys on all cores", serving.wall/cores).byCPU(scaled(cpuOf) / serving.cpu),
		figure(fmt.Sprintf("client, %v: sent", f.devicesSize), float64(sent), "bytes").agrees("the formula", out),
		figure(fmt.Sprintf("client, %v: received", f.devicesSize), float64(received), "bytes").agrees("the formula", back),
		figure(fmt.Sprintf("server, %v: sent and received, extrapolated from 1 client", f.devicesSize), float64(f.clients)*float64(sent+received), "bytes").
			agrees("the formula", float64(f.clients)*(out+back)),
	}
}

// holders returns the number of members that hold a client's shares. The client receives the keys
// of the same number of members. It also returns the number of clients with which the client shares
// a mask.
func (f forecast) holders() (holders, pairs float64) {
	d := f.p.Degree()
	if d.Complete {
		return float64(f.clients), float64(f.clients - 1)
	}
	return float64(d.Holders), 2 * float64(d.Holders)
}

// client counts the operations of one client. These are the generation of two keys, key agreements, the expansion of
// masks, and the verification of signatures. The key agreements are with the holders of the client's shares, with the
// clients whose shares this client holds, and with the clients with which it shares a mask. The signatures are those
// of the keys of the holders and of the clients whose shares this client holds, and of the list of survivors.
func (f forecast) client() tally {
	k, pairs := f.holders()
	return tally{
		keystream:  8 * float64(f.p.Layout().Words()) * (pairs + 1),
		agreements: 2 + 2*k + pairs,
		checks:     3 * k,
	}
}

// server counts the operations of the server. The server expands one mask for each client in the
// sum, and all masks of the vanished clients.
func (f forecast) server(in, gone int) tally {
	_, pairs := f.holders()
	partners := min(pairs, float64(in))
	return tally{
		keystream:  8 * float64(f.p.Layout().Words()) * (float64(in) + float64(gone)*partners),
		agreements: float64(gone) * (1 + partners),
	}
}

// traffic returns the bytes of message bodies that a client sends and receives. A client's keys
// take 128 bytes, sealed shares 80, a signature 64, a share 32, and a client's number 4.
func (f forecast) traffic() (sent, received float64) {
	k, _ := f.holders()
	set := float64((f.clients + 7) / 8)
	sent = 128 + (4 + 4*k) + 80*k + 8*float64(f.p.Layout().Words()) + 64 + (4 + 36*k)
	received = set + (4 + 132*k) + (set + 4 + 212*k) + set + (4 + 68*k)
	return sent, received
}
