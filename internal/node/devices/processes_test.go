package devices_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/base/disk/disktest"
	"github.com/mercer-fl/mercer/internal/base/endpoint"
	"github.com/mercer-fl/mercer/internal/cli"
	"github.com/mercer-fl/mercer/internal/job"
	locals "github.com/mercer-fl/mercer/internal/local/all"
	"github.com/mercer-fl/mercer/internal/method/all"
)

// beMercer makes the test binary stand in for mercer, so that processes are of the code
// under test.
const beMercer = "MERCER_TEST_IS_MERCER"

func TestMain(m *testing.M) {
	if os.Getenv(beMercer) != "" {
		os.Exit(cli.Main(all.Reader(), locals.Local(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr, os.Getenv))
	}
	disktest.InMemory()
	flag.Parse()
	if err := flag.Set("test.parallel", "4"); err != nil { // most of their time they wait
		panic(err)
	}
	os.Exit(m.Run())
}

// town is a federation of devices in processes: one server, and some that play devices.
type town struct {
	t          *testing.T
	dir        string
	processes  int // of devices
	people     int
	data       []string // the flags by which devices get their people's data
	address    string
	authority  string
	lives      []*exec.Cmd // of the server
	households map[int]*exec.Cmd
}

func (w *town) path(name string) string { return filepath.Join(w.dir, name) }

// command is a process of the program, whose output goes to files of its name.
func (w *town) command(name string, arguments ...string) *exec.Cmd {
	w.t.Helper()
	c := exec.CommandContext(w.t.Context(), os.Args[0], arguments...)
	c.Env = append(os.Environ(), beMercer+"=yes")
	for to, suffix := range map[**os.File]string{new(*os.File): ".out", new(*os.File): ".log"} {
		f, err := os.OpenFile(w.path(name+suffix), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
		if err != nil {
			w.t.Fatal(err)
		}
		*to = f
		w.t.Cleanup(func() { _ = f.Close() })
		if suffix == ".out" {
			c.Stdout = f
		} else {
			c.Stderr = f
		}
	}
	return c
}

func (w *town) write(name, text string) {
	w.t.Helper()
	if err := os.WriteFile(w.path(name), []byte(text), 0o600); err != nil {
		w.t.Fatal(err)
	}
}

// said returns the last document that a process has printed. A process that is killed after its
// document and before its end prints another one when it runs again.
func (w *town) said(name string, result any) {
	w.t.Helper()
	b, err := os.ReadFile(w.path(name + ".out"))
	for documents := json.NewDecoder(bytes.NewReader(b)); err == nil && (documents.More() || documents.InputOffset() == 0); {
		err = documents.Decode(&struct{ Result any }{result})
	}
	if err != nil {
		log, _ := os.ReadFile(w.path(name + ".log"))
		w.t.Fatalf("%s said %q: %v\n%s", name, b, err, log[max(0, len(log)-2000):])
	}
}

func household(i int) string { return fmt.Sprintf("household%d", i) }

// foundTown is a town of people who have lists of ratings.
func foundTown(t *testing.T, j *job.Job, r *dataset.Ratings, processes int, going map[string]map[string]string) *town {
	t.Helper()
	var text strings.Builder
	for _, v := range r.List {
		fmt.Fprintf(&text, "%s,%s,%g,%d\n", r.Users[v.User], r.Items[v.Item], v.Value, v.Time)
	}
	w := newTown(t, processes, len(r.Users))
	w.write("ratings.csv", text.String())
	w.data = []string{"--ratings", w.path("ratings.csv")}
	w.enrol(j, going)
	return w
}

// newTown finds an address for the server.
func newTown(t *testing.T, processes, people int) *town {
	t.Helper()
	w := &town{t: t, dir: t.TempDir(), processes: processes, people: people, households: make(map[int]*exec.Cmd)}
	var err error
	if w.address, err = endpoint.Unused(); err != nil {
		t.Fatal(err)
	}
	return w
}

// enrol gives every device its key, and has an authority enrol them.
func (w *town) enrol(j *job.Job, going map[string]map[string]string) {
	t := w.t
	t.Helper()
	var vanish strings.Builder
	for step, list := range going {
		for name, kind := range list {
			fmt.Fprintf(&vanish, "%s %s %s\n", name, step, kind)
		}
	}
	w.write("vanish", vanish.String())
	w.write("job.yaml", string(j.Encode()))
	var roster []byte
	for i := range w.processes {
		first, count := w.share(i)
		name := "credentials" + strconv.Itoa(i)
		c := w.command(name, "device", "credentials", "--home", w.path(household(i)), "--first", strconv.Itoa(first), "--count", strconv.Itoa(count))
		if err := c.Run(); err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(w.path(name + ".out"))
		if err != nil {
			t.Fatal(err)
		}
		roster = append(roster, b...)
	}
	w.write("roster", string(roster))
	c := w.command("enrol", "issuer", "enrol", "--home", w.path("authority"), "--job", w.path("job.yaml"), "--roster", w.path("roster"), "--out", w.path("enrolment"), "--json")
	if err := c.Run(); err != nil {
		t.Fatal(err)
	}
	var enrolled struct{ Authority string }
	w.said("enrol", &enrolled)
	w.authority = enrolled.Authority
}

// share returns the people whose devices a process plays: the first, and their number.
func (w *town) share(process int) (first, count int) {
	first = process * w.people / w.processes
	return first, (process+1)*w.people/w.processes - first
}

// startServer begins another life of the server.
func (w *town) startServer() {
	w.t.Helper()
	c := w.command("server", "gateway", "sums", "--home", w.path("server"), "--enrolment", w.path("enrolment"), "--authority", w.authority, "--listen", w.address, "--json")
	if err := c.Start(); err != nil {
		w.t.Fatal(err)
	}
	w.lives = append(w.lives, c)
}

func (w *town) startHousehold(i int) {
	w.t.Helper()
	first, count := w.share(i)
	c := w.command(household(i), append([]string{"device", "sums", "--home", w.path(household(i)), "--enrolment", w.path("enrolment"), "--authority", w.authority,
		"--server", "http://" + w.address, "--first", strconv.Itoa(first), "--count", strconv.Itoa(count), "--vanish", w.path("vanish"), "--json"}, w.data...)...)
	if err := c.Start(); err != nil {
		w.t.Fatal(err)
	}
	w.households[i] = c
}

// kill ends a process by SIGKILL.
func (w *town) kill(c *exec.Cmd) {
	w.t.Helper()
	if err := c.Process.Signal(syscall.SIGKILL); err != nil {
		w.t.Fatal(err)
	}
	if err := c.Wait(); err == nil {
		w.t.Error("the process has ended by itself before it was killed")
	}
}

// until waits for a time in the server's life: a number of sums is over, and its journals have
// these bytes.
func (w *town) until(sums int, bytes int64) {
	w.t.Helper()
	for deadline := time.Now().Add(8 * time.Minute); ; time.Sleep(20 * time.Millisecond) {
		log, _ := os.ReadFile(w.path("server.log"))
		if strings.Count(string(log), "a session is over") >= sums && w.journals() >= bytes {
			return
		}
		if time.Now().After(deadline) {
			said, _ := os.ReadFile(w.path("server.out"))
			w.t.Fatalf("the server gets nowhere:\n%s\n%s", said, log)
		}
	}
}

// journals returns the bytes of the server's journals.
func (w *town) journals() int64 { return w.bytes("server/vault") }

// bytes returns the size of the files in a folder.
func (w *town) bytes(folder string) (n int64) {
	_ = filepath.WalkDir(w.path(folder), func(_ string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			if info, err := d.Info(); err == nil {
				n += info.Size()
			}
		}
		return nil
	})
	return n
}

// counted is the outcome of the devices of one process.
type counted struct {
	Devices, Finished, Vanished int
	LeftOut                     int     `json:"left_out"`
	Sessions                    int     `json:"sessions"`
	Sent                        uint64  `json:"sent_bytes"`
	Received                    uint64  `json:"received_bytes"`
	CPU                         float64 `json:"cpu_s"`
}

// end waits for all processes, and returns the outcome of all devices.
func (w *town) end() (all counted) {
	w.t.Helper()
	if err := w.lives[len(w.lives)-1].Wait(); err != nil {
		log, _ := os.ReadFile(w.path("server.log"))
		said, _ := os.ReadFile(w.path("server.out"))
		w.t.Fatalf("the server: %v\n%s\n%s", err, said, log[max(0, len(log)-2000):])
	}
	for i, c := range w.households {
		if err := c.Wait(); err != nil {
			log, _ := os.ReadFile(w.path(household(i) + ".log"))
			w.t.Fatalf("%s: %v\n%s", household(i), err, log[max(0, len(log)-2000):])
		}
		var one counted
		w.said(household(i), &one)
		all.Devices, all.Finished, all.Vanished, all.LeftOut = all.Devices+one.Devices, all.Finished+one.Finished, all.Vanished+one.Vanished, all.LeftOut+one.LeftOut
		all.Sessions += one.Sessions
		all.Sent, all.Received, all.CPU = all.Sent+one.Sent, all.Received+one.Received, all.CPU+one.CPU
	}
	return all
}

func (w *town) sameKernel(kernel []byte) { w.same("server/items.kernel", kernel) }

// same compares a file with what a simulation leaves.
func (w *town) same(path string, want []byte) {
	w.t.Helper()
	if got, err := os.ReadFile(w.path(path)); err != nil || !bytes.Equal(got, want) {
		w.t.Errorf("%s: %d bytes, simulated %d bytes, not the same; error %v", path, len(got), len(want), err)
	}
}

// A server that is killed in both sums, and a process of devices that is killed in the first,
// leave the kernel of a simulation of the same devices that vanish, byte for byte.
func TestKilledProcessesGoOn(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	t.Parallel()
	r := ratings()
	played := filmsJob(t, r, ", dropout: 0.085", "3s")
	_, kernel := simulated(t, played, r)
	going := schedule(played, people)
	w := foundTown(t, filmsJob(t, r, "", "3s"), r, 2, going)
	w.startServer()
	w.startHousehold(0)
	w.startHousehold(1)
	for sums := range 2 {
		w.until(sums, 6<<10)
		w.kill(w.lives[sums])
		w.startServer()
		if sums == 0 {
			w.kill(w.households[1])
			w.startHousehold(1)
		}
	}
	all := w.end()
	w.sameKernel(kernel)
	vanish := 0
	for _, list := range going {
		vanish += len(list)
	}
	if all.Devices != people || all.Vanished != vanish || all.Finished != people-vanish {
		t.Errorf("%+v, of whom %d vanish", all, vanish)
	}
}
