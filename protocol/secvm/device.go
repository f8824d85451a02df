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

// Role is the use of a device's record in all windows of a model: training or testing.
type Role uint8

// The roles.
const (
	Train Role = iota
	Test
)

// Cast draws a role: Test with the given probability. A device draws once for each model
// and keeps the role secret; the server learns it only from the device's packages.
func Cast(chance float64, r Random) Role {
	const sides = 1 << 30
	if pick(r, sides) < int(chance*sides) {
		return Test
	}
	return Train
}

// Record is one device's features and label.
type Record struct {
	Vector Vector
	Label  int8 // -1 or +1
}

// Limits are a device's conditions for taking part in a model.
type Limits struct {
	Bins      int     // at most
	Hashes    int     // at most
	MaxWeight float64 // at most
	Radius    float64 // at most: weights within a ball can switch only few people off
	Cohort    int     // at least
	Models    int     // at most at a time; checked by the caller, which knows the other models
	// Paper has the device take part in jobs of mode paper too. In those only MaxWeight
	// bounds the weights, no witness countersigns them or states who takes part, and the
	// gateway may issue the tokens itself.
	Paper bool
}

// DefaultLimits returns limits for records of tens to hundreds of features. Unless there
// are many more features, a bin of 2^16 belongs to a single feature.
func DefaultLimits() Limits {
	return Limits{Bins: 1 << 16, Hashes: 1, MaxWeight: 1e3, Radius: 100, Cohort: 100, Models: 4}
}

// OrDefaults returns the limits with zeros replaced by those of [DefaultLimits].
func (l Limits) OrDefaults() Limits {
	d := DefaultLimits()
	return Limits{
		Bins: cmp.Or(l.Bins, d.Bins), Hashes: cmp.Or(l.Hashes, d.Hashes), MaxWeight: cmp.Or(l.MaxWeight, d.MaxWeight),
		Radius: cmp.Or(l.Radius, d.Radius), Cohort: cmp.Or(l.Cohort, d.Cohort), Models: cmp.Or(l.Models, d.Models), Paper: l.Paper,
	}
}

// unit returns the noun for the model's bins or columns.
func (s Spec) unit() string {
	if s.Columns {
		return "columns"
	}
	return "bins"
}

// Check refuses a model that exceeds the limits.
func (l Limits) Check(p Params) error {
	s := p.spec
	switch {
	case s.Bins > l.Bins:
		return fmt.Errorf("secvm: model %s has %d %[3]s, and this device takes part in at most %[4]d: more %[3]s can single out people", s.Name, s.Bins, s.unit(), l.Bins)
	case s.Hashes > l.Hashes:
		return fmt.Errorf("secvm: model %s has %d hashes, and this device takes part in at most %d: bins can be intersected", s.Name, s.Hashes, l.Hashes)
	case s.MaxWeight > l.MaxWeight:
		return fmt.Errorf("secvm: model %s allows weights of %g, and this device at most %g: large ones switch chosen people on and off", s.Name, s.MaxWeight, l.MaxWeight)
	case s.Radius == 0 && !l.Paper:
		return fmt.Errorf("secvm: model %s bounds the norm of its weights by no ball (mode paper); this device takes part in hardened jobs only", s.Name)
	case s.Radius > l.Radius:
		return fmt.Errorf("secvm: model %s allows weights of norm %g, and this device at most %g: large ones switch chosen people on and off", s.Name, s.Radius, l.Radius)
	case s.Cohort < l.Cohort:
		return fmt.Errorf("secvm: model %s takes a step with %d participants, and this device demands %d", s.Name, s.Cohort, l.Cohort)
	}
	return nil
}

// Device computes the packages of one record for one model.
type Device struct {
	params Params
	record Record
	role   Role
}

// NewDevice checks a record. A record of more than [Params.Room] units is an error: see
// [Vector.Sample].
func NewDevice(p Params, r Record, role Role) (*Device, error) {
	if r.Label != 1 && r.Label != -1 {
		return nil, fmt.Errorf("secvm: label %d; use -1 or 1", r.Label)
	}
	for i, e := range r.Vector {
		if e.Bin < 0 || e.Bin >= p.spec.Bins || e.Count < 1 || (i > 0 && e.Bin <= r.Vector[i-1].Bin) {
			return nil, fmt.Errorf("secvm: the record has bin %d with count %d; use bins from 0 to below %d, in rising order, with counts of 1 or more", e.Bin, e.Count, p.spec.Bins)
		}
	}
	if n := r.Vector.Units(); n > p.Room() {
		return nil, fmt.Errorf("secvm: the record has %d units, and %d packages have room for %d; sample the record once", n, p.spec.Packages, p.Room())
	}
	return &Device{p, r, role}, nil
}

// Answer returns the device's packages of one window: those of [Device.AnswerAsPublished],
// filled up with cover packages to a constant number, in random order.
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
// strictly inside the margin or on the wrong side sends its record, including the bias;
// other training devices send only that they take part. A testing device sends its guess.
// The weights must be those published for the iteration. An observer that counts a device's
// packages learns its side of the margin.
func (d *Device) AnswerAsPublished(iteration uint32, weights Weights) ([]Package, error) {
	if len(weights.w) != d.params.Features() {
		return nil, fmt.Errorf("secvm: the weights have %d features, the device's model %d", len(weights.w), d.params.Features())
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

// Predict returns the label of a score: 0 is +1, as in the published client.
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

// subgradient returns y x, unit by unit: eq. 8 of the paper.
func (d *Device) subgradient() []Package {
	list := []Package{{Kind: Training, Index: uint32(d.params.spec.Bins), Value: d.record.Label}}
	for _, e := range d.record.Vector {
		for range e.Count {
			list = append(list, Package{Kind: Training, Index: uint32(e.Bin), Value: d.record.Label})
		}
	}
	return list
}

// Weights are checked weights. They do not change.
type Weights struct{ w []float64 }

// rounding is the tolerance for weights that were projected onto the ball.
const rounding = 1e-9

// Weights checks w and takes it over. A device answers to checked weights only.
func (p Params) Weights(w []float64) (Weights, error) {
	if len(w) != p.Features() {
		return Weights{}, fmt.Errorf("secvm: %d weights; this model has %d", len(w), p.Features())
	}
	for _, v := range w {
		if math.IsNaN(v) {
			return Weights{}, errors.New("secvm: a weight is not a number")
		}
		if math.Abs(v) > p.spec.MaxWeight {
			return Weights{}, fmt.Errorf("secvm: a weight of %g, where the model promised at most %g", v, p.spec.MaxWeight)
		}
	}
	square := 0.
	for _, v := range w {
		square += v * v
	}
	if norm := math.Sqrt(square); p.spec.Radius > 0 && norm > p.spec.Radius*(1+rounding) {
		return Weights{}, fmt.Errorf("secvm: the weights have norm %g; the model promised a ball of radius %g", norm, p.spec.Radius)
	}
	return Weights{w}, nil
}

// Seeds are a device's secrets for one model. A simulated device and a real one draw the
// same role and the same sample from equal seeds; the labels of their streams are those of
// the simulation.
type Seeds struct{ Role, Own [32]byte }

// Cast draws the device's role.
func (s Seeds) Cast(testers float64) Role { return Cast(testers, prg.New(s.Role, "simulate/role")) }

// Random returns the source of the device's other random numbers. Every call starts the
// same stream again.
func (s Seeds) Random() Random { return prg.New(s.Own, "simulate/device") }

// Kind is the type of a package.
type Kind uint8

// The kinds of the paper's client, and Cover, an empty package that fills up a device's
// number of packages.
const (
	Participation Kind = iota + 1
	Training
	Testing
	Cover
)

// PackageSize is the number of bytes of every package.
const PackageSize = 24

// Package is one anonymous message of a device. It has no value that two packages of one
// device share and packages of other devices do not.
type Package struct {
	Tag       uint64 // of the model
	Iteration uint32 // of the weights that it answers
	Kind      Kind
	Index     uint32 // Training: the feature
	Value     int8   // Training: the unit's sign. Participation: the label, or 0. Testing: the true label
	Guess     int8   // Testing: the label that the weights predict
}

// Encode returns the package's bytes. Their number is constant.
func (p Package) Encode() []byte { return p.Append(make([]byte, 0, PackageSize)) }

// Append appends the package's bytes to b.
func (p Package) Append(b []byte) []byte {
	b = binary.LittleEndian.AppendUint64(b, p.Tag)
	b = binary.LittleEndian.AppendUint32(b, p.Iteration)
	b = binary.LittleEndian.AppendUint32(b, p.Index)
	return append(b, byte(p.Kind), byte(p.Value), byte(p.Guess), 0, 0, 0, 0, 0)
}

// DecodePackage reads what Encode writes.
func DecodePackage(b []byte) (Package, error) {
	if len(b) != PackageSize || b[19]|b[20]|b[21]|b[22]|b[23] != 0 {
		return Package{}, fmt.Errorf("secvm: a malformed package; it needs %d bytes, the last of them zero", PackageSize)
	}
	return Package{
		Tag: binary.LittleEndian.Uint64(b), Iteration: binary.LittleEndian.Uint32(b[8:]), Index: binary.LittleEndian.Uint32(b[12:]),
		Kind: Kind(b[16]), Value: int8(b[17]), Guess: int8(b[18]),
	}, nil
}

// Check refuses packages that no device sends. It ignores tag and iteration.
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
		return fmt.Errorf("secvm: no device sends a package of kind %d with index %d, value %d and guess %d", p.Kind, p.Index, p.Value, p.Guess)
	}
	return nil
}

// The paths of requests and the servers that answer them. Everything except packages is
// public and is requested without anonymity.
const (
	ConfigurationPath = "/configuration" // GET of the gateway: the signed configuration
	AnnouncementPath  = "/announcement"  // GET of the relay, which gets it from the gateway: history and weights
	HistoryPath       = "/history"       // POST by the gateway to a witness
	StatementPath     = "/statement"     // GET of a witness: a [Statement]
	PresencePath      = "/presence"      // POST to the relay: a token
	PackagePath       = "/package"       // POST to the gateway, sealed through the relay: a token and a package
	RequestSize       = 512              // bytes of a package's request before it is sealed
)

// Announcement is the gateway's message to all devices before a window opens.
type Announcement struct {
	Chain   Chain
	Weights []byte // as [EncodeWeights] writes them
}

// Encode returns the announcement's bytes.
func (a Announcement) Encode() []byte {
	var w wire.Writer
	w.Bytes32(a.Chain.Encode())
	w.Bytes32(a.Weights)
	return w.Bytes()
}

// AnnouncementLimit bounds an announcement of a model in bytes.
func AnnouncementLimit(p Params) int { return maxChainBytes + 8*p.Features() + 8 }

// DecodeAnnouncement decodes the bytes that Encode returns. It verifies no signature: see
// [Follower].
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

// Spent is a package with its token.
type Spent struct {
	Token []byte
	Package
}

// Encode returns the content of a request.
func (s Spent) Encode() []byte { return s.Append(append([]byte(nil), s.Token...)) }

// ErrTokenless is returned for a package without a token.
var ErrTokenless = errors.New("secvm: the package has no token")

// DecodeSpent decodes a content whose token has the given number of bytes. The token shares
// b.
func DecodeSpent(b []byte, token int) (Spent, error) {
	switch {
	case len(b) == PackageSize:
		return Spent{}, ErrTokenless
	case len(b) != token+PackageSize:
		return Spent{}, fmt.Errorf("secvm: the content has %d bytes; token and package together have %d", len(b), token+PackageSize)
	}
	p, err := DecodePackage(b[token:])
	return Spent{b[:token], p}, err
}
