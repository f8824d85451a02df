package transcript_test

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/check/transcript"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/all"
	"github.com/mercer-fl/mercer/internal/method/methodtest"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/secagg"
)

const root = "../../.."

// elsewhere are the transcripts of other tests.
var elsewhere = []string{"secvm"} // internal/anonymous/gateway

func shared(t *testing.T) *transcript.Say {
	t.Helper()
	s, err := transcript.ReadShared(filepath.Join("testdata", "shared.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Every protocol has a transcript, which states what each message reveals. No sentence is
// about a message that is never sent.
func TestTranscripts(t *testing.T) {
	common := shared(t)
	names := []string{"psi", "secagg", "steps"}
	protocols := make(map[string]*method.Protocol)
	for _, p := range all.Reader().Protocols {
		names = append(names, p.Name())
		protocols[p.Name()], _ = p.(*method.Protocol) // nil: nothing is sent
	}
	pages := make(map[string]*transcript.Page)
	for _, name := range names {
		if slices.Contains(elsewhere, name) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			words, err := transcript.ReadWords(filepath.Join("testdata", name+".yaml"), common)
			if err != nil {
				t.Fatal(err)
			}
			page := transcript.NewPage(words)
			pages[name] = page
			for i, r := range words.Runs {
				page.Add(show(t, protocols, r, byte(i)))
			}
			if name == secagg.Name {
				page.Add(sum(t))
			}
			page.Compare(t, root, name)
		})
	}
	for name, page := range pages {
		for other, keys := range page.Elsewhere {
			for _, key := range keys {
				if pages[other] == nil || !pages[other].Shown[key] {
					t.Errorf("%s refers to %s, which does not show %q", name, other, key)
				}
			}
		}
	}
	for _, key := range common.Unused() {
		t.Errorf("shared.yaml: no session of any transcript has %q; remove the sentence", key)
	}
}

// show runs a job, and returns the messages of its members.
func show(t *testing.T, protocols map[string]*method.Protocol, r transcript.Run, number byte) (s transcript.Session) {
	t.Helper()
	j, err := all.Reader().Parse("job.yaml", []byte(r.Job))
	if err != nil {
		t.Fatal(err)
	}
	m := protocols[j.Protocol.Name()]
	if m == nil {
		return s
	}
	c := methodtest.Instance(j)
	c.ID = job.ID{7, number}
	tables := make(map[string]method.Table)
	s.Group = transcript.Group{Role: "party", Members: c.Parties}
	if r.Likes.Devices > 0 {
		s.Group.Role = "device"
		s.Members = []string{fmt.Sprintf("%d devices, each with one person's list of liked items; the catalogue has %d items", r.Likes.Devices, r.Likes.Items)}
		for i, name := range c.Parties {
			tables[name] = method.Table{Ratings: likes(r.Likes, i)}
		}
	}
	columns := slices.ContainsFunc(c.Parties, func(name string) bool { return !j.Labels(name) }) && r.Likes.Devices == 0
	for _, name := range c.Parties {
		if r.Likes.Devices > 0 {
			continue
		}
		tables[name] = table(t, j, name, r.Tables[name], columns)
		s.Members = append(s.Members, member(name, r.Tables[name], j.Labels(name)))
	}
	s.Members = append(s.Members, c.Coordinator+": the coordinator")
	f := methodtest.New(t, m, c, tables)
	f.Observe = func(step string, m protocol.Message) {
		if len(r.Only) == 0 || slices.Contains(r.Only, step) {
			s.Messages = append(s.Messages, sent(step, m))
		}
	}
	f.Announced = func(step string, body []byte) {
		for _, party := range c.Parties {
			s.Messages = append(s.Messages, transcript.Message{Step: step, From: c.Coordinator, To: party, Protocol: "proposal", Kind: "Announced", Bytes: len(body)})
		}
	}
	f.Finish(t)
	for _, step := range f.Plan {
		if len(r.Only) == 0 || slices.Contains(r.Only, step.Name) {
			s.Steps = append(s.Steps, step.Name)
		}
	}
	return s
}

// sent returns a message for a transcript. Chunks of a message have a common round and
// sequence number.
func sent(step string, m protocol.Message) transcript.Message {
	return transcript.Message{
		Step: step, From: m.Sender, To: m.Receiver, Protocol: m.Protocol, Kind: m.Kind, Whole: fmt.Sprint(m.Round, " ", m.Sequence), Bytes: len(m.Body),
	}
}

func member(name string, of transcript.Table, labels bool) string {
	text := fmt.Sprintf("%s: people %d to %d, columns %s", name, of.From, of.To, strings.Join(of.Columns, ", "))
	if labels {
		text += ", and the label"
	}
	return text
}

// draw returns a number below n that depends on the texts alone.
func draw(n uint64, texts ...any) uint64 {
	sum := sha256.Sum256(fmt.Append(nil, texts...))
	return binary.LittleEndian.Uint64(sum[:]) % n
}

// table writes a party's table and reads it as its catalogue does. If parties hold
// different columns, people have ids.
func table(t *testing.T, j *job.Job, name string, of transcript.Table, ids bool) method.Table {
	t.Helper()
	header, id := slices.Clone(of.Columns), ""
	if ids {
		header, id = append([]string{"id"}, header...), "id"
	}
	if j.Labels(name) {
		header = append(header, "label")
	}
	lines := []string{strings.Join(header, ",")}
	for p := of.From; p <= of.To; p++ {
		var cells []string
		for _, c := range header {
			cells = append(cells, cell(p, c))
		}
		lines = append(lines, strings.Join(cells, ","))
	}
	return methodtest.Hospital(t, j, name, strings.Join(lines, "\n")+"\n", id)
}

// cell returns a person's value in a column.
func cell(person int, column string) string {
	value := func(column string) uint64 { return draw(600, column, " of ", person) }
	switch column {
	case "id":
		return fmt.Sprint("p", person)
	case "label": // some columns have more weight than others
		if 2*value("spent")+value("claims")+value("age") > 1200 {
			return "yes"
		}
		return "no"
	case "ward":
		return fmt.Sprint("w", person%7)
	}
	return fmt.Sprintf("%.1f", 20+float64(value(column))/10)
}

// likes returns a person's list.
func likes(of transcript.Likes, person int) *dataset.Ratings {
	r := &dataset.Ratings{Name: "likes", Users: []string{"1"}}
	for i := range of.Items {
		if draw(5, "item ", i, " of ", person) > 0 {
			r.List = append(r.List, dataset.Rating{Item: len(r.Items), Value: 1})
			r.Items = append(r.Items, fmt.Sprint("item", i))
		}
	}
	return r
}

// Every transcript of the documents is written by a test, and its page links it.
func TestTranscriptsAreMade(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(root, "docs", "protocols", "transcripts", "*"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files, error %v", len(files), err)
	}
	made := make(map[string]bool)
	for _, name := range elsewhere {
		made[name+".txt"] = true
	}
	words, err := os.ReadDir("testdata")
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range words {
		if name := strings.TrimSuffix(w.Name(), ".yaml"); name != "shared" {
			made[name+".txt"] = true
		}
	}
	for _, file := range files {
		if !made[filepath.Base(file)] {
			t.Errorf("no test makes %s", file)
		}
		delete(made, filepath.Base(file))
		name := strings.TrimSuffix(filepath.Base(file), ".txt")
		page, err := os.ReadFile(filepath.Join(root, "docs", "protocols", name+".md"))
		if err != nil || !strings.Contains(string(page), "(transcripts/"+name+".txt)") {
			t.Errorf("docs/protocols/%s.md does not link %s: %v", name, file, err)
		}
	}
	if len(made) > 0 {
		t.Errorf("no file of %v", slices.Sorted(maps.Keys(made)))
	}
}
