package device

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"net/http"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mercer-fl/mercer/ohttp"
	"github.com/mercer-fl/mercer/ohttp/bhttp"
	"github.com/mercer-fl/mercer/protocol/secvm"
)

// inbox is relay and gateway: it opens every request and notes when which kind of package came.
type inbox struct {
	key   *ohttp.Key
	mu    sync.Mutex
	times []time.Time
	kinds []secvm.Kind
}

// RoundTrip implements http.RoundTripper.
func (n *inbox) RoundTrip(q *http.Request) (*http.Response, error) {
	sealed, err := io.ReadAll(q.Body)
	if err != nil {
		return nil, err
	}
	kind, answer, err := n.open(sealed)
	if err != nil {
		return nil, err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.times, n.kinds = append(n.times, time.Now()), append(n.kinds, kind)
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {ohttp.ResponseType}}, Body: io.NopCloser(bytes.NewReader(answer))}, nil
}

// open returns the kind of a package, and the answer that it was counted.
func (n *inbox) open(sealed []byte) (secvm.Kind, []byte, error) {
	b, sealer, err := n.key.Decapsulate(sealed)
	if err != nil {
		return 0, nil, err
	}
	q, err := bhttp.ParseRequest(b)
	if err != nil {
		return 0, nil, err
	}
	spent, err := secvm.DecodeSpent(q.Content, 1)
	if err != nil {
		return 0, nil, err
	}
	response, err := (&bhttp.Response{Status: http.StatusOK}).Encode()
	if err != nil {
		return 0, nil, err
	}
	answer, err := sealer.Seal(response)
	return spent.Kind, answer, err
}

// answerTo sends a device's answer to one window of an hour, with a token of one byte for each package.
func answerTo(t *testing.T, s *server, iteration uint32) *inbox {
	t.Helper()
	n := &inbox{}
	var err error
	if n.key, err = ohttp.NewKey(1, bytes.Repeat([]byte{5}, 32)); err != nil {
		t.Fatal(err)
	}
	d := s.device(t, &memory{})
	d.state.role = secvm.Train
	d.self, err = secvm.NewDevice(s.configuration.Params, secvm.Record{Vector: d.state.vector, Label: 1}, secvm.Train)
	if err != nil {
		t.Fatal(err)
	}
	packages := s.configuration.Params.Spec().Packages
	d.state.tokens[iteration] = slices.Repeat([][]byte{{1}}, packages)
	weights, err := s.configuration.Params.Weights(make([]float64, s.configuration.Params.Features()))
	if err != nil {
		t.Fatal(err)
	}
	answer, tokens, err := d.commit(iteration, weights)
	if err != nil {
		t.Fatal(err)
	}
	link := secvm.Link{Iteration: iteration, Opens: time.Now().UnixMilli()}
	gateway := &ohttp.Client{Relay: "http://relay.test", Config: n.key.Config(), Size: secvm.RequestSize, HTTP: &http.Client{Transport: n}}
	if r := d.sendAll(t.Context(), link, gateway, answer, tokens); r.Acknowledged != packages || len(n.times) != packages {
		t.Fatalf("%+v of %d packages", r, packages)
	}
	return n
}

// resized has the server's job give every device this number of packages in a window of an hour.
func (s *server) resized(t *testing.T, packages int) {
	t.Helper()
	spec := s.configuration.Params.Spec()
	spec.Packages = packages
	p, err := secvm.NewParams(spec)
	if err != nil {
		t.Fatal(err)
	}
	s.configuration.Params, s.configuration.Window = p, uint32(time.Hour.Milliseconds())
	s.configuration.Grace = uint32((10 * time.Minute).Milliseconds()) // in which no package leaves for the first time
	if s.signed, err = s.configuration.Sign(s.sign); err != nil {
		t.Fatal(err)
	}
}

// A device's packages fill the whole window evenly: the largest distance to the even distribution is that
// of chance.
func TestPackagesFillTheWindow(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	const packages = 2000
	s := newServer(t)
	s.resized(t, packages)
	synctest.Test(t, func(t *testing.T) {
		opens := time.Now()
		n := answerTo(t, s, 0)
		most := 0.
		for i, at := range slices.SortedFunc(slices.Values(n.times), time.Time.Compare) {
			share := at.Sub(opens).Hours()
			most = max(most, math.Abs(share-float64(i)/packages), math.Abs(share-float64(i+1)/packages))
		}
		if most > 2.5/math.Sqrt(packages) || most < .3/math.Sqrt(packages) { // by chance once in 50,000
			t.Errorf("the times differ by %.4f of the window from even ones", most)
		}
	})
}

// A device fetches the tokens of the next iteration at any time of a window, so that the issuer cannot
// link the device to packages by time.
func TestNextTokensAreFetchedAtAnyTime(t *testing.T) {
	const windows = 400
	s := newServer(t)
	s.resized(t, 8)
	synctest.Test(t, func(t *testing.T) {
		d := s.device(t, &memory{})
		d.state.tokens[1] = [][]byte{{1}} // so that no issuer is asked
		var times []float64
		for range windows {
			opens := time.Now()
			if err := d.fetchNext(t.Context(), secvm.Link{Opens: opens.UnixMilli()}); err != nil {
				t.Fatal(err)
			}
			times = append(times, time.Since(opens).Hours())
		}
		slices.Sort(times)
		most := 0.
		for i, share := range times {
			most = max(most, math.Abs(share-float64(i)/windows), math.Abs(share-float64(i+1)/windows))
		}
		if most > 2.5/math.Sqrt(windows) {
			t.Errorf("the times differ by %.3f of the window from even ones", most)
		}
	})
}

// The packages that say something are at any place among those that a device sends: neither the first
// nor the last place tells which ones they are.
func TestPackagesLeaveInRandomOrder(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	const windows = 200
	s := newServer(t)
	s.resized(t, 12) // of which 7 say something: participation, bias and five features
	synctest.Test(t, func(t *testing.T) {
		var said [12]int
		for range windows {
			for place, kind := range answerTo(t, s, 0).kinds {
				if kind != secvm.Cover {
					said[place]++
				}
			}
		}
		for place, count := range said {
			if mean := windows * 7. / 12; math.Abs(float64(count)-mean) > 5*math.Sqrt(mean*5/12) {
				t.Errorf("place %d says something %d times of %d, want about %.0f: %v", place, count, windows, mean, said)
			}
		}
	})
}

// Devices draw their own seeds, and from these whether they test: about half of them, as the job says.
func TestDevicesDrawTheirOwnRoles(t *testing.T) {
	const devices = 300
	s, roles, drawn := newServer(t), make(map[secvm.Role]int), make(map[string]bool)
	for range devices {
		d := s.device(t, &memory{})
		roles[d.state.role]++
		drawn[fmt.Sprint(d.state.vector)] = true
	}
	if n := roles[secvm.Test]; n < 105 || n > 195 || roles[secvm.Train] != devices-n {
		t.Errorf("of %d devices %d test, want about half", devices, n)
	}
	if len(drawn) < 2 {
		t.Errorf("all devices have drawn the sample %v", drawn)
	}
}
