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

// weightsAt returns different weights for each iteration.
func weightsAt(p secvm.Params, iteration int) []float64 {
	w := make([]float64, p.Features())
	w[0] = float64(iteration)
	return w
}

// extend adds a window's link with its own key.
func extend(c secvm.Chain, configuration [32]byte, iteration uint32, opens int64, w []float64, sign secvm.Signer) secvm.Chain {
	return c.Extend(secvm.Link{
		Configuration: configuration, Iteration: iteration, Opens: opens, Key: [secvm.KeySize]byte{1, byte(len(c))}, Weights: secvm.HashWeights(w),
	}, sign)
}

func chain(p secvm.Params, links int) secvm.Chain {
	_, sign := signer()
	var c secvm.Chain
	for i := range links {
		c = extend(c, configuration, uint32(i), int64(1000*i), weightsAt(p, i), sign)
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
		c = extend(c, configuration, uint32(i+1), int64(1000*(i+1)), weightsAt(p, i+1), sign)
	}
	c = extend(c, configuration, 4, 4000, weightsAt(p, 4), sign)
	c = extend(c, configuration, 4, 5000, weightsAt(p, 4), sign) // held again
	if l, err := f.Follow(c, weightsAt(p, 4)); err != nil || l.Iteration != 4 || l.Opens != 5000 {
		t.Errorf("%+v, %v", l, err)
	}
}

func TestFollowRefuses(t *testing.T) {
	p := params(t, nil)
	key, sign := signer()
	_, other := ed25519.PublicKey(nil), func(m []byte) []byte { return make([]byte, 64) }
	two := chain(p, 2)
	elsewhere := extend(extend(nil, configuration, 0, 1, weightsAt(p, 0), sign), configuration, 1, 1000, weightsAt(p, 1), sign)
	for name, bad := range map[string]struct {
		chain   secvm.Chain
		weights []float64
	}{
		"nothing":               {nil, weightsAt(p, 0)},
		"other weights":         {two, weightsAt(p, 5)},
		"no signature":          {extend(two, configuration, 2, 2000, weightsAt(p, 2), other), weightsAt(p, 2)},
		"another configuration": {extend(two, [32]byte{8}, 2, 2000, weightsAt(p, 2), sign), weightsAt(p, 2)},
		"an iteration left out": {extend(two, configuration, 3, 2000, weightsAt(p, 3), sign), weightsAt(p, 3)},
		"a window before":       {extend(two, configuration, 2, 500, weightsAt(p, 2), sign), weightsAt(p, 2)},
		"other weights again":   {extend(two, configuration, 1, 2000, weightsAt(p, 2), sign), weightsAt(p, 2)},
		"a later beginning":     {extend(nil, configuration, 1, 0, weightsAt(p, 1), sign), weightsAt(p, 1)},
		"a link of elsewhere":   {append(two[:1:1], elsewhere[1]), weightsAt(p, 1)},
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
	if a == b || a == c || a != secvm.Challenge(configuration, 1) || a == secvm.PresenceChallenge(configuration, 1) {
		t.Error("challenges do not tell iterations and configurations apart")
	}
}
