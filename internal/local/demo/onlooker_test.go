package demo_test

import (
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/mercer-fl/mercer/internal/local/demo"
	"github.com/mercer-fl/mercer/ohttp"
	"github.com/mercer-fl/mercer/protocol/secvm"
)

// onlooker is a test among the processes of a SecVM job: it reaches the gateway through the
// relay, like devices, and knows the content of all homes.
type onlooker struct {
	t             *testing.T
	devices       *demo.Devices
	configuration *secvm.Configuration
	http          *http.Client
	sealing       *ohttp.Client //nolint:unused // of packages; for the slow tests
}

// onlook adds an onlooker to the devices of a configuration.
func onlook(t *testing.T, f *demo.Devices) *onlooker {
	t.Helper()
	signed, err := os.ReadFile(filepath.Join(f.Dir, demo.Gateway, "configuration"))
	check(t, err)
	c, err := secvm.DecodeConfiguration(signed)
	check(t, err)
	var roots *x509.CertPool
	if f.Certificate != "" {
		b, err := os.ReadFile(f.Certificate)
		check(t, err)
		roots = x509.NewCertPool()
		roots.AppendCertsFromPEM(b)
	}
	h, err := ohttp.Dial("", roots, 30*time.Second)
	check(t, err)
	return &onlooker{t: t, devices: f, configuration: c, http: h}
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// opens returns the opening times of the announced windows; none while no server answers.
func (o *onlooker) opens() []time.Time {
	o.t.Helper()
	var list []time.Time
	for _, l := range o.history() {
		list = append(list, time.UnixMilli(l.Opens))
	}
	return list
}

// history returns the gateway's announcements from the relay; nil while no server answers.
func (o *onlooker) history() secvm.Chain {
	o.t.Helper()
	r, err := o.http.Get(o.devices.URL(demo.Relay) + secvm.AnnouncementPath)
	if err != nil {
		return nil
	}
	b, err := io.ReadAll(r.Body)
	if err := errors.Join(err, r.Body.Close()); err != nil || r.StatusCode != http.StatusOK {
		return nil
	}
	a, err := secvm.DecodeAnnouncement(o.configuration.Params, b)
	check(o.t, err)
	return a.Chain
}

// metric reads a counter of issuer, relay or gateway, by its name and labels; 0 if
// it does not count yet.
func (o *onlooker) metric(process, name string) int {
	o.t.Helper()
	r, err := http.Get(o.devices.MetricsURL(process))
	check(o.t, err)
	b, err := io.ReadAll(r.Body)
	check(o.t, err)
	check(o.t, r.Body.Close())
	for line := range strings.Lines(string(b)) {
		if rest, found := strings.CutPrefix(line, name+" "); found {
			v, err := strconv.ParseFloat(strings.TrimSpace(rest), 64)
			check(o.t, err)
			return int(v)
		}
	}
	return 0
}

// outcome returns the number of requests to issuer or gateway with one outcome.
func (o *onlooker) outcome(process, outcome string) int {
	o.t.Helper()
	return o.metric(process, fmt.Sprintf("mercer_%s_requests_total{outcome=%q}", process, outcome))
}
