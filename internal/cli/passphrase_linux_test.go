package cli

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	own "github.com/mercer-fl/mercer/internal/local/all"
	"github.com/mercer-fl/mercer/internal/method/all"
)

// terminalPair returns both ends of a terminal: the operator's, and the program's.
func terminalPair(t *testing.T) (operator, program *os.File) {
	t.Helper()
	operator, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skipf("this machine gives no terminal: %v", err)
	}
	t.Cleanup(func() { _ = operator.Close() })
	fd := int(operator.Fd())
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	program, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = program.Close() })
	return operator, program
}

// asked runs mercer at a terminal at which an operator answers each question, and returns its exit code
// and what the terminal shows.
func asked(t *testing.T, answers []string, args ...string) (code int, shown string) {
	t.Helper()
	operator, program := terminalPair(t)
	ended := make(chan int, 1)
	go func() {
		ended <- Main(all.Reader(), own.Local(), args, program, io.Discard, program, func(string) string { return "" })
		_ = program.Close()
	}()
	var screen bytes.Buffer
	b := make([]byte, 256)
	for {
		n, err := operator.Read(b)
		screen.Write(b[:n])
		if err != nil { // the program has closed its end
			break
		}
		if len(answers) > 0 && strings.HasSuffix(screen.String(), ": ") {
			time.Sleep(50 * time.Millisecond) // the terminal stops its echo after the prompt
			if _, err := operator.WriteString(answers[0] + "\n"); err != nil {
				t.Fatal(err)
			}
			answers = answers[1:]
		}
	}
	return <-ended, screen.String()
}

// At a terminal the operator types the passphrase, which the terminal does not show.
func TestPassphraseAtATerminal(t *testing.T) {
	home := filepath.Join(t.TempDir(), "north")
	var out bytes.Buffer
	if code := Main(all.Reader(), own.Local(), []string{"federation", "init", "--home", home, "--name", "north", "--coordinator", "nats://127.0.0.1:1"}, strings.NewReader(""), &out, &out, func(string) string { return "" }); code != Done {
		t.Fatal(out.String())
	}
	const words = "correct horse battery staple"
	for _, c := range []struct {
		answers []string
		args    []string
		code    int
		want    string
	}{
		{[]string{words, "correct horse battery stable"}, nil, Usage, "the two passphrases differ; nothing was changed"},
		{[]string{words, words}, nil, Done, "New passphrase again: "},
		{[]string{"wrong"}, []string{"--remove"}, Usage, "the passphrase does not open"},
		{[]string{words}, []string{"--remove"}, Done, "Passphrase of " + home + "/identity: "},
	} {
		code, shown := asked(t, c.answers, append([]string{"federation", "passphrase", "--home", home}, c.args...)...)
		if code != c.code || !strings.Contains(shown, c.want) || strings.Contains(shown, "horse") {
			t.Errorf("%v: exit code %d, the terminal shows\n%s", c.args, code, shown)
		}
	}
	if info, err := os.Stat(filepath.Join(home, "identity")); err != nil || info.Size() != 32 {
		t.Errorf("%v, %v", info, err)
	}
}
