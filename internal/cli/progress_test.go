package cli

import (
	"bytes"
	"os"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/mercer-fl/mercer/protocol"
)

func TestBars(t *testing.T) {
	defer goleak.VerifyNone(t)
	var screen bytes.Buffer
	b := newBars(&screen)
	var wg sync.WaitGroup
	for _, party := range []string{"north", "south"} {
		wg.Go(func() {
			for done := range int64(11) {
				b.Step(party, protocol.Progress{Stage: "encode", Done: done, Total: 10})
			}
		})
	}
	b.Step("", protocol.Progress{Stage: "learn", Done: 1, Total: 4})
	b.Step("", protocol.Progress{}) // nothing to report
	wg.Wait()
	b.Close()
	for _, want := range []string{"north encode", "south encode", "learn", "25.00%"} {
		if !strings.Contains(screen.String(), want) {
			t.Errorf("%q is not on the screen:\n%s", want, screen.String())
		}
	}
}

func TestBarsCloseAtOnce(t *testing.T) {
	defer goleak.VerifyNone(t)
	for range 20 {
		newBars(&bytes.Buffer{}).Close()
	}
}

func TestNoBarsOffTheTerminal(t *testing.T) {
	file, err := os.CreateTemp(t.TempDir(), "stderr")
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := file.Close(); err != nil {
			t.Error(err)
		}
	}()
	for name, a := range map[string]*app{
		"file":   testApp(nil, file),
		"buffer": testApp(nil, &bytes.Buffer{}),
		"json":   {json: true, stderr: os.Stderr},
	} {
		p := a.progress()
		if _, quiet := p.(noBars); !quiet {
			t.Errorf("%s: %T", name, p)
		}
		p.Step("north", protocol.Progress{Stage: "encode", Done: 1, Total: 2})
		p.Close()
	}
}
