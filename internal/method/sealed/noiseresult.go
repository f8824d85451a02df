package sealed

import (
	"fmt"
	"strings"

	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method/noised"
	"github.com/mercer-fl/mercer/internal/method/rows"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/sealed"
)

// noiseFigures describes the noise of a job with privacy.
func (s *server) noiseFigures(p sealed.Problem) (*noised.Figures, error) {
	of, err := heldOutNoise(s.Job)
	if err != nil {
		return nil, err
	}
	f := noised.NewFigures(privacyOf(s.Job).Guarantee, noised.Parties(s.Job))
	f.Products, f.Cross = p.Deviations()
	f.Alpha = p.Alpha()
	f.Deviations = targetOf(s.Job).(blurred).Deviations(s.heldOut, s.figures, of.Deviations())
	return f, nil
}

// noiseWarnings warns of rows that are few for the noise, and of a large delta.
func (s *server) noiseWarnings(d *Details) []string {
	return noised.Warnings(s.public().total(), d.Sealed.Features, d.Privacy.Alpha, d.Privacy.Delta)
}

// warningOf returns the warnings about noise that the job's result will have, before the job runs; "" for none.
func warningOf(j *job.Job, s *protocol.Session) (string, error) {
	p, err := sealed.DecodeParams(s.Params)
	if err != nil || !j.Data.Private {
		return "", err
	}
	return strings.Join(noised.Warnings(p.Problem.Rows, p.Features, p.Alpha(), privacyOf(j).Delta), " "), nil
}

// keepersTogether is the sentence about members that together void the guarantee.
const keepersTogether = "Any two keepers together read every party's sums over its training rows with the noise beside them: the guarantee does not hold towards them. It holds towards one keeper that lies or reveals its noise, together with any parties that are no keepers: the noise of the two other keepers alone gives it. So keepers belong to different organisations, and each operator approves their names."

// heldOutTogether states the guarantee about held-out rows towards the coordinator and all parties but one.
func heldOutTogether(f *noised.Figures) string {
	return fmt.Sprintf("The parties add the noise to the figures on held-out rows. The coordinator and all parties but one together know theirs: about the last party's held-out rows its own noise gives epsilon = %.3g towards them.", f.Coalition)
}

// noisyLeakage describes in plain words what each role learns in a job with privacy.
func (s *server) noisyLeakage(d *Details) map[string][]string {
	f := d.Privacy
	lines := map[string][]string{
		"server": {
			s.noisySentence(),
			f.Unit(),
			s.coordinatorLearns(),
			"About the held-out rows it learns their number and, with noise, " + errorSums(s.Job) + ", over all parties.",
			noised.Outside,
		},
		"party": {
			fmt.Sprintf("Every party learns the model, %d numbers that follow from the sums with noise, and how many training rows each party declares: %s, of %d prepared columns. Nothing proves that these numbers count real rows.", d.Sealed.Numbers, s.declaredRows(), s.public().columns),
			noised.TowardsParties,
		},
		"keeper":    {"One keeper alone holds shares, which are random numbers without another keeper's, and its own noise. What it learns from the 80 sums of the check, and by lies, has the guarantee, too, also in a job that fails."},
		"coalition": {keepersTogether, heldOutTogether(f)},
		"broker":    {"The broker sees who sends, when and how much. From the sizes it knows the number of features and of targets."},
	}
	rows.Leakage(s.Instance, lines, 0)
	return lines
}

// noisySentence says in one sentence what the protocol protects.
func (s *server) noisySentence() string {
	return fmt.Sprintf("Unless two of the three keepers (%s) put their pieces together, nobody, the coordinator included, sees anything of a party's training rows but how many there are, and the finished model and 80 blurred sums of its check, which follow from sums with the keepers' noise.", strings.Join(keepersOf(s.Instance), ", "))
}

// noisyExposures returns how much of others' rows each role can reconstruct in a job with privacy.
func noisyExposures(f *noised.Figures) map[string]protocol.Exposure {
	alike := protocol.Exposure{Reach: protocol.ReachNone, Why: noised.TowardsParties}
	return map[string]protocol.Exposure{
		"server": {Reach: protocol.ReachNone, Why: f.Unit()},
		"party":  alike, "keeper": alike,
		"coalition": {Reach: protocol.ReachPart, Why: keepersTogether},
	}
}
