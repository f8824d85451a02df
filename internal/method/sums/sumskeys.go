// Package sums is the common part of methods with a secure sum. It has settings, sessions that add
// up vectors, and sessions in which members send statements or results. See protocol/secagg.
package sums

import (
	"fmt"

	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/job/section"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/secagg"
)

// Keys holds the settings of a secure sum in a job.
type Keys struct {
	Adversary Adversary
	Corrupted float64 // share of the clients that may collude with the server
	Dropped   float64 // share of the clients that may drop out
}

// Adversary names the behaviour of the server that the clients must withstand.
type Adversary string

// The adversaries.
const (
	Active     Adversary = "active"
	SemiHonest Adversary = "semi-honest"
)

// Defaults of the shares of corrupted and dropped-out clients.
const (
	defaultCorrupted = 0.05
	defaultDropped   = 0.10
)

// SumKeys declares the keys of a secure sum. A job without a sum has no such keys; hasSum reports
// whether the job has one. The text condition describes, for the documentation, the jobs that have
// a sum.
func (k *Keys) SumKeys(hasSum func() bool, condition string) []section.Field {
	return []section.Field{
		{Key: "adversary", Value: section.Choice[Adversary]{Noun: "adversary", Dst: &k.Adversary, Known: []Adversary{Active, SemiHonest}}, Else: "active" + condition,
			Doc: "The server that clients withstand: active may deviate from the protocol, semi-honest follows it."},
		{Key: "corrupted", Value: section.AlsoZero{Number: section.Number{Dst: &k.Corrupted}, Counts: hasSum}, Else: "0.05" + condition,
			Doc: "The share of the clients, below 1, that may collude with the server."},
		{Key: "dropped", Value: section.AlsoZero{Number: section.Number{Dst: &k.Dropped}, Counts: hasSum}, Else: "0.1" + condition,
			Doc: "The share of the clients, below 1, that may drop out."},
	}
}

// FinishSum sets the defaults of a job with a secure sum and checks the shares.
func (k *Keys) FinishSum(in *section.Place) error {
	if k.Adversary == "" {
		k.Adversary = Active
	}
	in.Fallback("corrupted", &k.Corrupted, defaultCorrupted)
	in.Fallback("dropped", &k.Dropped, defaultDropped)
	if err := in.Share("corrupted", "the clients", k.Corrupted); err != nil {
		return err
	}
	return in.Share("dropped", "the clients", k.Dropped)
}

// CheckLimits refuses settings that an operator's limits do not permit. The argument member is the
// word for the member in errors, such as "party".
func (k *Keys) CheckLimits(f method.Limits, member string) error {
	switch {
	case f.Active && k.Adversary != Active:
		return fmt.Errorf("adversary is %s; this %s requires %s", k.Adversary, member, Active)
	case k.Corrupted < f.Corrupted:
		return fmt.Errorf("corrupted is %g; this %s requires at least %g", k.Corrupted, member, f.Corrupted)
	case f.Dropped > 0 && k.Dropped > f.Dropped:
		return fmt.Errorf("dropped is %g; this %s allows at most %g", k.Dropped, member, f.Dropped)
	}
	return nil
}

// ServerExposure returns the exposure of the server. It is the given exposure, unless clients trust
// the server to follow the protocol: a server that does not can read any vector.
func (k *Keys) ServerExposure(e protocol.Exposure) protocol.Exposure {
	if k.Adversary == SemiHonest {
		return protocol.Exposure{Reach: protocol.ReachAll, Why: semiHonestServer}
	}
	return e
}

// ServerLeakage adds to the leakage statement in lines what a server that deviates from the protocol
// learns, if clients trust it to follow the protocol.
func (k *Keys) ServerLeakage(lines map[string][]string) {
	if k.Adversary == SemiHonest {
		lines["server"] = append(lines["server"], semiHonestServer)
	}
}

// Sum lets [Of] find the settings of a method that embeds Keys.
func (k *Keys) Sum() *Keys { return k }

// Spec returns the specification of a secure sum with these settings.
func (k *Keys) Spec(minimum int, epoch string, groups ...secagg.Group) secagg.Spec {
	return secagg.Spec{Adversary: secagg.Adversary(k.Adversary), Corrupted: k.Corrupted, Dropped: k.Dropped, Minimum: minimum, Epoch: epoch, Groups: groups}
}

// Of returns the secure-sum settings of a job whose method embeds Keys.
func Of(j *job.Job) *Keys { return j.Protocol.Values.(interface{ Sum() *Keys }).Sum() }
