package devices

import (
	"crypto/ed25519"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"

	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
)

// Server is the name of the server among the members of every job of devices.
const Server = "server"

// These constants bound the parts of an enrolment.
const (
	// MaxDevices is the largest number of devices in a session.
	MaxDevices  = 1<<16 - 1
	maxJobBytes = 1 << 20
	maxName     = 64
)

const magic = "mercer/v1/enrolment"

// Enrolment is an authority's signed list of the devices in a job. For the same job file and the
// same devices in the same order there is only one enrolment, and so only one job.
type Enrolment struct {
	Job  *job.Job
	Keys []ed25519.PublicKey // the devices' public keys, in the devices' order

	body []byte
	sum  [sha256.Size]byte
	at   map[string]int // maps a device's name to its index in Keys
}

// Name returns the name of the device with this index in the enrolment.
func Name(place int) string { return fmt.Sprintf("device-%d", place+1) }

// Enrol returns an enrolment of the devices with these keys, signed by the authority. It refuses a
// job that no devices can run.
func Enrol(j *job.Job, keys []ed25519.PublicKey, authority ed25519.PrivateKey) ([]byte, error) {
	var w wire.Writer
	w.String(magic)
	w.Bytes32(j.Encode())
	w.Uint32(uint32(len(keys)))
	for _, k := range keys {
		w.Fixed(k)
	}
	body := slices.Clone(w.Bytes())
	e := &Enrolment{Job: j, Keys: keys, body: body}
	if err := e.check(); err != nil {
		return nil, err
	}
	return append(body, ed25519.Sign(authority, body)...), nil
}

// Open verifies and decodes an enrolment that the authority has signed.
func Open(signed []byte, authority ed25519.PublicKey, jobs *job.Reader) (*Enrolment, error) {
	cut := len(signed) - ed25519.SignatureSize
	if cut < 0 || len(authority) != ed25519.PublicKeySize || !ed25519.Verify(authority, signed[:cut], signed[cut:]) {
		return nil, fault.BadInputf("devices: the enrolment is not signed by the authority whose key was given")
	}
	r := wire.NewReader(signed[:cut])
	r.Magic(32, magic, "the format %q is unknown")
	text := r.Bytes32(maxJobBytes)
	e := &Enrolment{body: signed[:cut], Keys: make([]ed25519.PublicKey, r.Count(MaxDevices, ed25519.PublicKeySize))}
	for i := range e.Keys {
		e.Keys[i] = make([]byte, ed25519.PublicKeySize)
		r.Fixed(e.Keys[i])
	}
	if err := r.Close("devices: enrolment"); err != nil {
		return nil, fault.BadInput(err)
	}
	var err error
	if e.Job, err = jobs.Parse("enrolment", text); err != nil {
		return nil, err
	}
	return e, e.check()
}

// check rejects an enrolment that no devices can run. It also sets the derived fields.
func (e *Enrolment) check() error {
	e.sum = sha256.Sum256(e.body)
	e.at = make(map[string]int, len(e.Keys))
	seen := make(map[string]bool, len(e.Keys))
	for i, k := range e.Keys {
		if len(k) != ed25519.PublicKeySize {
			return fault.BadInputf("devices: the key of device %d has %d bytes; it must have %d", i+1, len(k), ed25519.PublicKeySize)
		}
		if seen[string(k)] {
			return fault.BadInputf("devices: device %d has the same key as another device; give each device a key of its own", i+1)
		}
		seen[string(k)] = true
		e.at[Name(i)] = i
	}
	if e.Job.Data.Partition.By != job.Devices {
		return fault.BadInputf("devices: the job's protocol %s cannot run on devices; use protocol fedcfk, or protocol secvm with the setting \"aggregation: secagg\"", e.Job.Protocol.Name())
	}
	if len(e.Job.Parties()) > 0 {
		return fault.BadInputf("devices: the job names its parties, but the enrolment names the devices; remove \"parties\" from \"partition\"")
	}
	if e.Job.Timeout.Job > 0 {
		return fault.BadInputf("devices: the server of devices gives its job no deadline; remove \"job\" from \"timeout\"")
	}
	_, _, _, err := e.plan()
	return err
}

// plan returns the job's protocol, its steps, and whether the job goes on with a device that has missed
// a session (see [method.OfDevices]).
func (e *Enrolment) plan() (m *method.Protocol, steps []method.Step, passes bool, err error) {
	if m, passes, err = method.OfDevices(e.Job); err == nil {
		steps, err = m.Plan(e.instance())
	}
	if err != nil {
		return nil, nil, false, fault.BadInput(err)
	}
	return m, steps, passes, nil
}

// instance returns the job with its members.
func (e *Enrolment) instance() method.Instance {
	names := make([]string, len(e.Keys))
	for i := range names {
		names[i] = Name(i)
	}
	return method.Instance{Job: e.Job, ID: e.ID(), Coordinator: Server, Parties: names}
}

// ID returns the job's id, which is the first 16 bytes of the enrolment's hash.
func (e *Enrolment) ID() job.ID { return job.ID(e.sum[:16]) }

// Key returns the public key of a device, or nil if the name is not enrolled.
func (e *Enrolment) Key(name string) ed25519.PublicKey {
	if i, known := e.at[name]; known {
		return e.Keys[i]
	}
	return nil
}

// Place returns the index of the device with this public key.
func (e *Enrolment) Place(key ed25519.PublicKey) (int, error) {
	for i, k := range e.Keys {
		if k.Equal(key) {
			return i, nil
		}
	}
	return 0, fault.BadInputf("devices: the authority has not enrolled this device; give it the key that mercer device credentials prints")
}

// errMoved reports a request for a session or a job that has ended.
var errMoved = errors.New("devices: the session or the job has ended")
