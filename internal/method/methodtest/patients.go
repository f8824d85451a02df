package methodtest

import (
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/dataset/prepare"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
)

// PatientColumns names the columns of a table of patients.
const PatientColumns = "patient,age,krea,postcode,bmi,hiv,smoker,label"

// Patients writes a table of n made-up patients of a party, and further lines. The first patients
// are the same ones for any n.
func Patients(party string, n int, more ...string) string {
	r := rand.New(rand.NewPCG(uint64(len(party)), uint64(party[0])))
	lines := []string{PatientColumns}
	for k := range n {
		lines = append(lines, fmt.Sprintf("%s-%d,%.1f,%.1f,%d,%.2f,%s,%s,%c", party, k, 20+float64(r.IntN(600))/10, 40+200*r.Float64(),
			10000+r.IntN(89999), 18+20*r.Float64(), []string{"no", "no", "no", "yes"}[r.IntN(4)], []string{"never", "often"}[r.IntN(2)], 'a'+rune(r.IntN(2))))
	}
	return strings.Join(append(lines, more...), "\n") + "\n"
}

// Three returns tables of three hospitals, by party. East has further lines.
func Three(n int, east ...string) map[string]string {
	return map[string]string{"north": Patients("north", n), "south": Patients("south", n), "east": Patients("east", n, east...)}
}

// Hospital reads a party's table as its catalogue does for a job; id names the column of ids, ""
// for none.
func Hospital(t testing.TB, j *job.Job, party, text, id string) method.Table {
	t.Helper()
	records, err := dataset.OpenCSV(party, strings.NewReader(text), dataset.CSVForm{})
	if err != nil {
		t.Fatal(err)
	}
	rule := prepare.IDRule{}
	if id != "" {
		rule.Columns = []string{id}
	}
	table := prepare.Table{Name: party, Schema: j.Data.SchemaOf(party), ID: rule, Cut: j.Data.Test.Column}
	if j.Labels(party) {
		table.Label = j.Data.Label
	}
	set, err := prepare.Read(records, table)
	if err != nil {
		t.Fatal(err)
	}
	return method.Table{Set: set, Key: sha256.Sum256([]byte(party)), Label: j.Data.Label}
}

// Hospitals makes every member of a job ready over tables of patients, by party. Each number is a
// job of its own. Parties keep the default floors.
func Hospitals(t testing.TB, m *method.Protocol, text string, number byte, tables map[string]string) *Federation {
	t.Helper()
	j := Read(t, m, text)
	c := Case(j)
	c.ID = job.ID{0xa, number}
	c.Limits.Floors = method.DefaultFloors()
	all := make(map[string]method.Table)
	for name, csv := range tables {
		all[name] = Hospital(t, j, name, csv, "patient")
	}
	return New(t, m, c, all)
}
