package ohttp

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/mercer-fl/mercer/ohttp/bhttp"
)

// Client seals requests and sends them to a gateway through a relay.
type Client struct {
	Relay  string // URL of the relay
	Config KeyConfig
	// Size is the number of bytes to which requests are padded before they are sealed. Larger
	// requests are refused. 0 means no padding.
	Size int
	HTTP *http.Client // client for requests to the relay; nil for a client that follows no redirects
}

// Do sends a request through the relay and returns the gateway's sealed answer, opened. An error
// that wraps a [StatusError] reports an answer that was not sealed: it came from the relay, or from
// a gateway that did not accept the request.
func (c *Client) Do(ctx context.Context, q *bhttp.Request) (*bhttp.Response, error) {
	message, err := c.encode(q)
	if err != nil {
		return nil, err
	}
	sealed, opener, err := c.Config.Encapsulate(message)
	if err != nil {
		return nil, err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.Relay, bytes.NewReader(sealed))
	if err != nil {
		return nil, fmt.Errorf("ohttp: cannot create a request to the relay: %w", err)
	}
	r.Header = http.Header{"Content-Type": {RequestType}, "User-Agent": {""}}
	client := c.HTTP
	if client == nil {
		client = noRedirects(nil, 0)
	}
	answer, err := post(client, r)
	if err != nil {
		return nil, err
	}
	response, err := opener.Open(answer)
	if err != nil {
		return nil, err
	}
	return bhttp.ParseResponse(response)
}

func (c *Client) encode(q *bhttp.Request) ([]byte, error) {
	if c.Size == 0 {
		return q.Encode()
	}
	return q.EncodeTo(c.Size)
}

// Dial returns an HTTP client that follows no redirects. The client uses a new connection for each
// request and resumes no TLS session, because a shared connection or session would link requests.
// It connects through the proxy, for instance through Tor at socks5h://127.0.0.1:9050; "" means no
// proxy. Certificates must be signed by one of roots or, if roots is nil, by one of the system's
// authorities.
func Dial(proxy string, roots *x509.CertPool, timeout time.Duration) (*http.Client, error) {
	t := &http.Transport{
		DisableKeepAlives: true, DisableCompression: true,
		TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS13, RootCAs: roots},
	}
	if proxy != "" {
		u, err := url.Parse(proxy)
		if err != nil || u.Host == "" || (u.Scheme != "socks5" && u.Scheme != "socks5h") {
			return nil, fmt.Errorf("ohttp: the proxy is %q; write socks5h://host:port", proxy)
		}
		t.Proxy = http.ProxyURL(u)
	}
	return noRedirects(t, timeout), nil
}
