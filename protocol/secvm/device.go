package secvm

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/internal/crypto/prg"
)

// Role says whether a device's record trains or tests a model. It is the same in all windows of the
// model.
type Role uint8

// The roles of a device.
const (
	Train Role = iota
	Test
)

// Cast draws a device's role at random. The role is Test with probability chance, and Train
// otherwise. A device draws once for each model and keeps the role secret; the server learns it
// only from the device's packages.
func Cast(chance float64, r Random) Role {
	const sides = 1 << 30
	if pick(r, sides) < int(chance*sides) {
		return Test
	}
	return Train
}

// Record holds the features and the label of one device.
type Record struct {
	Vector Vector
	Label  int8 // -1 or +1
}

// Limits holds a device's conditions for taking part in the training of a model.
type Limits struct {
	Bins      int     // largest number of bins
	Hashes    int     // largest number of hashes
	MaxWeight float64 // largest absolute value of a weight
	Radius    float64 // largest norm of the weights; with small weights, a gateway can exclude only few people from training
	Cohort    int     // least number of participants for a step
	Models    int     // largest number of models at a time; the caller checks it, because Check sees one model only
	// Paper lets the device also take part in jobs of mode "paper". In these jobs only MaxWeight
	// bounds the weights, and no witness countersigns the weights or states who takes part. The
	// gateway may issue the tokens itself.
	Paper bool
}

// DefaultLimits returns limits that suit records of tens to hundreds of features. With 2^16 bins,
// most bins belong to a single feature unless there are many more features.
func DefaultLimits() Limits {
	return Limits{Bins: 1 << 16, Hashes: 1, MaxWeight: 1e3, Radius: 100, Cohort: 100, Models: 4}
}

// OrDefaults returns the limits with every zero replaced by the value of [DefaultLimits].
func (l Limits) OrDefaults() Limits {
	d := DefaultLimits()
	return Limits{
		Bins: cmp.Or(l.Bins, d.Bins), Hashes: cmp.Or(l.Hashes, d.Hashes), MaxWeight: cmp.Or(l.MaxWeight, d.MaxWeight),
		Radius: cmp.Or(l.Radius, d.Radius), Cohort: cmp.Or(l.Cohort, d.Cohort), Models: cmp.Or(l.Models, d.Models), Paper: l.Paper,
	}
}

// binNoun returns the noun for the model's bins or columns.
func (s Spec) binNoun() string {
	if s.Columns {
		return "columns"
	}
	return "bins"
}

// Check returns an error if a model exceeds the limits.
func (l Limits) Check(p Params) error {
	s := p.spec
	switch {
	case s.Bins > l.Bins:
		return fmt.Errorf("secvm: model %s has %d %[3]s; this device allows at most %[4]d, because more %[3]s can single out people", s.Name, s.Bins, s.binNoun(), l.Bins)
	case s.Hashes > l.Hashes:
		return fmt.Errorf("secvm: model %s has %d hashes; this device allows at most %d, because an attacker can intersect the bins of several hashes", s.Name, s.Hashes, l.Hashes)
	case s.MaxWeight > l.MaxWeight:
		return fmt.Errorf("secvm: model %s allows weights up to %g; this device allows at most %g, because with large weights a gateway can choose which people train", s.Name, s.MaxWeight, l.MaxWeight)
	case s.Radius == 0 && !l.Paper:
		return fmt.Errorf("secvm: model %s does not limit the norm of its weights (mode \"paper\"); this device takes part in hardened jobs only", s.Name)
	case s.Radius > l.Radius:
		return fmt.Errorf("secvm: model %s allows weights of norm %g; this device allows at most %g, because with large weights a gateway can choose which people train", s.Name, s.Radius, l.Radius)
	case s.Cohort < l.Cohort:
		return fmt.Errorf("secvm: model %s takes a step with %d participants; this device requires at least %d", s.Name, s.Cohort, l.Cohort)
	}
	return nil
}

// Device computes the packages of one record for one model.
type Device struct {
	params Params
	record Record
	role   Role
}

// NewDevice returns the device of a record, or an error if the record does not suit the model. A
// record may have at most [Params.Room] units; [Vector.Sample] reduces a larger record.
func NewDevice(p Params, r Record, role Role) (*Device, error) {
	if r.Label != 1 && r.Label != -1 {
		return nil, fmt.Errorf("secvm: the record's label is %d; use -1 or 1", r.Label)
	}
	for i, e := range r.Vector {
		if e.Bin < 0 || e.Bin >= p.spec.Bins || e.Count < 1 || (i > 0 && e.Bin <= r.Vector[i-1].Bin) {
			return nil, fmt.Errorf("secvm: the record has bin %d with count %d; bins must be below %d and in ascending order, with counts of at least 1", e.Bin, e.Count, p.spec.Bins)
		}
	}
	if n := r.Vector.Units(); n > p.Room() {
		return nil, fmt.Errorf("secvm: the record's counts add up to %d, but %d packages can carry only %d; draw one sample of the record and keep it", n, p.spec.Packages, p.Room())
	}
	return &Device{p, r, role}, nil
}

// Answer returns the packages that the device sends in one window, in random order. It adds cover
// packages to those of [Device.AnswerAsPublished], so that the total number of packages is
// constant.
func (d *Device) Answer(iteration uint32, weights Weights, r Random) ([]Package, error) {
	said, err := d.AnswerAsPublished(iteration, weights)
	if err != nil {
		return nil, err
	}
	for len(said) < d.params.spec.Packages {
		said = append(said, d.address(Package{Kind: Cover, Index: uint32(pick(r, d.params.Features()))}, iteration))
	}
	for i := range said {
		j := pick(r, i+1)
		said[i], said[j] = said[j], said[i]
	}
	return said, nil
}

// AnswerAsPublished returns the device's packages without cover packages. A training device
// strictly inside the margin or on the wrong side sends its record, including the bias; other
// training devices send only that they take part. A testing device sends its guess. The weights
// must be those published for the iteration. An observer that counts a device's packages learns on
// which side of the margin the device's record is.
func (d *Device) AnswerAsPublished(iteration uint32, weights Weights) ([]Package, error) {
	if len(weights.w) != d.params.Features() {
		return nil, fmt.Errorf("secvm: the weights have %d features, but the device's model has %d", len(weights.w), d.params.Features())
	}
	score := d.record.Vector.Score(weights.w)
	var said []Package
	switch {
	case d.role == Test:
		said = []Package{{Kind: Testing, Value: d.record.Label, Guess: Predict(score)}}
	case float64(d.record.Label)*score < 1:
		said = append(d.subgradient(), d.participation())
	default:
		said = []Package{d.participation()}
	}
	for i, p := range said {
		said[i] = d.address(p, iteration)
	}
	return said, nil
}

func (d *Device) address(p Package, iteration uint32) Package {
	p.Tag, p.Iteration = d.params.tag, iteration
	return p
}

// Predict returns the label that a score predicts. A score of 0 predicts +1, as in the published
// client.
func Predict(score float64) int8 {
	if score < 0 {
		return -1
	}
	return 1
}

func (d *Device) participation() Package {
	p := Package{Kind: Participation}
	if d.params.spec.Classes {
		p.Value = d.record.Label
	}
	return p
}

// subgradient returns the packages of the record's subgradient, label times features (eq. 8 of the
// paper). Each carries one unit; the first is for the bias.
func (d *Device) subgradient() []Package {
	list := []Package{{Kind: Training, Index: uint32(d.params.spec.Bins), Value: d.record.Label}}
	for _, e := range d.record.Vector {
		for range e.Count {
			list = append(list, Package{Kind: Training, Index: uint32(e.Bin), Value: d.record.Label})
		}
	}
	return list
}

// Weights is a weight vector that has been checked against a model. It does not change.
type Weights struct{ w []float64 }

// normTolerance is the relative tolerance for the norm of weights that were projected onto the
// ball.
const normTolerance = 1e-9

// Weights checks w against the model and returns it as Weights, without a copy. A device answers
// only to checked weights.
func (p Params) Weights(w []float64) (Weights, error) {
	if len(w) != p.Features() {
		return Weights{}, fmt.Errorf("secvm: there are %d weights; this model has %d", len(w), p.Features())
	}
	for _, v := range w {
		if math.IsNaN(v) {
			return Weights{}, errors.New("secvm: a weight is not a number (NaN); weights must be finite")
		}
		if math.Abs(v) > p.spec.MaxWeight {
			return Weights{}, fmt.Errorf("secvm: a weight is %g; the model promised at most %g", v, p.spec.MaxWeight)
		}
	}
	square := 0.
	for _, v := range w {
		square += v * v
	}
	if norm := math.Sqrt(square); p.spec.Radius > 0 && norm > p.spec.Radius*(1+normTolerance) {
		return Weights{}, fmt.Errorf("secvm: the weights have norm %g; the model promised a ball of radius %g", norm, p.spec.Radius)
	}
	return Weights{w}, nil
}

// Seeds holds a device's secret seeds for one model. Simulated and real devices use the same stream
// labels, so that a simulated device and a real device draw the same role and the same sample from
// equal seeds.
type Seeds struct{ Role, Own [32]byte }

// Cast draws the device's role from its seed. The argument testers is the probability of role
// [Test].
func (s Seeds) Cast(testers float64) Role { return Cast(testers, prg.New(s.Role, "simulate/role")) }

// Random returns the source of the device's other random numbers. Every call starts the
// same stream again.
func (s Seeds) Random() Random { return prg.New(s.Own, "simulate/device") }

// Kind says what a package reports.
type Kind uint8

// The kinds of packages. Cover is an empty package that keeps a device's number of packages
// constant. The other kinds are the kinds that the paper's client sends.
const (
	Participation Kind = iota + 1
	Training
	Testing
	Cover
)

// PackageSize is the number of bytes in every package.
const PackageSize = 24

// Package is one anonymous message of a device. It contains no value by which packages of one
// device could be recognized as such.
type Package struct {
	Tag       uint64 // tag of the model
	Iteration uint32 // iteration of the weights that the package answers
	Kind      Kind
	Index     uint32 // index of the feature in a Training package; random in a Cover package
	Value     int8   // the device's label, or 0 if the package does not reveal the label
	Guess     int8   // the label that the weights predict, in a Testing package; 0 in other packages
}

// Encode returns the package as [PackageSize] bytes.
func (p Package) Encode() []byte { return p.Append(make([]byte, 0, PackageSize)) }

// Append appends the encoded package to b and returns the result.
func (p Package) Append(b []byte) []byte {
	b = binary.LittleEndian.AppendUint64(b, p.Tag)
	b = binary.LittleEndian.AppendUint32(b, p.Iteration)
	b = binary.LittleEndian.AppendUint32(b, p.Index)
	return append(b, byte(p.Kind), byte(p.Value), byte(p.Guess), 0, 0, 0, 0, 0)
}

// DecodePackage decodes a package from the output of [Package.Encode].
func DecodePackage(b []byte) (Package, error) {
	if len(b) != PackageSize || b[19]|b[20]|b[21]|b[22]|b[23] != 0 {
		return Package{}, fmt.Errorf("secvm: the package is malformed; it must have %d bytes, and the last 5 must be zero", PackageSize)
	}
	return Package{
		Tag: binary.LittleEndian.Uint64(b), Iteration: binary.LittleEndian.Uint32(b[8:]), Index: binary.LittleEndian.Uint32(b[12:]),
		Kind: Kind(b[16]), Value: int8(b[17]), Guess: int8(b[18]),
	}, nil
}

// Check returns an error for a package that no honest device sends. It ignores the tag and the
// iteration.
func (p Package) Check(params Params) error {
	sign := func(v int8) bool { return v == 1 || v == -1 }
	ok := false
	switch p.Kind {
	case Participation:
		ok = p.Index == 0 && p.Guess == 0 && (sign(p.Value) && params.spec.Classes || p.Value == 0 && !params.spec.Classes)
	case Training:
		ok = sign(p.Value) && p.Guess == 0 && p.Index < uint32(params.Features())
	case Testing:
		ok = sign(p.Value) && sign(p.Guess) && p.Index == 0
	case Cover:
		ok = p.Value == 0 && p.Guess == 0 && p.Index < uint32(params.Features())
	}
	if !ok {
		return fmt.Errorf("secvm: the package of kind %d has index %d, value %d and guess %d, which no honest device sends", p.Kind, p.Index, p.Value, p.Guess)
	}
	return nil
}

// The paths of the requests that devices and servers make. What GET returns is public. Only packages
// are anonymous.
const (
	ConfigurationPath = "/configuration" // GET from the gateway: the signed configuration
	AnnouncementPath  = "/announcement"  // GET from the relay: the gateway's history and weights
	HistoryPath       = "/history"       // POST from the gateway to a witness: a [History]
	StatementPath     = "/statement"     // GET from a witness: a signed [Statement]
	PresencePath      = "/presence"      // POST to the relay: a presence token
	PackagePath       = "/package"       // POST to the gateway through the relay: a sealed request with a token and a package
	RequestSize       = 512              // bytes of a package's request before it is sealed
)

// Announcement is the gateway's message to all devices before a window opens.
type Announcement struct {
	Chain   Chain
	Weights []byte // the weights in the format of [EncodeWeights]
}

// Encode returns the announcement as bytes, which [DecodeAnnouncement] decodes.
func (a Announcement) Encode() []byte {
	var w wire.Writer
	w.Bytes32(a.Chain.Encode())
	w.Bytes32(a.Weights)
	return w.Bytes()
}

// AnnouncementLimit returns the largest number of bytes in an announcement of a model.
func AnnouncementLimit(p Params) int { return maxChainBytes + 8*p.Features() + 8 }

// DecodeAnnouncement decodes the output of [Announcement.Encode]. It verifies no signature;
// [Follower] does.
func DecodeAnnouncement(p Params, b []byte) (Announcement, error) {
	r := wire.NewReader(b)
	chain := r.Bytes32(maxChainBytes)
	a := Announcement{Weights: r.Bytes32(8 * p.Features())}
	err := r.Close("secvm: announcement")
	if err == nil {
		a.Chain, err = DecodeChain(chain)
	}
	return a, err
}

// Spent is a package together with the token that pays for it.
type Spent struct {
	Token []byte
	Package
}

// Encode returns the content of the request that carries the package: the token and the package.
func (s Spent) Encode() []byte { return s.Append(append([]byte(nil), s.Token...)) }

// ErrTokenless is the error of [DecodeSpent] for a package without a token.
var ErrTokenless = errors.New("secvm: the package has no token")

// DecodeSpent decodes the output of [Spent.Encode], with a token of the given number of bytes. The
// result's token shares the memory of b.
func DecodeSpent(b []byte, token int) (Spent, error) {
	switch {
	case len(b) == PackageSize:
		return Spent{}, ErrTokenless
	case len(b) != token+PackageSize:
		return Spent{}, fmt.Errorf("secvm: the content has %d bytes; a token and a package together have %d", len(b), token+PackageSize)
	}
	p, err := DecodePackage(b[token:])
	return Spent{b[:token], p}, err
}
