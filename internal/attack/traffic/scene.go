package traffic

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/mercer-fl/mercer/ohttp"
	"github.com/mercer-fl/mercer/ohttp/bhttp"
	"github.com/mercer-fl/mercer/privacypass"
	"github.com/mercer-fl/mercer/protocol/secvm"
)

// Scene holds the traffic of many devices as relay and gateway have seen it, and facts that only a
// test knows. The methods of Scene try to link the packages of one device. A method that finds a
// link returns an error which describes it.
//
// Apart from the devices, no party sees more than the relay or the gateway. So an attack that fails
// for both of these fails for every party unless parties collude.
type Scene struct {
	Relay, Gateway []Exchange
	Opens          []time.Time // opening times of the windows
	Window         time.Duration
	Devices        int
	Packages       int // number of packages of each device in each window
	TokenSize      int
	Keys           []*ohttp.Key // the gateway's secret keys, one for each window
	// Device returns the number of the device that sent a package, counted from 0. The arguments
	// are the request as the relay saw it, and its token. The result is -1 if none of the devices
	// sent it.
	Device func(Exchange, *privacypass.Token) int

	found map[string]*content // content of each package; the key is the sealed request that carries it
}

// content holds facts about the package in a sealed request.
type content struct {
	device     int // number of the device, or -1 if none of the devices sent it
	token      *privacypass.Token
	frame      string // opened request with placeholders for the package's content and the token's bytes
	tokenBytes string // nonce and authenticator of the token
}

// Open opens all sealed requests. Call it before the other methods.
func (s *Scene) Open() error {
	s.Relay, s.Gateway = sealedOnes(s.Relay), sealedOnes(s.Gateway)
	s.found = map[string]*content{}
	for _, e := range s.Relay {
		c, err := s.open(e)
		if err != nil {
			return err
		}
		if c != nil {
			s.found[string(e.Request.Body)] = c
		}
	}
	return nil
}

// sealedOnes returns the exchanges whose requests are sealed. The other requests fetch public data
// or report to a witness.
func sealedOnes(all []Exchange) (list []Exchange) {
	for _, e := range all {
		if isSealed(e) {
			list = append(list, e)
		}
	}
	return list
}

func isSealed(e Exchange) bool {
	return strings.Contains(e.Request.Head, "\nContent-Type: "+ohttp.RequestType+"\r\n")
}

// IsPackage reports whether a request contains a package, with or without a token.
func (s *Scene) IsPackage(e Exchange) bool { return s.found[string(e.Request.Body)] != nil }

// Token opens one request and returns the token in it, or nil if there is none.
func (s *Scene) Token(e Exchange) (*privacypass.Token, error) {
	c, err := s.open(e)
	if c == nil {
		return nil, err
	}
	return c.token, err
}

// open opens one request and returns its content, or nil if it contains no package.
func (s *Scene) open(e Exchange) (*content, error) {
	if !isSealed(e) {
		return nil, nil
	}
	b, err := s.unseal(e.Request.Body)
	if err != nil {
		return nil, err
	}
	q, err := bhttp.ParseRequest(b)
	if err != nil || q.Path != secvm.PackagePath {
		return nil, err
	}
	spent, err := secvm.DecodeSpent(q.Content, s.TokenSize)
	if errors.Is(err, secvm.ErrTokenless) {
		return &content{device: -1}, nil
	}
	if err != nil {
		return nil, err
	}
	token, err := privacypass.ParseToken(spent.Token)
	if err != nil {
		return nil, err
	}
	own := string(token.Nonce[:]) + string(token.Authenticator)
	bare := privacypass.Token{Type: token.Type, Challenge: token.Challenge, Key: token.Key, Authenticator: make([]byte, len(token.Authenticator))}
	says := secvm.Spent{Token: bare.Encode(), Package: secvm.Package{Tag: spent.Tag, Iteration: spent.Iteration}}
	return &content{s.Device(e, token), token, strings.Replace(string(b), string(q.Content), string(says.Encode()), 1), own}, nil
}

// unseal tries all keys and opens a request with the one that fits.
func (s *Scene) unseal(sealed []byte) (b []byte, err error) {
	err = errors.New("traffic: the request cannot be opened with the key of any window")
	for _, k := range s.Keys {
		if b, _, err = k.Decapsulate(sealed); err == nil {
			return b, nil
		}
	}
	return nil, err
}

// BySize compares the sizes and the header fields of requests. Only the sealed bytes of requests
// are allowed to differ, and all answers must have equal sizes.
func (s *Scene) BySize() error {
	for name, seen := range map[string][]Exchange{"relay": s.Relay, "gateway": s.Gateway} {
		sizes, first := map[int]int{}, seen[0].Request
		for _, e := range seen {
			if e.Request.Head != first.Head || len(e.Request.Body) != len(first.Body) {
				return fmt.Errorf("%s: a request has %d bytes\n%s\nand another has %d\n%s", name, len(e.Request.Body), e.Request.Head, len(first.Body), first.Head)
			}
			sizes[len(e.Answer.Body)]++
		}
		if delete(sizes, 0); len(sizes) != 1 { // a size of 0 means that the request had no answer
			return fmt.Errorf("%s: answers have several sizes, or there are none (count by size: %v)", name, sizes)
		}
		for _, field := range []string{"Cookie", "User-Agent", "X-Forwarded-For", "Forwarded", "Date", "Via"} {
			if strings.Contains(first.Head, "\n"+field+":") {
				return fmt.Errorf("%s: requests must not have the field %s:\n%s", name, field, first.Head)
			}
		}
	}
	return nil
}

// ohttpHeader is the size of the header with key identifier and algorithms: RFC 9458, section
// 4.3.
const ohttpHeader = 7

// ByBytes looks for equal bytes in different messages. Two requests must not share eight
// consecutive bytes after the common header. Two answers must not share eight consecutive bytes
// anywhere.
func (s *Scene) ByBytes() error {
	var requests, answers [][]byte
	for _, e := range s.Relay {
		requests, answers = append(requests, e.Request.Body), append(answers, e.Answer.Body)
	}
	if n := Prefix(requests); n != ohttpHeader {
		return fmt.Errorf("all requests begin with the same %d bytes; exactly the %d bytes of the header must be equal", n, ohttpHeader)
	}
	if b := Repeated(requests, ohttpHeader); b != nil {
		return fmt.Errorf("two requests share the bytes %x", b)
	}
	if b := Repeated(answers, 0); b != nil {
		return fmt.Errorf("two answers share the bytes %x", b)
	}
	return nil
}

// ByID compares the contents that the gateway sees after it opens requests. All packages of an
// iteration must be equal except for their content and for each token's nonce and authenticator.
// The nonce and the authenticator of one token must not share eight consecutive bytes with those of
// another token.
func (s *Scene) ByID() error {
	frames, tokens := map[string]bool{}, map[string]bool{}
	var list [][]byte
	for _, c := range s.found {
		if c.device < 0 {
			continue
		}
		frames[c.frame] = true
		if !tokens[c.tokenBytes] { // a request that is sent again repeats its token
			tokens[c.tokenBytes] = true
			list = append(list, []byte(c.tokenBytes))
		}
	}
	if want := s.Devices * s.Packages * len(s.Opens); len(list) != want {
		return fmt.Errorf("the requests contain %d different tokens; the devices must send %d packages, each with its own token", len(list), want)
	}
	if len(frames) != len(s.Opens) {
		return fmt.Errorf("apart from their encrypted content, packages have %d different forms; they must have one form for each of %d iterations", len(frames), len(s.Opens))
	}
	if b := Repeated(list, 0); b != nil {
		return fmt.Errorf("two tokens share the bytes %x", b)
	}
	return nil
}

// arrivals returns the first arrival of each package, in order of time, and the number of each
// package's device.
func (s *Scene) arrivals(seen []Exchange) (list []Exchange, devices []int) {
	known := map[string]bool{}
	for _, e := range seen {
		if c := s.found[string(e.Request.Body)]; c != nil && c.device >= 0 && !known[c.tokenBytes] {
			known[c.tokenBytes] = true
			list, devices = append(list, e), append(devices, c.device)
		}
	}
	return list, devices
}

// ByTime tests whether packages arrive at the relay uniformly over each window. It also tests
// whether all devices have the same distribution, by a table of devices and parts of the window.
func (s *Scene) ByTime() (statistics []Statistic, err error) {
	list, devices := s.arrivals(s.Relay)
	parts := min(10, s.Packages*len(s.Opens)/5)
	table := make([][]int, s.Devices)
	for i := range table {
		table[i] = make([]int, parts)
	}
	var errs error
	for w, opens := range s.Opens {
		var times []float64
		for i, e := range list {
			if at := e.At.Sub(opens).Seconds() / s.Window.Seconds(); at >= 0 && at < 1 {
				times = append(times, at)
				table[devices[i]][int(at*float64(parts))]++
			}
		}
		if most := s.Devices * s.Packages; len(times) < most*95/100 { // on a busy machine the last packages arrive after the window
			errs = errors.Join(errs, fmt.Errorf("window %d: only %d of %d packages arrived in the window", w, len(times), most))
			continue
		}
		d := Uniform(times)
		statistics = append(statistics, d)
		if d.Suspicious() {
			errs = errors.Join(errs, fmt.Errorf("window %d: the times of arrival are not uniform over the window: %v", w, d))
		}
	}
	z := Independent(table)
	if z.Suspicious() {
		errs = errors.Join(errs, fmt.Errorf("devices prefer different parts of the window; chi-square as a normal deviate: %v", z))
	}
	return append(statistics, z), errs
}

// ByOrder tests the order of arrivals at the gateway. Neighbours must not come from one device more
// often than in random order.
func (s *Scene) ByOrder() (Statistic, error) {
	_, devices := s.arrivals(s.Gateway)
	z := Runs(devices)
	if z.Suspicious() {
		return z, fmt.Errorf("packages of one device follow each other too often; ratio to the frequency in random order: %v", z)
	}
	return z, nil
}

// ByOwnConnection tests that each connection to the relay carries only one request.
func (s *Scene) ByOwnConnection() error {
	known := map[int]bool{}
	for _, e := range s.Relay {
		if known[e.Connection] {
			return fmt.Errorf("a connection of %s was used twice", e.From)
		}
		known[e.Connection] = true
	}
	return nil
}

// ByConnection tests the relay's connections to the gateway. A table of devices and connections,
// merged until each cell expects five packages, must show no association. ByConnection returns an
// error if there are too few packages for such a table.
func (s *Scene) ByConnection() (Statistic, error) {
	list, devices := s.arrivals(s.Gateway)
	lanes := min(8, len(list)/(5*s.Devices))
	if lanes < 2 {
		return Statistic{}, errors.New("there are too few packages to compare the connections to the gateway")
	}
	table := make([][]int, s.Devices)
	for i := range table {
		table[i] = make([]int, lanes)
	}
	for i, e := range list {
		table[devices[i]][e.Connection%lanes]++
	}
	z := Independent(table)
	if z.Suspicious() {
		return z, fmt.Errorf("devices prefer different connections to the gateway; chi-square as a normal deviate: %v", z)
	}
	return z, nil
}
