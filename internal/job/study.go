package job

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/mercer-fl/mercer/internal/job/section"
)

// Study is a set of jobs that every operator approves at once, by the study's hash. A job that names
// the study must lie inside it.
type Study struct {
	Name       string
	Purpose    string     // text that explains the study to people
	Dictionary string     // NAME@HASH of the jobs' data dictionary; "" for tables of numbers without gaps
	Parties    []string   // the parties of each job
	Protocols  []string   // names of the allowed protocols, at least one
	Learners   []string   // names of the allowed learners, at least one
	Kernels    []string   // names of the allowed kernels; empty for any kernel that Gamma allows
	Gamma      [2]float64 // least and greatest allowed gamma; zero for any
	Labels     []string   // names of the allowed labels; nil for jobs without labels only
	Splits     []string   // ways in which a job can choose its held-out rows, words of [Splits]
	Jobs       int        // greatest number of jobs
	Numbers    int        // greatest number of numbers in the sums of all jobs together; 0 for no job that adds up sums
	Until      string     // last day on which a job can begin, in UTC, YYYY-MM-DD
}

// StudyKind is the value of the key kind in a study's file.
const StudyKind = "Study"

// MaxStudyJobs bounds the jobs of a study.
const MaxStudyJobs = 1000

// ErrStudyUnapproved reports a study that the operator of this home has not approved. Peers are allowed to
// see this error.
var ErrStudyUnapproved = errors.New("this home has not approved the study; its operator must compare the file with the other operators' files and run mercer federation study approve FILE")

// errNoStudies refuses a job that names a study if the reader knows no studies.
var errNoStudies = errors.New("this command knows no studies; put the file NAME.yaml beside the job, or remove \"study\"")

// ParseStudy reads a study's file. Every error is an [*Error] and names a line. The Reader's learners,
// and its protocols that jobs of a study can use, are the words that the file can use.
func (r *Reader) ParseStudy(name string, data []byte) (*Study, error) {
	s := new(Study)
	root, err := document(data)
	if err == nil {
		err = r.ofStudy(s.file(r.studied()).Decode("", root))
	}
	if err != nil {
		return nil, inFile(name, err)
	}
	return s, nil
}

// studied returns the names that a study can use.
func (r *Reader) studied() Names {
	known := r.Known()
	known.Protocols = nil
	for _, p := range r.Protocols {
		if p.Traits().NoStudy == "" {
			known.Protocols = append(known.Protocols, p.Name())
		}
	}
	return known
}

// ofStudy returns an error about a protocol that no job of a study can use with the reason. It returns
// other errors unchanged.
func (r *Reader) ofStudy(err error) error {
	var e *Error
	var unknown *section.UnknownName
	if !errors.As(err, &unknown) || unknown.Noun != "protocol" || !errors.As(err, &e) {
		return err
	}
	i := slices.IndexFunc(r.Protocols, func(p Protocol) bool { return p.Name() == unknown.Got })
	if i < 0 {
		return err
	}
	e.Problem = fmt.Sprintf("protocol %s %s; a study can have %s", unknown.Got, r.Protocols[i].Traits().NoStudy, strings.Join(unknown.Known, ", "))
	return e
}

// Encode returns the canonical file, from which [Reader.ParseStudy] reads s. Equal studies have equal
// bytes.
func (s *Study) Encode() []byte { return canonical(s.file(Names{})) }

// Hash returns the SHA-256 of the canonical file, in hexadecimal digits. Operators approve it.
func (s *Study) Hash() string { return hexHash(s.Encode()) }

// Title returns the study's name.
func (s *Study) Title() string { return s.Name }

// Reference returns the study's reference in a job's encoding, NAME@HASH.
func (s *Study) Reference() string { return s.Name + "@" + s.Hash() }

// StudySpec returns the declaration of the keys under spec in a study's file, which the documentation
// shows.
func (r *Reader) StudySpec() *section.Section { return new(Study).section(r.studied()) }

func (s *Study) file(known Names) *section.Section {
	return &section.Section{Name: "the study", Fields: []section.Field{
		{Key: "apiVersion", Value: section.Fixed(APIVersion), Need: `write "apiVersion: ` + APIVersion + `" as the first line`, Doc: "The version of the format."},
		{Key: "kind", Value: section.Fixed(StudyKind), Need: `write "kind: ` + StudyKind + `"`, Doc: "The type of this file."},
		{Key: "metadata", Value: &section.Section{Name: "metadata", Fields: []section.Field{
			{Key: "name", Value: section.DNSLabel{Dst: &s.Name}, Need: "add \"name\" with a short name of lower-case letters, digits and dashes",
				Doc: "The study's name in jobs."},
		}}, Need: "add \"metadata: {name: kidney}\"", Doc: "The name of the study."},
		{Key: "spec", Value: s.section(known), Need: "add \"spec\" with \"parties\", \"protocols\", \"learners\", \"jobs\" and \"until\"", Doc: "What the study's jobs may do."},
	}}
}

// section declares the keys under spec in a study's file.
func (s *Study) section(known Names) *section.Section {
	return &section.Section{Name: "study", Fields: []section.Field{
		{Key: "purpose", Value: section.Text{Dst: &s.Purpose}, Else: "none", Doc: "What the study is for, and who has approved it, for people."},
		{Key: "dictionary", Value: section.Text{Dst: &s.Dictionary}, Else: "jobs have no dictionary: every column is a number without gaps",
			Doc: "The jobs' data dictionary, as NAME@HASH with all 64 digits. The operators approve it by itself."},
		{Key: "parties", Value: partyList{&s.Parties}, Need: "add parties: [north, south]", Doc: "The parties of every job, in any order."},
		{Key: "protocols", Value: section.Choices[string]{Noun: "protocol", Dst: &s.Protocols, Known: known.Protocols}, Need: "add \"protocols: [moments]\"", Doc: "The protocols that a job may use, in their hardened mode."},
		{Key: "learners", Value: section.Choices[string]{Noun: "learner", Dst: &s.Learners, Known: known.Learners}, Need: "add \"learners: [ridge]\"", Doc: "The learners that a job may use."},
		{Key: "kernels", Value: section.Choices[string]{Noun: "kernel", Dst: &s.Kernels, Known: known.Kernels}, Else: "every kernel; beside gamma, those with a gamma or a length scale",
			Doc: "The kernels that a job may use."},
		{Key: "gamma", Value: section.Interval{Dst: &s.Gamma}, Else: "any",
			Doc: "The least and the greatest gamma of a job, as plain numbers. With a small gamma, sums come close to sums of the columns themselves. It is for scaled columns: no job may have scale: none. A length scale l counts as gamma 1/(2 l²), and the gamma g of a laplacian kernel as g and as g²/2."},
		{Key: "labels", Value: section.Words{Dst: &s.Labels, Most: maxStudyWords, Example: "[diagnosis]"}, Else: "none; jobs without labels only", Doc: "The labels that a job may use, also with a learner that needs none."},
		{Key: "splits", Value: section.Choices[string]{Noun: "split", Dst: &s.Splits, Known: Splits()}, Else: "none; each party's key chooses the held-out rows",
			Doc: "The ways in which a job may choose the held-out rows. With party, jobs hold out one party after the other, and each party's own sums become known."},
		{Key: "jobs", Value: section.Whole{Dst: &s.Jobs}, Need: "add \"jobs: 20\"", Doc: fmt.Sprintf("The greatest number of jobs, 1 to %d. A job of kind Fit counts.", MaxStudyJobs)},
		{Key: "numbers", Value: section.Whole{Dst: &s.Numbers}, Else: "none; no job that adds up sums",
			Doc: "The greatest number of numbers in the sums of all jobs together, counted at each party."},
		{Key: "until", Value: section.Text{Dst: &s.Until}, Need: "add \"until\" with a day such as 2027-06-30", Doc: "The last day on which a job may begin, in UTC."},
	}, Finish: s.finish}
}

// maxStudyWords bounds the words of a list.
const maxStudyWords = 1000

// finish refuses a study with a value that no study can have.
func (s *Study) finish(in *section.Place) error {
	if key, why := s.contradicts(in); why != "" {
		return in.Refuse(key, "%s", why)
	}
	return nil
}

// contradicts returns the first key with a value that no study can have, and why. It returns "" if there
// is none.
func (s *Study) contradicts(in *section.Place) (key, why string) {
	name, hash, _ := strings.Cut(s.Dictionary, "@")
	switch _, err := time.Parse(time.DateOnly, s.Until); {
	case err != nil:
		return "until", fmt.Sprintf("until is %s; write a day such as 2027-06-30", section.Quote(s.Until))
	case in.Given("dictionary") && (name == "" || !IsHash(hash)):
		return "dictionary", fmt.Sprintf("dictionary is %s; write its name and its hash of 64 digits as NAME@HASH (mercer federation dictionary list --json shows them)", section.Quote(s.Dictionary))
	case len(s.Protocols) == 0:
		return "protocols", "\"protocols\" is empty; name at least one"
	case len(s.Learners) == 0:
		return "learners", "\"learners\" is empty; name at least one"
	case s.Jobs < 1 || s.Jobs > MaxStudyJobs:
		return "jobs", fmt.Sprintf("jobs is %d; write a number from 1 to %d", s.Jobs, MaxStudyJobs)
	case in.Given("numbers") && s.Numbers < 1:
		return "numbers", fmt.Sprintf("numbers is %d; write a number above 0, or remove it", s.Numbers)
	case in.Given("gamma") && (s.Gamma[0] <= 0 || s.Gamma[1] < s.Gamma[0]):
		return "gamma", fmt.Sprintf("gamma is from %g to %g; write two numbers above 0, the smaller one first", s.Gamma[0], s.Gamma[1])
	}
	return "", ""
}

// studyOf reads and writes a job's key "study": a name, or a name and hash.
type studyOf struct {
	dst    **Study
	reader *Reader
}

func (v studyOf) Decode(key string, n *yaml.Node) error {
	var ref string
	if err := (section.Text{Dst: &ref}).Decode(key, n); err != nil {
		return err
	}
	name, hash, _ := strings.Cut(ref, "@")
	err := errNoStudies
	if v.reader != nil && v.reader.Study != nil {
		*v.dst, err = v.reader.Study(name, hash)
	}
	switch s := *v.dst; {
	case err != nil:
	case s.Name != name:
		err = fmt.Errorf("the study that was found is called %s; write that name here, or correct \"metadata: {name: ...}\" in the study", section.Quote(s.Name))
	case hash != "" && s.Hash() != hash:
		err = errors.New("the study that was found has another hash; compare the two files")
	}
	if err != nil {
		return section.At(n, "study %s: %w", section.Quote(name), err)
	}
	return nil
}

func (v studyOf) Encode() *yaml.Node {
	if *v.dst == nil {
		return nil
	}
	return section.Word((*v.dst).Reference())
}

func (v studyOf) Form() string { return "a name" }

// studyField declares a job's key "study".
func (j *Job) studyField(r *Reader) section.Field {
	return section.Field{Key: "study", Value: studyOf{&j.Study, r}, Else: "none",
		Doc: "The name of the study that every party's operator has approved. The job must lie inside it; then no operator is asked again."}
}

// finishStudy refuses a job that lies outside its study. Each member refuses it by the same rule,
// before it reads a table.
func (j *Job) finishStudy(in *section.Place) error {
	s := j.Study
	if s == nil {
		return nil
	}
	if key, why := s.excludes(j); why != "" {
		return in.Refuse("study", "the job lies outside study %s, by its key %s: %s", s.Name, key, why)
	}
	return nil
}

// excludes returns the first key of the study by which a job lies outside, and why. It returns "" for
// a job that lies inside. It does not check the keys "jobs", "numbers" and "until", which depend on earlier
// jobs or on the day.
func (s *Study) excludes(j *Job) (key, why string) {
	d := &j.Data
	own := ""
	if d.Dictionary != nil {
		own = d.Dictionary.Reference()
	}
	switch {
	case own != s.Dictionary:
		return "dictionary", fmt.Sprintf("it allows %s, and the job has %s", orNoDictionary(s.Dictionary), orNoDictionary(own))
	case !sameSet(j.Parties(), s.Parties):
		return "parties", fmt.Sprintf("it is for %s together, and the job is of %s", joinNames(s.Parties), listedOr(j.Parties(), "nobody by name"))
	case j.IsFit():
		return "", ""
	case !slices.Contains(s.Protocols, j.Protocol.Name()):
		return "protocols", fmt.Sprintf("it allows %s, and the job uses %s", joinNames(s.Protocols), j.Protocol.Name())
	case j.Protocol.Mode() == Paper:
		return "protocols", "it allows their hardened mode, and the job has \"mode: paper\""
	case d.Label != NoLabel && !slices.Contains(s.Labels, d.Label): // also for a learner without labels: okra sends the labels with the rows
		return "labels", fmt.Sprintf("it allows %s, and the job has %s", listedOr(s.Labels, "none"), section.Quote(d.Label))
	case d.Test.Split() != "" && !slices.Contains(s.Splits, d.Test.Split()):
		return "splits", fmt.Sprintf("it allows no job to hold out %s; \"splits: [%s]\" would allow that", d.Test.Chosen(), d.Test.Split())
	case s.Gamma != [2]float64{} && d.Scale == None: // the effect of gamma would depend on the units of the columns
		return "gamma", "it is for scaled columns, and the job has \"scale: none\""
	}
	for _, l := range j.Learners() {
		if !slices.Contains(s.Learners, l.Name()) {
			return "learners", fmt.Sprintf("it allows %s, and the job uses %s", joinNames(s.Learners), l.Name())
		}
	}
	for _, k := range j.Kernels() {
		if key, why := s.excludesKernel(k); why != "" {
			return key, why
		}
	}
	return "", ""
}

// excludesKernel returns the first key of the study by which a kernel lies outside, and why, like excludes.
func (s *Study) excludesKernel(k Kernel) (key, why string) {
	gamma := k.Gamma
	if k.LengthScale > 0 {
		gamma = 1 / (2 * k.LengthScale * k.LengthScale)
	}
	square := gamma
	if k.Name == Laplacian || k.Name == LaplacianProduct {
		square = gamma * gamma / 2 // the kernel is a Matérn kernel of length scale 1/gamma
	}
	switch {
	case len(s.Kernels) > 0 && !slices.Contains(s.Kernels, string(k.Name)):
		return "kernels", fmt.Sprintf("it allows %s, and the job uses %s", joinNames(s.Kernels), k.Name)
	case s.Gamma == [2]float64{}, gamma == 0 && len(s.Kernels) > 0: // a kernel without gamma must be listed
		return "", ""
	case gamma == 0:
		return "gamma", fmt.Sprintf("kernel %s has none; \"kernels: [%s]\" would allow it", k.Name, k.Name)
	case k.GammaUnit != "":
		return "gamma", fmt.Sprintf("it is a plain number, and the job gives gamma in the unit %s", k.GammaUnit)
	case gamma < s.Gamma[0] || gamma > s.Gamma[1]:
		return "gamma", fmt.Sprintf("it is from %g to %g, and the job has %g", s.Gamma[0], s.Gamma[1], gamma)
	case square < s.Gamma[0] || square > s.Gamma[1]:
		return "gamma", fmt.Sprintf("it is from %g to %g, and a %s kernel of gamma %g counts as gamma %g, too", s.Gamma[0], s.Gamma[1], k.Name, gamma, square)
	}
	return "", ""
}

func orNoDictionary(ref string) string {
	if ref == "" {
		return "no dictionary"
	}
	name, hash, _ := strings.Cut(ref, "@")
	return fmt.Sprintf("dictionary %s (%s)", name, hash[:12])
}

func sameSet(a, b []string) bool {
	return slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
}
