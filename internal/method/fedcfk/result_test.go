package fedcfk

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
)

// shown returns the text of a result whose details are read back, a line for each block.
func shown(t *testing.T, j *job.Job, details string) (*method.Presentation, string) {
	t.Helper()
	exact := true
	p, err := present(j, &method.Result{Training: 5643, HeldOut: 750, Exact: &exact, Details: json.RawMessage(details)})
	if err != nil {
		t.Fatal(err)
	}
	if p == nil {
		return nil, ""
	}
	var lines []string
	for _, b := range p.Text {
		lines = append(lines, b.Line)
		for _, row := range b.Rows {
			lines = append(lines, strings.Join(row, " "))
		}
	}
	return p, strings.Join(lines, "\n")
}

const hardenedDetails = `{"crowd": {
	"source": "films", "people": 250, "training_ratings": 6750, "items": 140, "cut": 28, "items_kept": 131, "people_judged": 250, "kernel_bytes": 17818,
	"sums": [{"purpose": "fedcfk/popularity", "clients": 250, "holders": 48, "threshold": 31, "added": 233, "vanished": 25, "entries": 140, "vector_bytes": 144}],
	"recommended": [{"item": "9", "score": 0.0775}], "recommendations": "out/recommendations.csv"
}}`

func TestPresent(t *testing.T) {
	p, text := shown(t, nil, hardenedDetails)
	const want = `Ratings: films
250 people, 140 items, 131 of them with enough likes (28); 5643 ratings counted, 750 ratings held out by 250 people
all sums equal those of the plain lists, entry for entry: yes


fedcfk/popularity 250 25 8 233 48 31 140 144 B 0 B 0 B
kernel between items, to every device: 17.4 KiB

Recommendations of the first device to its owner
  item 9         0.0775
recommendations of each device, which real devices keep to themselves: out/recommendations.csv`
	if text != want {
		t.Errorf("text\n%s\nwant\n%s", text, want)
	}
	if p.Unit != "ratings" || p.Pooled != 6750 || p.Summary != nil {
		t.Errorf("%+v", p)
	}
}

// With the job at hand, and in mode paper, whose rounds are many.
func TestPresentOnAPage(t *testing.T) {
	j := someDevices(80, MarginCorrupted).Job
	p, text := shown(t, j, `{"crowd": {"source": "films", "people": 60, "items": 80, "paper": {"rounds": 12, "rows_requested": 7200}}}`)
	if !strings.Contains(text, "60 people, 80 items; 12 rounds") || !strings.Contains(text, "rows of the kernel requested: 10 by each device in each round") {
		t.Errorf("text\n%s", text)
	}
	var labels []string
	for _, row := range p.Summary {
		labels = append(labels, row.Label)
	}
	if got := strings.Join(labels, ", "); got != "Data, People, Protocol, Counted, Kernel, Learner, Ratings, Sums equal the plain ones" {
		t.Errorf("the page says %s", got)
	}
	if _, text := shown(t, j, `{"crowd": {"paper": {"rounds": 0}}}`); !strings.Contains(text, "requested: 0") {
		t.Errorf("of no rounds\n%s", text)
	}
	for _, other := range []string{`{}`, `{"secvm": {"sums": []}}`} {
		if p, _ := shown(t, j, other); p != nil {
			t.Errorf("%s is shown as %+v", other, p)
		}
	}
}
