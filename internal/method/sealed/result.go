package sealed

import (
	"fmt"
	"strings"

	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/noised"
	"github.com/mercer-fl/mercer/internal/method/rows"
	"github.com/mercer-fl/mercer/learn/moments"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/report"
)

// Details holds the part of a result that only this method has.
type Details struct {
	Sealed *Figures `json:"sealed"`
	// Privacy describes the noise of a job with differential privacy; nil without.
	Privacy *noised.Figures `json:"privacy,omitempty"`
}

// Figures describes the model that the keepers have opened.
type Figures struct {
	Keepers  []string `json:"keepers"` // servers a and b, dealer c
	Features int      `json:"features"`
	Targets  int      `json:"targets"`
	Numbers  int      `json:"numbers"`                   // number of the model's weights
	Most     int      `json:"numbers_allowed,omitempty"` // most weights that the model can have for the declared rows; 0 with privacy
	Alpha    float64  `json:"alpha"`
	Steps    int      `json:"steps"` // degree of the polynomial that the keepers compute
	// Certificate is nil if the job has none.
	Certificate *Certified `json:"certificate,omitempty"`
	// Within is the greatest rounding error of the accuracy. The error arises because parties round counts of held-out
	// rows to multiples of 5, or to a thousandth of more than 5,000 rows. Within is 0 if the result has no accuracy, and
	// with privacy.
	Within float64 `json:"shares_of_held_out_rows_within,omitempty"`
}

func (s *server) details() (*Details, error) {
	k := s.public()
	p, err := k.problem(s.Job)
	if err != nil {
		return nil, err
	}
	f := &Figures{
		Keepers: keepersOf(s.Instance), Features: p.Features, Targets: p.Targets, Numbers: p.Features * p.Targets, Most: k.mostNumbers(),
		Alpha: p.Alpha(), Steps: p.Plan.Steps, Certificate: s.certified,
	}
	if s.Job.Data.Private {
		f.Most = 0
		noise, err := s.noiseFigures(p)
		return &Details{f, noise}, err
	}
	if s.Job.Task().Classes {
		f.Within = moments.RoundedOff(len(s.Parties), float64(s.heldOut)) / float64(s.heldOut)
	}
	return &Details{Sealed: f}, nil
}

// present returns the presentation of a result.
func present(j *job.Job, r *method.Result) (*method.Presentation, error) {
	d, err := method.DetailsOf[Details](r)
	if err != nil || d == nil || d.Sealed == nil {
		return nil, err
	}
	f := d.Sealed
	p := &method.Presentation{Within: f.Within, More: []report.Row{
		{Label: "Model", Value: f.text(d.Privacy != nil)},
		{Label: "Keepers", Value: fmt.Sprintf("%s and %s computed, %s dealt random numbers", f.Keepers[0], f.Keepers[1], f.Keepers[2])},
	}}
	if f.Certificate != nil {
		p.More, p.Notes = append(p.More, report.Row{Label: "Certificate", Value: f.Certificate.text()}), append(p.Notes, "The certificate "+f.Certificate.text()+".")
	}
	if f.Within > 0 {
		text := fmt.Sprintf("%d, which each party counts in fives: the accuracy is off by at most %.4f", r.HeldOut, f.Within)
		p.More, p.Notes = append(p.More, report.Row{Label: "Held-out rows", Value: text}), append(p.Notes, "Held-out rows: "+text+".")
	}
	if d.Privacy != nil {
		d.Privacy.Show(p, j, r)
	}
	if j != nil {
		k := job.As[*Keys](j.Protocol)
		p.Settings, p.Learner = settings(k, f), learnerText(j, k, f)
	}
	return p, nil
}

// settings describes the settings that the declared rows determined.
func settings(k *Keys, f *Figures) string {
	if k.Features > 0 {
		return ""
	}
	return fmt.Sprintf(", features = %d", f.Features)
}

// learnerText describes the learner, with its alpha, if the noise or the number of rows determines alpha. The canonical
// job file has the learner's default in place of this alpha. It returns "" if the learner itself states alpha.
func learnerText(j *job.Job, k *Keys, f *Figures) string {
	switch {
	case k.Privacy.Private():
		return fmt.Sprintf("%s, alpha = %.4g (from the noise)", j.Learner.Name(), f.Alpha)
	case k.PerRow > 0:
		return fmt.Sprintf("%s, alpha = %.4g (for all rows)", j.Learner.Name(), f.Alpha)
	}
	return ""
}

// text describes the model.
func (f *Figures) text(private bool) string {
	if private {
		return fmt.Sprintf("%d numbers (%d features by %d targets), all with noise; alpha %.4g, by a polynomial of degree %d", f.Numbers, f.Features, f.Targets, f.Alpha, f.Steps)
	}
	return fmt.Sprintf("%d numbers (%d random features, drawn anew in each job, by %d targets) of at most %d; alpha %.4g, by a polynomial of degree %d",
		f.Numbers, f.Features, f.Targets, f.Most, f.Alpha, f.Steps)
}

// Sentences of the leakage statement that say who can reconstruct sums or rows.
const (
	twoKeepersRead  = "Any two keepers together can read every party's sums over its training rows, and rows that few others resemble. So keepers belong to different organisations, and each operator approves their names."
	noKeeperReads   = "One keeper alone holds shares, which are random numbers without another keeper's. It learns the 80 sums of the check, each under random noise, and in a job that fails these sums without the model. A keeper that lies can also learn the answer to one question of yes or no about the sums, and the third keeper to two."
	lastRowRead     = "A party that knows all training rows but one, with their labels, computes the remaining row from the model, which every party learns."
	otherPartyReads = "With two parties, each can take the model's equations for the other's rows: it subtracts its own sums."
	unverified      = "Nothing binds a party's sums to real rows. A party that makes sums up is learnt as if they were real, and may choose them so that the model shows sums over the others' rows. Each party's minimum row counts, its largest share and its ledger limit this."
)

// Sentences about a certificate.
const (
	certificateTells = "From the certificate it learns 40 sums over all rows together: by how much the opened model misses the equations of the parties' sums, rounded at random to less than what the check accepts. Of an honest model they are about as large as the rounding."
	madeUp           = "The certificate finds faults, and another model that two keepers open, unless one of them is a party that makes up for it in its own summands, or the coordinator, which says what it likes about the sums."
)

// sentence says in one sentence what the protocol protects.
func (s *server) sentence() string {
	fitted := ""
	if s.Job.Data.Fits() {
		fitted = ", the values that the parties fit to prepare and scale them"
	}
	certificate := ""
	if certifying(s.Job) != Uncertified {
		certificate = ", 40 rounded sums of its certificate"
	}
	return fmt.Sprintf("Unless two of the three keepers (%s) put their pieces together, nobody, the coordinator included, sees anything of a party's training rows but the finished model, 80 blurred sums of its check%s%s, and how many rows each party has.", strings.Join(keepersOf(s.Instance), ", "), certificate, fitted)
}

// leakage describes in plain words what each role learns in this job.
func (s *server) leakage(f *Figures) map[string][]string {
	lines := map[string][]string{
		"server": {
			s.sentence(),
			s.coordinatorLearns(),
			"About the held-out rows it learns their number and " + errorSums(s.Job) + ", over all parties. Each party rounds counts to fives, or to a thousandth of more than 5,000 rows, and sums to three digits of their mean.",
		},
		"party": {
			fmt.Sprintf("Every party learns the model, %d numbers, and how many training rows each party declares: %s, of %d prepared columns. Nothing proves that these numbers count real rows.", f.Numbers, s.declaredRows(), s.public().columns),
			lastRowRead,
			memberTells,
			jointTells(f.Numbers, s.public().total()),
			unverified,
		},
		"keeper":    {noKeeperReads},
		"coalition": {twoKeepersRead},
		"broker":    {"The broker sees who sends, when and how much. From the sizes it knows the number of features and of targets."},
	}
	if len(s.Parties) == 2 {
		lines["party"] = append(lines["party"], otherPartyReads)
	}
	if certifying(s.Job) != Uncertified {
		lines["server"] = append(lines["server"], certificateTells)
		lines["coalition"] = append(lines["coalition"], madeUp)
	}
	rows.Leakage(s.Instance, lines, 0)
	return lines
}

// memberTells warns every member that the model reveals something about who took part.
const memberTells = "A model is not anonymous: somebody who has records like a person's can test whether that person took part. Of 1,347 rows a likelihood-ratio test found 44 of 100 at one false alarm in 100, of 32,561 rows hardly any. Another job over the same rows with one person more tells about that person, so each party's release ledger blocks a job whose rows differ from an earlier job's by fewer than 10 people, and limits how many numbers the models over the same rows have together."

// jointTells warns of somebody who has the records of all people who can have taken part.
func jointTells(numbers, rows int) string {
	if numbers > rows {
		return fmt.Sprintf("The model has more numbers (%d) than there are training rows (%d): somebody who has the records of all people who may have taken part finds out exactly who did.", numbers, rows)
	}
	return fmt.Sprintf("The model has no more numbers (%d) than there are training rows (%d). A test of all people together who may have taken part was not measured; it finds more than a test of each by itself.", numbers, rows)
}

// coordinatorLearns describes in words what the coordinator learns besides the figures.
func (s *server) coordinatorLearns() string {
	said := fmt.Sprintf("The coordinator learns how many training rows each party declares (%s), the number of columns, and who sends when and how much. ", s.declaredRows())
	for _, name := range keepersOf(s.Instance) {
		if name == s.Coordinator {
			return said + "It is a keeper, too: what a keeper learns, it learns. " + noKeeperReads
		}
	}
	return said + "It receives neither sums nor the model."
}

// errorSums describes the sums over held-out rows that the coordinator learns.
func errorSums(j *job.Job) string {
	if j.Task().Classes {
		return "how many are classified correctly"
	}
	return "the sums of the labels, of their squares and of the squared errors"
}

// declaredRows lists in words the parties' declared numbers of training rows.
func (s *server) declaredRows() string {
	var list []string
	for i, n := range s.public().rows {
		list = append(list, fmt.Sprintf("%s %d", s.Parties[i], n))
	}
	return strings.Join(list, ", ")
}

// exposures returns how much of others' rows each role can reconstruct.
func (s *server) exposures() map[string]protocol.Exposure {
	list := map[string]protocol.Exposure{
		"server":    {Reach: protocol.ReachNone, Why: s.sentence()},
		"party":     {Reach: protocol.ReachPart, Why: lastRowRead},
		"keeper":    {Reach: protocol.ReachNone, Why: noKeeperReads},
		"coalition": {Reach: protocol.ReachPart, Why: twoKeepersRead},
	}
	if len(s.Parties) == 2 {
		list["party"] = protocol.Exposure{Reach: protocol.ReachPart, Why: otherPartyReads}
	}
	return list
}
