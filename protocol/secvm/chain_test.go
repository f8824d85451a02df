package secvm_test

import (
	"crypto/ed25519"
	"errors"
	"testing"

	"github.com/mercer-fl/mercer/protocol/secvm"
)

var configuration = [32]byte{7}

func signer() (ed25519.PublicKey, secvm.Signer) {
	key := ed25519.NewKeyFromSeed(make([]byte, 32))
	return key.Public().(ed25519.PublicKey), func(m []byte) []byte { return ed25519.Sign(key, m) }
}

// weightsAt gives each iteration weights of its own.
func weightsAt(p secvm.Params, iteration int) []float64 {
	w := make([]float64, p.Features())
	w[0] = float64(iteration)
	return w
}

func chain(p secvm.Params, links int) secvm.Chain {
	_, sign := signer()
	var c secvm.Chain
	for i := range links {
		c = c.Extend(configuration, uint32(i), int64(1000*i), weightsAt(p, i), sign)
	}
	return c
}

func TestFollow(t *testing.T) {
	p := params(t, nil)
	key, sign := signer()
	f := secvm.Follower{Key: key, Configuration: configuration}
	c := chain(p, 1)
	for i := range 3 { // one by one, and then one that missed a window
		if l, err := f.Follow(c, weightsAt(p, i)); err != nil || l.Iteration != uint32(i) {
			t.Fatalf("link %d: %+v, %v", i, l, err)
		}
		if _, err := f.Follow(c, weightsAt(p, i)); !errors.Is(err, secvm.ErrStale) {
			t.Errorf("link %d a second time: %v", i, err)
		}
		c = c.Extend(configuration, uint32(i+1), int64(1000*(i+1)), weightsAt(p, i+1), sign)
	}
	c = c.Extend(configuration, 4, 4000, weightsAt(p, 4), sign)
	c = c.Extend(configuration, 4, 5000, weightsAt(p, 4), sign) // held again
	if l, err := f.Follow(c, weightsAt(p, 4)); err != nil || l.Iteration != 4 || l.Opens != 5000 {
		t.Errorf("%+v, %v", l, err)
	}
}

// Attack: weights for one device. It succeeds once for a device that sees the
// model for the first time and asks nobody, and is told by comparing hashes; it
// fails for one that has followed the model.
func TestAttackDeviceSpecificWeights(t *testing.T) {
	p := params(t, nil)
	key, sign := signer()
	honest := chain(p, 3)
	victim := secvm.Follower{Key: key, Configuration: configuration}
	if _, err := victim.Follow(honest, weightsAt(p, 2)); err != nil {
		t.Fatal(err)
	}
	fork := chain(p, 2).Extend(configuration, 2, 2000, weightsAt(p, 99), sign).Extend(configuration, 3, 3000, weightsAt(p, 3), sign)
	if _, err := victim.Follow(fork, weightsAt(p, 3)); !errors.Is(err, secvm.ErrForked) {
		t.Errorf("another history: %v", err)
	}
	if _, err := victim.Follow(honest[:2], weightsAt(p, 1)); !errors.Is(err, secvm.ErrForked) {
		t.Errorf("a shorter history: %v", err)
	}
	newcomer := secvm.Follower{Key: key, Configuration: configuration}
	if _, err := newcomer.Follow(fork, weightsAt(p, 3)); err != nil {
		t.Errorf("a newcomer alone cannot tell: %v", err)
	}
	next := honest.Extend(configuration, 3, 3000, weightsAt(p, 3), sign)
	if _, err := victim.Follow(next, weightsAt(p, 3)); err != nil {
		t.Fatal(err)
	}
	if newcomer.Head == victim.Head {
		t.Error("devices that were told different weights have one hash to compare")
	}
}

func TestFollowRefuses(t *testing.T) {
	p := params(t, nil)
	key, sign := signer()
	_, other := ed25519.PublicKey(nil), func(m []byte) []byte { return make([]byte, 64) }
	two := chain(p, 2)
	for name, bad := range map[string]struct {
		chain   secvm.Chain
		weights []float64
	}{
		"nothing":               {nil, weightsAt(p, 0)},
		"other weights":         {two, weightsAt(p, 5)},
		"no signature":          {two.Extend(configuration, 2, 2000, weightsAt(p, 2), other), weightsAt(p, 2)},
		"another configuration": {two.Extend([32]byte{8}, 2, 2000, weightsAt(p, 2), sign), weightsAt(p, 2)},
		"an iteration left out": {two.Extend(configuration, 3, 2000, weightsAt(p, 3), sign), weightsAt(p, 3)},
		"a window before":       {two.Extend(configuration, 2, 500, weightsAt(p, 2), sign), weightsAt(p, 2)},
		"other weights again":   {two.Extend(configuration, 1, 2000, weightsAt(p, 2), sign), weightsAt(p, 2)},
		"a later beginning":     {secvm.Chain(nil).Extend(configuration, 1, 0, weightsAt(p, 1), sign), weightsAt(p, 1)},
		"a link twice":          {append(two, two[1]), weightsAt(p, 1)},
	} {
		f := secvm.Follower{Key: key, Configuration: configuration}
		if _, err := f.Follow(bad.chain, bad.weights); err == nil || f.Seen != 0 {
			t.Errorf("%s was followed", name)
		}
	}
}

func TestChallenge(t *testing.T) {
	a, b, c := secvm.Challenge(configuration, 1), secvm.Challenge(configuration, 2), secvm.Challenge([32]byte{8}, 1)
	if a == b || a == c || a != secvm.Challenge(configuration, 1) {
		t.Error("challenges do not tell iterations and configurations apart")
	}
}
