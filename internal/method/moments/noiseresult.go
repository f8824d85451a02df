package moments

import (
	"fmt"
	"math"
	"strings"

	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/noised"
	"github.com/mercer-fl/mercer/internal/method/rows"
	"github.com/mercer-fl/mercer/learn/moments"
	"github.com/mercer-fl/mercer/protocol"
)

// privacyFigures describes the noise of a job with privacy. It returns nil for a job without privacy.
func (s *server) privacyFigures() (*noised.Figures, error) {
	n, err := noiseOf(s.Job, s.features())
	if err != nil || n == nil {
		return nil, err
	}
	f := n.figures(s.Job)
	f.Deviations = objectiveOf(s.Job).(blurred).Deviations(s.heldOut, s.figures, n.heldOut.Deviations())
	return f, nil
}

// figures describes the noise, apart from its effect on metrics.
func (n *noise) figures(j *job.Job) *noised.Figures {
	f := noised.NewFigures(job.As[*Keys](j.Protocol).Privacy.Guarantee, n.Shape.Summands)
	const one = moments.One * moments.One
	f.Products, f.Cross, f.Alpha = n.Products.Deviation()/(n.square*one), n.Cross.Deviation()/(math.Sqrt(n.square)*one), n.ridge()
	return f
}

// noisyLeakage describes in plain words what each role learns in a job with privacy.
func (s *server) noisyLeakage(f *noised.Figures) map[string][]string {
	m := s.features()
	lines := map[string][]string{
		"server": {
			f.Unit(),
			fmt.Sprintf("The server learns sums over the training rows of all %d parties, with noise: %d products of features and %s. No single party's sums. The ridge alpha = %.4g follows from the noise alone.", len(s.Parties), m*(m+1)/2, s.noisyCrossSums(), f.Alpha),
			fmt.Sprintf("About the held-out rows it learns %s, over all parties, with noise, and for any solution that it sends, so that a forged one tells no more of a person.", s.errorSums()),
			noised.Outside,
		},
		"party": {
			"Every party learns the model, which follows from the sums with noise. " + noised.TowardsParties,
			fmt.Sprintf("Every party and the server learn how many training rows each party declares: %s, of %d prepared columns. Nothing proves that these numbers count real rows, or that a party adds the noise that it should.", s.declaredRows(), s.counted.columns),
		},
		"coalition": {f.Together()},
		"broker":    {"The broker sees who sends, when and how much. From the sizes it knows the number of features and of outputs."},
	}
	rows.Leakage(s.Instance, lines, 0)
	return lines
}

// noiseWarnings warns of rows that are few for the noise, and of a large delta.
func (s *server) noiseWarnings(f *noised.Figures) []string {
	return noised.Warnings(s.sums.Rows, s.features(), f.Alpha, f.Delta)
}

// noisyCrossSums describes the sums of features with labels of a job with privacy.
func (s *server) noisyCrossSums() string {
	n := s.features() * objectiveOf(s.Job).width()
	if s.Job.Task().Classes {
		return fmt.Sprintf("%d sums of features by class", n)
	}
	return fmt.Sprintf("%d sums of features times labels", n)
}

// noisyExposures returns how much of others' rows each role can reconstruct in a job with privacy.
func noisyExposures(f *noised.Figures) map[string]protocol.Exposure {
	return map[string]protocol.Exposure{
		"server":    {Reach: protocol.ReachNone, Why: f.Unit()},
		"party":     {Reach: protocol.ReachNone, Why: noised.TowardsParties},
		"coalition": {Reach: protocol.ReachNone, Why: f.Together()},
	}
}

// warningOf returns the warnings about noise that the job's result will have, before the job runs; "" for none.
func warningOf(j *job.Job, sizes method.Sizes) (string, error) {
	k := expected(sizes)
	n, err := noiseOf(j, k.features(j))
	if err != nil || n == nil {
		return "", err
	}
	delta := job.As[*Keys](j.Protocol).Privacy.Delta
	return strings.Join(noised.Warnings(int(k.rows), n.Shape.Features, n.ridge(), delta), " "), nil
}
