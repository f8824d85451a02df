package demo_test

import (
	"crypto/x509"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/mercer-fl/mercer/internal/demo"
	"github.com/mercer-fl/mercer/ohttp"
	"github.com/mercer-fl/mercer/ohttp/bhttp"
	"github.com/mercer-fl/mercer/protocol/secvm"
)

// onlooker is a test among the processes of a crowd: it asks the gateway through
// the relay, as devices do, and knows what is in everybody's home.
type onlooker struct {
	t             *testing.T
	crowd         *demo.Crowd
	configuration *secvm.Configuration
	client        *ohttp.Client
	http          *http.Client
}

// onlook joins a crowd that has its configuration.
func onlook(t *testing.T, f *demo.Crowd) *onlooker {
	t.Helper()
	signed, err := os.ReadFile(filepath.Join(f.Dir, demo.Gateway, "configuration"))
	check(t, err)
	c, err := secvm.DecodeConfiguration(signed)
	check(t, err)
	keys, err := ohttp.ParseKeys(c.Keys)
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
	return &onlooker{t, f, c, &ohttp.Client{Relay: f.URL(demo.Relay), Config: keys[0], Size: secvm.RequestSize, HTTP: h}, h}
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// opens returns when windows open, as far as that has been announced; none while
// nobody answers.
func (o *onlooker) opens() []time.Time {
	o.t.Helper()
	r, err := o.client.Do(o.t.Context(), &bhttp.Request{Method: http.MethodGet, Scheme: "https", Authority: "gateway", Path: secvm.AnnouncementPath})
	if err != nil || r.Status != http.StatusOK {
		return nil
	}
	a, err := secvm.DecodeAnnouncement(o.configuration.Params, r.Content)
	check(o.t, err)
	var list []time.Time
	for _, l := range a.Chain {
		list = append(list, time.UnixMilli(l.Opens))
	}
	return list
}

// metric reads a counter of issuer, relay or gateway, by its name and labels; 0 if
// it does not count yet.
func (o *onlooker) metric(process, name string) int {
	o.t.Helper()
	r, err := http.Get(o.crowd.MetricsURL(process))
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

// outcome reads how many requests issuer or gateway have answered in one way.
func (o *onlooker) outcome(process, outcome string) int {
	o.t.Helper()
	return o.metric(process, fmt.Sprintf("mercer_%s_requests_total{outcome=%q}", process, outcome))
}
