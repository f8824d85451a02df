//go:build slow

package devices_test

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/method/jobtest"
)

const tweets = `apiVersion: mercer/v1
kind: Job
metadata: {name: tweets}
spec:
  data:
    source: twitter-gender/twitter-gender.train.svm
    label: label
    partition: {by: devices}
    test: {fraction: 0.25}
  protocol: {name: secvm, aggregation: secagg, classes: ["-1", "1"], bins: %d, packages: 64, cohort: 100}
  kernel: {name: linear}
  learner: {name: linear-svm, lambda: 0.01, iterations: %d}
  compare: []
  timeout: {join: 2m, round: 1m}
`

// twitter reads the first records of the stand-in for the paper's data, or skips the test
// unless they must be there.
func twitter(t *testing.T, people int) (text []byte, rows *dataset.Set) {
	t.Helper()
	path := filepath.Join(cmp.Or(os.Getenv("MERCER_DATA"), "../../../../shared/data"), "twitter-gender", "twitter-gender.train.svm")
	file, err := os.ReadFile(path)
	if err != nil {
		if os.Getenv("MERCER_REQUIRE_DATA") == "1" {
			t.Fatal(err)
		}
		t.Skip("the records are not here: set MERCER_DATA to the folder that holds twitter-gender")
	}
	text = bytes.Join(bytes.SplitAfterN(file, []byte("\n"), people+1)[:people], nil)
	if rows, err = dataset.Read("twitter-gender.svm", bytes.NewReader(text), dataset.Options{}); err != nil {
		t.Fatal(err)
	}
	return text, rows
}

// Two hundred people of the stand-in for the paper's data are devices in four processes. The
// model is a simulation's, byte for byte.
func TestDevicesOfTweets(t *testing.T) {
	const people, iterations = 200, 3
	text, rows := twitter(t, people)
	for _, bins := range []int{1 << 10, 1 << 14} {
		j := jobtest.Parse(t, fmt.Sprintf(tweets, bins, iterations))
		_, model := trained(t, j, rows)
		w := newTown(t, 4, people)
		w.write("rows.svm", string(text))
		w.data = []string{"--rows", w.path("rows.svm"), "--label", "label", "--insecure-seed", "1"}
		w.enrol(j, nil)
		began := time.Now()
		w.startServer()
		for i := range w.processes {
			w.startHousehold(i)
		}
		all := w.end()
		cpu, rss := w.serverWork()
		took, sessions := time.Since(began).Seconds(), uint64(people*(iterations+1))
		t.Logf("%d bins: %d devices in %d processes, %d windows: %.0f s, a window %.1f s; a device and window sends %d bytes, receives %d bytes, %.3f s of processor time; the server %.1f s of processor time a window, %d MiB; its vault keeps %d bytes",
			bins, people, w.processes, iterations+1, took, took/(iterations+1), all.Sent/sessions, all.Received/sessions, all.CPU/float64(sessions), cpu.Seconds()/(iterations+1), rss>>20, w.journals())
		w.same("server/model", model)
		if all.Finished != people || all.Sessions != int(sessions) {
			t.Errorf("%+v", all)
		}
	}
}
