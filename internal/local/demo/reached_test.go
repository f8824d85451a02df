package demo_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/internal/base/endpoint"
	"github.com/mercer-fl/mercer/internal/base/proxytest"
	"github.com/mercer-fl/mercer/internal/local/demo"
	"github.com/mercer-fl/mercer/internal/node/roster"
)

// A job of hospitals that reach the coordinator by WebSocket through an HTTP proxy with a login ends in
// the same model as by TCP. Only the proxy knows the coordinator's name, and no log has the password.
func TestWebSocketThroughAProxyGivesTheSameModel(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes")
	}
	direct := found(t, 7)
	secureLine(t, direct)
	want := finish(t, direct, undisturbed).ModelHash

	f := found(t, 7)
	secureLine(t, f)
	web, err := endpoint.Unused()
	check(t, err)
	const coordinator = "coordinator.example:443"
	proxy := &proxytest.Proxy{Login: "hospital:passw0rd", Names: map[string]string{coordinator: web}}
	check(t, proxy.Start("127.0.0.1:0"))
	t.Cleanup(func() { check(t, proxy.Close()) })
	configure(t, f, demo.Coordinator, "", "listen_wss: "+web+"\n")
	for _, name := range f.Names()[1:] {
		configure(t, f, name, "coordinator: wss://coordinator.example/demo", "proxy: http://hospital:passw0rd@"+proxy.Addr()+"\n")
	}
	if got := finish(t, f, undisturbed).ModelHash; got != want {
		t.Errorf("model %s, by TCP %s\n%s", got, want, f.Logs())
	}
	if seen := strings.Join(proxy.Seen(), " "); strings.Count(seen, coordinator) < len(f.Shares) {
		t.Errorf("the proxy connected with %q only", seen)
	}
	if logs := fmt.Sprint(f.Logs()); strings.Contains(logs, "passw0rd") || !strings.Contains(logs, "proxy="+proxy.Addr()) {
		t.Errorf("the logs: %s", logs)
	}
}

// secureLine gives the coordinator a TLS key, which all members approve.
func secureLine(t *testing.T, f *demo.Federation) {
	t.Helper()
	_, err := f.Home(demo.Coordinator).AddTLSKey()
	check(t, err)
	members := &roster.Roster{Federation: "demo"}
	for _, name := range f.Names() {
		m, err := roster.LoadMember(f.Home(name).MemberPath())
		check(t, err)
		members.Members = append(members.Members, m)
	}
	for _, name := range f.Names() {
		check(t, f.Home(name).Join(f.Reader, members))
	}
}

// configure replaces the line about the coordinator in a home's configuration, unless line is "", and
// adds further lines.
func configure(t *testing.T, f *demo.Federation, name, line, further string) {
	t.Helper()
	path := f.Home(name).ConfigPath()
	b, err := os.ReadFile(path)
	check(t, err)
	var text strings.Builder
	for one := range strings.Lines(string(b)) {
		if line != "" && strings.HasPrefix(one, "coordinator:") {
			one = line + "\n"
		}
		text.WriteString(one)
	}
	check(t, os.WriteFile(path, []byte(text.String()+further), 0o600))
}
