package coordinator_test

import (
	"github.com/mercer-fl/mercer/internal/method/okra"

	"bytes"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/base/identity"
	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/jobtest"
	"github.com/mercer-fl/mercer/internal/node/coordinator"
	"github.com/mercer-fl/mercer/internal/node/mail"
	"github.com/mercer-fl/mercer/internal/node/mail/envelope"
	"github.com/mercer-fl/mercer/internal/node/vault"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/protocol"
	okramachines "github.com/mercer-fl/mercer/protocol/okra"
)

// onThe dies before the nth operation of that name.
func onThe(n int32, op string) func(string) bool {
	var seen atomic.Int32
	return func(now string) bool { return now == op && seen.Add(1) == n }
}

// dies starts a member that dies once, and notes that it has.
func (w *testbed) dies(d death) *atomic.Bool {
	at, died := onThe(int32(d.nth), d.op), new(atomic.Bool)
	w.start(d.name, func(op string) bool {
		if !at(op) {
			return false
		}
		died.Store(true)
		return true
	})
	return died
}

// changed is a table with one other value.
func changed(t method.Table) method.Table {
	m := linalg.New[float64](t.Set.X.Rows(), t.Set.X.Cols())
	for i := range m.Rows {
		t.Set.X.Row(i, m.Row(i))
	}
	m.Row(0)[0] = (m.Row(0)[0] + m.Row(1)[0]) / 2 // within the range, so that the scaling stays
	set := *t.Set
	set.X = dataset.NewDense(m)
	return method.Table{Set: &set, Key: t.Key}
}

// Rule 1: a CSV edited between crash and replay would send y' under the same
// masks, and y - y' is the change in clear.
func TestRule1AnInputChangedBetweenCrashAndReplayAbortsAndSendsNothing(t *testing.T) {
	const changedInput = "its data has changed since this session began"
	for op, want := range map[string]string{
		"ack okra/Seed":      changedInput,
		"send okra/Announce": "the job awaits its operator's approval", // the ledger enters the rows before the first message
		"send okra/Rows":     "the job awaits its operator's approval",
	} {
		t.Run(op, func(t *testing.T) {
			// Of rows that are scaled, or whose classes the job does not list, the ledger notes that the
			// scaling or the classes are told, and holds others before.
			j := jobtest.Parse(t, strings.Replace(fmt.Sprintf(jobFile, ""), "label: label", "label: {column: label, classes: [\"0\", \"1\"]}\n    scale: none", 1))
			shares := tumours(t, j)
			for _, s := range shares { // by ids a changed row is held out as before
				for i := range s.Table.Set.X.Rows() {
					s.Table.Set.IDs = append(s.Table.Set.IDs, fmt.Sprint(s.Party, i))
				}
			}
			w := newTestbed(t, shares).lets(j)
			w.start("south", onThe(1, op))
			w.startAll()
			id := w.submit(j)
			w.untilDead("south")
			before := len(w.tap.all())
			w.mu.Lock()
			w.tables["south"] = changed(w.tables["south"])
			w.mu.Unlock()
			w.start("south", never)

			done := w.wait(id)
			if done.Failure == nil {
				t.Fatal("the job has a result")
			}
			if !strings.Contains(done.Failure.Message, "south") || !strings.Contains(done.Failure.Message, want) {
				t.Errorf("failure %+v; want one that names south and says %q", done.Failure, want)
			}
			for _, r := range w.tap.all()[before:] {
				if h := header(t, r.data); r.from == "south" && h.Protocol != mail.Control {
					t.Errorf("south sent %v after its data had changed", h)
				}
			}
		})
	}
}

func header(t *testing.T, data []byte) protocol.Header {
	t.Helper()
	h, err := envelope.Peek(data)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// sessionsOf returns the sessions that were seen on the network.
func sessionsOf(t *testing.T, w *testbed) map[protocol.SessionID]bool {
	ids := make(map[protocol.SessionID]bool)
	for _, r := range w.tap.all() {
		if h := header(t, r.data); h.Protocol != mail.Control {
			ids[h.Session] = true
		}
	}
	return ids
}

// Rules 2 and 3: nothing of one submission comes again in another.
func TestRule3TheSameJobTwiceIsTwoSessionsWithOtherSeeds(t *testing.T) {
	j := parse(t, "  prediction: open\n")
	w := newTestbed(t, tumours(t, j))
	w.random = true
	first, second := w.mustRun(j), w.mustRun(parse(t, "  prediction: open\n"))
	if first.ID == second.ID {
		t.Error("two submissions have one id")
	}
	if got := len(sessionsOf(t, w)); got != 6 {
		t.Errorf("%d sessions, want 6: two of columnorder, of scale and of okra", got)
	}
	for label, list := range w.seeds() {
		if len(list) != 2 || list[0] == list[1] {
			t.Errorf("%s: seeds %x, want two different ones", label, list)
		}
	}
	if a, b := w.encoder("north", first.ID), w.encoder("north", second.ID); a.Epoch == b.Epoch {
		t.Error("two submissions share the encoder's epoch seed")
	}
	if first.Result.Models[0].SHA256 == second.Result.Models[0].SHA256 {
		t.Error("two submissions under two epochs have the same encoded model")
	}
}

// artifacts returns what jobs have left on a member's disk.
func (w *testbed) artifacts(name string) *vault.Artifacts {
	return vault.ReadArtifacts(filepath.Join(w.home(name), "keepsakes"), w.keys[name].KEMKey())
}

// encoder reads what a job left at a party.
func (w *testbed) encoder(name string, id job.ID) *okra.Kept {
	w.t.Helper()
	secret, err := w.artifacts(name).Get(id, vault.Predictor)
	if err != nil {
		w.t.Fatal(err)
	}
	k, err := method.DecodeRetained(secret)
	if err != nil {
		w.t.Fatal(err)
	}
	e, err := okra.DecodeKept(k.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	return e
}

// Rule 3: used ids are kept without limit, across restarts and failures.
func TestRule3AUsedSessionNeverRunsAgain(t *testing.T) {
	j := parse(t, "")
	w := newTestbed(t, tumours(t, j))
	w.mustRun(j)
	ids := sessionsOf(t, w)
	for _, m := range w.roster.Members {
		w.halt(m.Name)
		kept, err := vault.OpenDisk(filepath.Join(w.home(m.Name), "vault"), "test")
		if err != nil {
			t.Fatal(err)
		}
		open, lost, err := kept.Open()
		if err != nil || len(open)+len(lost) > 0 {
			t.Errorf("%s: %d open and %d lost sessions, %v; want none", m.Name, len(open), len(lost), err)
		}
		for id := range ids {
			_, err := kept.Create(id, [32]byte{}, nil)
			inScale := m.Name != hub // the coordinator takes part in okra, and conducts both
			if (inScale || m.Name == hub) && !errors.Is(err, vault.ErrUsed) {
				t.Errorf("%s: session %v again: %v, want ErrUsed", m.Name, id, err)
			}
		}
		if err := kept.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// needle is something that must not be found on a disk.
type needle struct {
	name  string
	bytes []byte
}

// secrets are the seeds and session keys of a testbed, and the epoch seed.
func (w *testbed) secrets(epoch okramachines.Seed) []needle {
	list := []needle{{"epoch seed", epoch[:]}}
	for label, seeds := range w.seeds() {
		for _, seed := range seeds {
			keys, err := identity.DeriveSession(seed)
			if err != nil {
				w.t.Fatal(err)
			}
			kem, err := keys.KEMKey().Bytes()
			if err != nil {
				w.t.Fatal(err)
			}
			list = append(list, needle{"seed of " + label, seed[:]}, needle{"session key of " + label, kem})
		}
	}
	return list
}

// rows are the parties' rows, as they are, scaled, and encoded.
func (w *testbed) rows(e *okra.Kept) []needle {
	w.t.Helper()
	var list []needle
	for name, table := range w.tables {
		raw := linalg.New[float64](table.Set.X.Rows(), table.Set.X.Cols())
		for i := range raw.Rows {
			table.Set.X.Row(i, raw.Row(i))
		}
		list = append(list, floats(name+"'s row", raw)...)
		scaled := linalg.New[float64](raw.Rows, raw.Cols)
		linalg.Gather(scaled, e.Scaling.Rows(raw), 0)
		list = append(list, floats(name+"'s scaled row", scaled)...)
		k := okramachines.Padding(raw.Cols)
		encoder, err := okramachines.NewEncoder(e.Params, e.Epoch, raw.Cols, k)
		if err != nil {
			w.t.Fatal(err)
		}
		encoded := linalg.New[float64](raw.Rows, encoder.Width())
		encoder.Encode(encoded, scaled)
		list = append(list, floats(name+"'s encoded row", encoded)...)
	}
	return list
}

// floats gives the first numbers of each row as they lie in memory.
func floats(name string, m linalg.Matrix[float64]) []needle {
	var list []needle
	for i := range m.Rows {
		var wide, narrow, rounded wire.Writer
		wide.Float64s(m.Row(i)[:3])
		for _, v := range m.Row(i)[:4] {
			narrow.Float32s([]float32{float32(v)})
			rounded.Float64(float64(float32(v)))
		}
		list = append(list, needle{name + " as float64", wide.Bytes()},
			needle{name + " as float32", narrow.Bytes()}, needle{name + " rounded to float32", rounded.Bytes()})
	}
	return list
}

// found returns what lies in any file below the homes.
func (w *testbed) found(needles []needle) []string {
	w.t.Helper()
	var hits []string
	err := filepath.WalkDir(w.dir, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) { // removed by a daemon meanwhile
			return nil
		}
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		for _, n := range needles {
			if bytes.Contains(data, n.bytes) {
				hits = append(hits, n.name+" in "+path)
			}
		}
		return err
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return hits
}

// Rules 4 and 33: after the result of a job that keeps predictions closed, an attacker who
// reads every disk finds no seed, no key and no row, encoded or not: the private model,
// which nobody could use, is not kept. While predictions are open the model is there,
// sealed.
func TestRule4AfterTheResultNoSeedKeyOrRowIsLeft(t *testing.T) {
	// The same seeds with predictions left open tell the secrets to look for.
	open := newTestbed(t, tumours(t, parse(t, "")))
	e := open.encoder("north", open.mustRun(parse(t, "  prediction: open\n")).ID)

	j := parse(t, "")
	w := newTestbed(t, tumours(t, j))
	done := w.mustRun(j)
	if got, want := done.Result.ModelHash, first(open).Result.ModelHash; got != want {
		t.Fatalf("model %s, want that of the open job %s: the needles are others", got, want)
	}
	needles := append(w.secrets(e.Epoch), w.rows(e)...)
	for name, federation := range map[string]*testbed{"closed": w, "open": open} {
		if hits := federation.found(needles); len(hits) > 0 {
			t.Errorf("%s: left on disk:\n%s", name, strings.Join(hits, "\n"))
		}
	}
	if left, err := w.artifacts(hub).List(done.ID); err != nil || !slices.Equal(left, []vault.Item{vault.Decisions}) {
		t.Errorf("the closed job left %v, %v", left, err)
	}
	model, err := open.artifacts(hub).Get(first(open).ID, vault.Model)
	if err != nil || !slices.ContainsFunc(w.rows(e), func(n needle) bool { return bytes.Contains(model, n.bytes) }) {
		t.Errorf("the scan does not even find the support vectors in the model (%v)", err)
	}
}

func first(w *testbed) coordinator.Job { return w.get(w.members[hub].boss.List()[0].ID) }

// The scan of rule 4 finds the seeds while the session runs; after a failure
// they are gone too.
func TestRule4AfterAFailureNoSeedOrKeyIsLeft(t *testing.T) {
	j := parse(t, "")
	w := newTestbed(t, tumours(t, j))
	// In mid-session south stops for good, as far as this life goes.
	w.start("south", onThe(1, "send okra/Rows"))
	w.startAll()
	id := w.submit(j)
	w.untilDead("south")
	if hits := w.found(w.secrets(okramachines.Seed{1})); len(hits) == 0 {
		t.Fatal("no seed is on any disk while the session runs: the scan finds nothing")
	}
	w.mu.Lock()
	w.tables["south"] = changed(w.tables["south"])
	w.mu.Unlock()
	w.start("south", never)
	if done := w.wait(id); done.Failure == nil {
		t.Fatal("the job has a result")
	}
	if hits := w.found(w.secrets(okramachines.Seed{1})); len(hits) > 0 {
		t.Errorf("left on disk:\n%s", strings.Join(hits, "\n"))
	}
	if left, err := w.artifacts(hub).List(id); err != nil || len(left) > 0 {
		t.Errorf("a failed job has left %v, %v", left, err)
	}
}

// Rule 4: a stolen identity file does not open old traffic; the session's seed,
// which is destroyed, would have.
func TestRule4AStolenIdentityOpensNoOldTraffic(t *testing.T) {
	j := parse(t, "")
	w := newTestbed(t, tumours(t, j))
	w.mustRun(j)
	var keys []identity.SessionKeys
	for _, seeds := range w.seeds() {
		k, err := identity.DeriveSession(seeds[0])
		if err != nil {
			t.Fatal(err)
		}
		keys = append(keys, k)
	}
	bySession, byIdentity := 0, 0
	for _, r := range w.tap.all() {
		h := header(t, r.data)
		v, err := envelope.Verify(r.data, w.roster.SigningKey, r.to)
		if err != nil {
			t.Fatal(err)
		}
		_, err = v.Open(w.keys[r.to].KEMKey())
		if h.Protocol == mail.Control {
			if err == nil {
				byIdentity++
			}
			continue
		}
		if err == nil {
			t.Errorf("%v opens with the identity of %s", h, r.to)
		}
		if slices.ContainsFunc(keys, func(k identity.SessionKeys) bool { _, err := v.Open(k.KEMKey()); return err == nil }) {
			bySession++
		}
	}
	if bySession == 0 || byIdentity == 0 {
		t.Errorf("%d messages open with session keys and %d with identities: the test opens nothing", bySession, byIdentity)
	}
}

// No log has a seed, at any level.
func TestNoSecretIsLogged(t *testing.T) {
	j := parse(t, "  prediction: open\n")
	w := newTestbed(t, tumours(t, j))
	done := w.mustRun(j)
	logs := w.logs.String()
	if !strings.Contains(logs, "accepted a session") {
		t.Fatal("nothing is logged")
	}
	for _, n := range w.secrets(w.encoder("north", done.ID).Epoch) {
		for _, text := range []string{
			hex.EncodeToString(n.bytes), strings.ToUpper(hex.EncodeToString(n.bytes)),
			base64.StdEncoding.EncodeToString(n.bytes), base64.RawURLEncoding.EncodeToString(n.bytes), string(n.bytes),
		} {
			if strings.Contains(logs, text) {
				t.Errorf("the %s is in the log", n.name)
			}
		}
	}
}

// A holder of the encoder's seed decodes a model's rows: the model never leaves.
func TestAPrivateModelIsNotDownloaded(t *testing.T) {
	j := parse(t, "")
	w := newTestbed(t, tumours(t, j))
	done := w.mustRun(j)
	b, err := w.members[hub].boss.Download(done.ID)
	if fault.CodeOf(err) != fault.CodePolicy || b != nil {
		t.Errorf("%d bytes, error %v with code %d; want none and code %d", len(b), err, fault.CodeOf(err), fault.CodePolicy)
	}
	if !done.Result.Models[0].Private {
		t.Error("the result does not say that the model is private")
	}
}

// Rule 7: the comparisons are the launching process's affair.
func TestRule7ADeployedJobHasNoComparisons(t *testing.T) {
	j := parse(t, "  compare: [pooled, alone]\n")
	w := newTestbed(t, tumours(t, j))
	if r := w.mustRun(j).Result; r.Pooled != nil || r.Alone != nil || r.Difference != nil || r.Exact != nil {
		t.Errorf("pooled %v, alone %v, difference %v, exact %v; want nil", r.Pooled, r.Alone, r.Difference, r.Exact)
	}
}
