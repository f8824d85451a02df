package daemon

import (
	"cmp"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mercer-fl/mercer/internal/base/endpoint"
	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/base/regular"
	"github.com/mercer-fl/mercer/internal/node/access"
	"github.com/mercer-fl/mercer/internal/node/page"
)

// Page is the setting "page": the address at which a daemon serves its web page, and the people who are allowed to open
// it. The zero value is no page.
type Page struct {
	// Listen is the address at which the daemon listens, host:port. Without OIDC it must be on loopback.
	Listen string `yaml:"listen"`
	// URL is the address under which browsers reach the page, https://host or https://host:port.
	URL string `yaml:"url,omitempty"`
	// Certificate and Key are files in PEM. They can be left out if Listen is on loopback: then a proxy on this
	// machine speaks TLS with browsers.
	Certificate string `yaml:"certificate,omitempty"`
	Key         string `yaml:"key,omitempty"`
	// OIDC is the provider at which people log in. Without it, the command mercer page lets users of this machine
	// in.
	OIDC OIDC `yaml:"oidc,omitempty"`
}

// OIDC holds the settings of a login at an OpenID provider.
type OIDC struct {
	Issuer string `yaml:"issuer"` // URL of the provider
	Client string `yaml:"client"` // name of the page at the provider
	Secret string `yaml:"secret,omitempty"`
	// Authorities is a file in PEM with certificates of authorities. The provider's certificate is accepted from
	// these and from the system's authorities.
	Authorities string   `yaml:"authorities,omitempty"`
	Scopes      []string `yaml:"scopes,omitempty"` // scopes besides openid
	Claim       string   `yaml:"claim,omitempty"`  // claim that lists groups; "groups" by default
	Roles       struct {
		Viewer        []string `yaml:"viewer,omitempty"`
		Submitter     []string `yaml:"submitter,omitempty"`
		Approver      []string `yaml:"approver,omitempty"`
		Administrator []string `yaml:"administrator,omitempty"`
	} `yaml:"roles"`
}

func (o OIDC) given() bool { return !reflect.ValueOf(o).IsZero() }

// groups returns the groups of each role.
func (o OIDC) groups() map[access.Role][]string {
	return map[access.Role][]string{
		access.Viewer: o.Roles.Viewer, access.Submitter: o.Roles.Submitter, access.Approver: o.Roles.Approver, access.Administrator: o.Roles.Administrator,
	}
}

func (s Page) given() bool { return !reflect.ValueOf(s).IsZero() }

// same reports whether two settings are equal.
func (s Page) same(o Page) bool { return reflect.DeepEqual(s, o) }

// check returns an error if the setting is wrong. It reads no file.
func (s Page) check() error {
	if !s.given() {
		return nil
	}
	host, port, err := net.SplitHostPort(s.Listen)
	if n, wrong := strconv.ParseUint(port, 10, 16); err != nil || wrong != nil || n == 0 {
		return fmt.Errorf("the setting \"page\" has \"listen: %s\"; write a port on loopback, such as \"listen: 127.0.0.1:9470\"", s.Listen)
	}
	switch alone := endpoint.Loopback(host); {
	case !s.OIDC.given() && !alone:
		return fmt.Errorf("the setting \"page\" has \"listen: %s\", which other machines can reach; write 127.0.0.1:%s, or add \"url\", \"certificate\", \"key\" and \"oidc\", so that people log in", s.Listen, port)
	case !s.OIDC.given() && s.URL+s.Certificate+s.Key != "":
		return errors.New("the setting \"page\" has \"url\", \"certificate\" or \"key\" without \"oidc\"; add \"oidc\", or remove them")
	case !s.OIDC.given():
		return nil
	case (s.Certificate == "") != (s.Key == "") || s.Certificate == "" && !alone:
		return errors.New("the setting \"page\" lacks \"certificate\" or \"key\"; write the paths of two files in PEM")
	}
	if at, err := url.Parse(s.URL); err != nil || at.Scheme != "https" || at.Host == "" || strings.TrimSuffix(s.URL, "/") != "https://"+at.Host {
		return fmt.Errorf("the setting \"page\" has \"url: %s\"; write the address that people open, such as \"url: https://mercer.hospital.example\"", s.URL)
	}
	return s.OIDC.check()
}

func (o OIDC) check() error {
	at, err := url.Parse(o.Issuer)
	if err != nil || at.Host == "" || at.Scheme != "https" && !(at.Scheme == "http" && endpoint.Loopback(at.Hostname())) {
		return fmt.Errorf("the setting \"oidc\" has \"issuer: %s\"; write the provider's URL, which begins with https://", o.Issuer)
	}
	if o.Client == "" {
		return errors.New("the setting \"oidc\" has no \"client\"; write the name that the provider gives this page")
	}
	for _, groups := range o.groups() {
		if slices.Contains(groups, "") {
			return errors.New("the setting \"oidc\" has an empty name of a group in \"roles\"; write a name, or remove the entry")
		}
	}
	if len(slices.Concat(o.Roles.Viewer, o.Roles.Submitter, o.Roles.Approver, o.Roles.Administrator)) == 0 {
		return errors.New("the setting \"oidc\" gives nobody a role; add \"roles: {viewer: [GROUP], approver: [GROUP]}\"")
	}
	return nil
}

// maxSecret bounds the bytes of a file with the secret of a client.
const maxSecret = 4 << 10

// providerTime is the time within which the provider must answer a request.
const providerTime = 10 * time.Second

// site returns the address under which browsers reach the page, and the login there. of is the daemon.
func (h Home) site(s Page, of access.Person) (page.Site, error) {
	if !s.OIDC.given() {
		return page.Loopback, nil
	}
	host := strings.TrimSuffix(strings.TrimPrefix(s.URL, "https://"), "/")
	secret, err := h.clientSecret(s.OIDC.Secret)
	if err != nil {
		return page.Site{}, err
	}
	pool, err := endpoint.Authorities(h.file(s.OIDC.Authorities))
	if err != nil {
		return page.Site{}, err
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.TLSClientConfig = &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: pool}
	return page.Site{Host: host, Login: &page.Login{
		Issuer: s.OIDC.Issuer, Client: s.OIDC.Client, Secret: secret,
		Scopes: s.OIDC.Scopes, Claim: cmp.Or(s.OIDC.Claim, "groups"), Roles: s.OIDC.groups(), Daemon: of,
		HTTP: &http.Client{Timeout: providerTime, Transport: transport},
	}}, nil
}

// clientSecret reads the file with the secret of a client. It returns an error if other users can read the file. If
// file is "", the client has no secret.
func (h Home) clientSecret(file string) (string, error) {
	if file == "" {
		return "", nil
	}
	path := h.file(file)
	if err := private(path, "the secret of oidc"); err != nil {
		return "", err
	}
	if info, err := os.Stat(path); err == nil && info.Size() > maxSecret {
		return "", fault.BadInputf("%s, the secret of oidc, has more than %d bytes; write the secret alone into the file", path, maxSecret)
	}
	b, err := regular.Read(path)
	if err != nil {
		return "", fault.BadInputf("the secret of oidc cannot be read: %w", err)
	}
	secret := strings.TrimSpace(string(b))
	if secret == "" {
		return "", fault.BadInputf("%s, the secret of oidc, is empty; write the secret into the file, or remove the setting", path)
	}
	return secret, nil
}

// private returns an error if users other than the daemon's can read a file. A missing file is no error: the caller
// sees it when it reads the file.
func private(path, what string) error {
	if info, err := os.Stat(path); err == nil && info.Mode().Perm()&0o077 != 0 {
		return fault.BadInputf("%s, %s, can be read by other users; run chmod 600 %s", path, what, path)
	}
	return nil
}

// secured lets a listener of the page speak TLS.
func (h Home) secured(l net.Listener, s Page) (net.Listener, error) {
	if err := private(h.file(s.Key), "the key of the page"); err != nil {
		return l, err
	}
	return endpoint.Secure(l, h.file(s.Certificate), h.file(s.Key))
}

// file returns the path of a file that a setting names, relative to the home. "" is no file.
func (h Home) file(name string) string {
	if name == "" || filepath.IsAbs(name) {
		return name
	}
	return h.path(name)
}
