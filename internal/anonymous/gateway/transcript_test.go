package gateway_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/mercer-fl/mercer/internal/attack/traffic"
	"github.com/mercer-fl/mercer/internal/check/transcript"
	"github.com/mercer-fl/mercer/privacypass"
)

// course is the requests of one window in their order: the step, the server and the first line.
var course = []struct{ step, to, request string }{
	{"tokens", atIssuer, "POST /?iteration=0"},
	{"weights", atRelay, "POST /history"},
	{"weights", atIssuer, "POST /history"},
	{"weights", atGateway, "GET /announcement"},
	{"weights", atRelay, "GET /announcement"},
	{"weights", atRelay, "GET /statement"},
	{"weights", atIssuer, "GET /statement"},
	{"presence", atRelay, "POST /presence"},
	{"packages", atRelay, "POST /"},
	{"packages", atGateway, "POST /"},
}

// overheard holds the first request and the first answer of each kind between every two
// members.
type overheard struct {
	t        *testing.T
	messages map[int][]transcript.Message // by the place in the course
}

func (o *overheard) add(to string, seen []traffic.Exchange) {
	known := make(map[string]bool)
	for _, e := range seen {
		method, rest, _ := strings.Cut(e.Request.Head, " ")
		path, _, _ := strings.Cut(rest, " ")
		request := strings.Replace(method+" "+path, "iteration=1", "iteration=0", 1)
		if known[e.From+request] || !strings.HasPrefix(e.Answer.Head, "HTTP/1.1 200") {
			continue // of another window, or sent again
		}
		known[e.From+request] = true
		at := slices.IndexFunc(course, func(c struct{ step, to, request string }) bool { return c.to == to && c.request == request })
		if at < 0 {
			o.t.Errorf("%s sends %s %s, which is not in the course of a window", e.From, to, request)
			continue
		}
		m := transcript.Message{Step: course[at].step, From: e.From, To: to, Protocol: to, Kind: request, Bytes: len(e.Request.Body)}
		answer := m
		answer.From, answer.To, answer.Kind, answer.Bytes = m.To, m.From, "answer to "+request, len(e.Answer.Body)
		o.messages[2*at] = append(o.messages[2*at], m)
		o.messages[2*at+1] = append(o.messages[2*at+1], answer)
	}
}

// The transcript of a window shows each request and each answer once.
func TestTranscript(t *testing.T) {
	const devices = 16
	words, err := transcript.ReadWords(filepath.Join("testdata", "transcript.yaml"), nil)
	check(t, err)
	o := &overheard{t: t, messages: make(map[int][]transcript.Message)}
	var packages int
	synctest.Test(t, func(t *testing.T) {
		w := newTestbed(t, privacypass.BlindRSA, devices, nil)
		packages = w.settings().Packages
		taps := map[string]*traffic.Tap{atRelay: w.net.tap(atRelay), atIssuer: w.net.tap(atIssuer), atGateway: w.net.tap(atGateway)}
		w.expect(w.run(nil))
		for name, tap := range taps {
			seen, err := tap.Seen()
			check(t, err)
			o.add(name, seen)
		}
	})
	s := transcript.Session{
		Members: []string{
			fmt.Sprintf("%d devices, each with one labelled record; each sends %d packages in a window", devices, packages),
			"issuer: gives devices their tokens", "relay: passes packages on", "gateway: counts packages and trains",
		},
		Group: transcript.Group{Role: "device"},
	}
	for i := range devices {
		s.Group.Members = append(s.Group.Members, fmt.Sprint("device ", i))
	}
	for i := range 2 * len(course) {
		if step := course[i/2].step; !slices.Contains(s.Steps, step) {
			s.Steps = append(s.Steps, step)
		}
		s.Messages = append(s.Messages, o.messages[i]...)
	}
	page := transcript.NewPage(words)
	page.Add(s)
	page.Compare(t, filepath.Join("..", "..", ".."), "secvm")
}
