package coordinator_test

import (
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/dataset/prepare"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/local/partition"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/jobtest"
)

// schemaJob is a job over hospitals whose tables have gaps, words and names of their own. A
// median, two means and deviations, and the categories of one column are fitted.
const schemaJob = `apiVersion: mercer/v1
kind: Job
metadata: {name: hospitals}
spec:
  data:
    source: people
    label: diagnosis
    partition: {parties: [north, south, east]}
    schema:
      age: {range: [0, 120]}
      creatinine: {range: [1, 3000], missing: median, transform: log}
      smoker: {type: category, categories: agree}
    scale: standard
  protocol: {name: okra}
  kernel: {name: rbf, gamma: 0.5}
  learner: {name: svc, C: 1}
  timeout: {join: 20s, round: 20s}
`

// hospitals reads three of the tables that dataset/prepare compares with scikit-learn. South's
// words differ, and it has a column that it drops.
func hospitals(t testing.TB, j *job.Job) []partition.Share {
	t.Helper()
	smoker := prepare.Theirs{As: "smoker", Values: map[string]string{"never": "nonsmoker", "former": "exsmoker"}} // words that stand nowhere else
	own := map[string]prepare.Mapping{"north": {Columns: map[string]prepare.Theirs{"smoker": smoker}}, "east": {Columns: map[string]prepare.Theirs{"smoker": smoker}}, "south": {CSV: prepare.CSV{Encoding: "windows-1252"}, Drop: []string{"aufnahme"}, Columns: map[string]prepare.Theirs{
		"kunde": {As: "patient"}, "alter": {As: "age"}, "kreatinin (µmol)": {As: "creatinine"}, "raucher": smoker,
		"befund": {As: "diagnosis", Values: map[string]string{"krank": "ill", "gesund": "well"}}}}}
	var shares []partition.Share
	for i, file := range []string{"empty", "latin", "bom"} {
		name := j.Parties()[i]
		b, err := os.ReadFile(filepath.Join("..", "..", "..", "dataset", "prepare", "testdata", file+".csv"))
		if err != nil {
			t.Fatal(err)
		}
		mapping := own[name]
		records, err := dataset.OpenCSV(file, strings.NewReader(string(b)), mapping.Form())
		if err != nil {
			t.Fatal(err)
		}
		set, err := prepare.Read(records, prepare.Table{Name: file, Schema: j.Data.Schema, Mapping: mapping, Label: "diagnosis", ID: prepare.IDRule{Columns: []string{"patient"}}})
		if err != nil {
			t.Fatal(err)
		}
		shares = append(shares, partition.Share{Party: name, Table: method.Table{Set: set, Key: dataset.SplitKey{1, byte(i)}}})
	}
	return shares
}

// fittedNeedles are the values that are fitted for the job, as text and as numbers of two sizes,
// and words that only parties know.
func fittedNeedles(t testing.TB, j *job.Job, shares []partition.Share) (list []needle) {
	t.Helper()
	splits, err := partition.Splits(j, shares)
	if err != nil {
		t.Fatal(err)
	}
	made := splits[0].Prepared
	values := append(append([]float64{}, made.Offset...), made.Factor...)
	for _, v := range values {
		if v == 0 || v == 1 {
			continue // of columns that are not scaled
		}
		for k, b := range [][]byte{
			[]byte(strconv.FormatFloat(v, 'g', 8, 64)), binary.LittleEndian.AppendUint64(nil, math.Float64bits(v)), binary.BigEndian.AppendUint64(nil, math.Float64bits(v)),
			binary.LittleEndian.AppendUint32(nil, math.Float32bits(float32(v))), binary.BigEndian.AppendUint32(nil, math.Float32bits(float32(v))),
		} {
			list = append(list, needle{fmt.Sprintf("fitted value %v, form %d", v, k), b})
		}
	}
	hash := made.Hash() // without the parties' key it would let guesses be tried
	list = append(list, needle{"hash of the preparation", hash[:]}, needle{"hash of the preparation, as text", fmt.Appendf(nil, "%x", hash)})
	if len(list) < 20 {
		t.Fatalf("%d needles of fitted values", len(list))
	}
	for _, word := range []string{"nonsmoker", "exsmoker", "pipe", "kreatinin", "aufnahme", "raucher", "krank", "p1003", "p8007"} {
		list = append(list, needle{"word " + word, []byte(word)})
	}
	return list
}

// Before each of the coordinator's operations its whole disk is searched: there is never a fitted
// value, an agreed or a rare category, a dropped name, an own word or an id on it. The search
// finds each of them where they are put.
func TestCoordinatorStoresNothingThatIsFitted(t *testing.T) {
	t.Parallel()
	j := jobtest.Parse(t, schemaJob)
	shares := hospitals(t, j)
	needles := fittedNeedles(t, j, shares)
	w := newTestbed(t, shares)
	atHub := func() (hits []string) {
		for _, hit := range w.found(needles) {
			if strings.Contains(hit, " in "+w.home(hub)) {
				hits = append(hits, hit)
			}
		}
		return hits
	}
	looks, hits := 0, []string(nil)
	var mu sync.Mutex
	w.start(hub, func(string) bool {
		mu.Lock()
		defer mu.Unlock()
		looks++
		hits = append(hits, atHub()...)
		return false
	})
	done := w.mustRun(j)
	mu.Lock()
	defer mu.Unlock()
	if hits = append(hits, atHub()...); len(hits) > 0 {
		t.Errorf("the coordinator stores %q", hits)
	}
	if looks < 20 || done.Result.Metrics["accuracy"] < 0.6 {
		t.Errorf("%d looks at the disk; accuracy %v", looks, done.Result.Metrics["accuracy"])
	}
	read := done.Result.Prepared
	if read == nil || read.Columns != 6 || !read.Keyed || len(read.Digest) != 64 {
		t.Errorf("the coordinator reads %+v of the preparation", read)
	}
	if said := strings.Join(done.Result.Leakage["server"], "\n"); !strings.Contains(said, "The server learns that the preparation makes 6 columns, and a digest under a key that it does not have") {
		t.Errorf("leakage says %s", said)
	}
	for i, n := range needles {
		planted := filepath.Join(w.home(hub), fmt.Sprintf("planted-%d", i))
		if err := os.WriteFile(planted, append([]byte("something before "), n.bytes...), 0o600); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(strings.Join(atHub(), "\n"), planted) {
			t.Errorf("%s was planted and not found", n.name)
		}
	}
}

// A process that dies while the parties fit a preparation comes back, and the model is the same.
func TestCrashOfAPreparation(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("kills processes at every kind of operation")
	}
	crashing{points: sendsOf("gather", "broadcast", "secagg", "declare"), fewest: 20, patience: time.Minute, testbed: func(t *testing.T) (*testbed, *job.Job) {
		j := jobtest.Parse(t, schemaJob)
		return newTestbed(t, hospitals(t, j)), j
	}}.everywhere(t)
}
