package noised

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/mercer-fl/mercer/privacy"
)

// Figures describes in a result the guarantee and the noise that protect the people of the tables.
type Figures struct {
	Epsilon float64 `json:"epsilon"`
	Delta   float64 `json:"delta"`
	Rho     float64 `json:"rho"` // the same guarantee in zero-concentrated differential privacy
	// Replaced is the epsilon of the same noise if neighbouring tables differ in a row with other values. Epsilon is
	// for a row of zeros. [privacy.Replacement] covers training rows, held-out rows, which take less, and a row that
	// leaves one side for the other, which takes twice the rho.
	Replaced float64 `json:"epsilon_if_a_row_is_replaced"`
	// Coalition is the epsilon towards the coordinator and all parties but one together, which know their own noise.
	Coalition float64 `json:"epsilon_towards_all_but_one"`
	// Products and Cross are the standard deviations of the noise in the sums of products of two features, and of a
	// feature and a target. The unit is a product in which the features of a row have length 1.
	Products float64 `json:"noise_of_products"`
	Cross    float64 `json:"noise_of_targets"`
	Alpha    float64 `json:"alpha"` // the ridge for this noise, in the unit of Products
	// Deviations holds the standard deviations that the noise gives to metrics.
	Deviations map[string]float64 `json:"metric_deviations"`
}

// NewFigures returns the figures of guarantee g. The argument of says how many members add noise. The caller sets the
// fields about the size of the noise.
func NewFigures(g privacy.Guarantee, of privacy.Summands) *Figures {
	rho := g.Rho()
	return &Figures{
		Epsilon: g.Epsilon, Delta: g.Delta, Rho: rho,
		Replaced: epsilonOf(privacy.Replacement*rho, g.Delta), Coalition: epsilonOf(float64(of.Honest)*rho, g.Delta),
	}
}

// epsilonOf is [privacy.Epsilon] for every rho above 0. Beyond its limits, which hundreds of
// members reach, the standard conversion gives a number, if a larger one: a result cannot hold
// infinity.
func epsilonOf(rho, delta float64) float64 {
	if rho > privacy.MostRho {
		return rho + 2*math.Sqrt(-rho*math.Log(delta))
	}
	return privacy.Epsilon(rho, delta)
}

// Unit says whom the guarantee protects, and how.
func (f *Figures) Unit() string {
	return fmt.Sprintf("Everything that the job releases of the rows has noise: whether or not one person's row has its values, the probability of any result changes by at most the factor exp(%g) = %.3g, but for a probability of %g (differential privacy; rho = %.4g). The unit is one person with one row, whose values are there or are zeros; the number of rows is public. If the row is replaced by another one, the same noise gives epsilon = %.3g.",
		f.Epsilon, math.Exp(f.Epsilon), f.Delta, f.Rho, f.Replaced)
}

// Repeated states the epsilon of one of several runs and of all together. Their rhos add up.
func (f *Figures) Repeated(runs int) string {
	return fmt.Sprintf("Each of the %d runs has drawn its own noise, and epsilon = %g holds for one run. The models and figures of all %d runs, if published, have epsilon = %.3g together (delta = %g).",
		runs, f.Epsilon, runs, epsilonOf(float64(runs)*f.Rho, f.Delta), f.Delta)
}

// Together states the guarantee towards members that combine their knowledge.
func (f *Figures) Together() string {
	return fmt.Sprintf("The guarantee holds towards the coordinator and towards each party alone. The coordinator and all parties but one together know the noise of these parties: towards them the last party's noise alone gives epsilon = %.3g. A party that adds no noise counts like one that reveals it.", f.Coalition)
}

// TowardsParties says to whom, besides the coordinator, the guarantee holds.
const TowardsParties = "The same guarantee holds towards each party alone, whatever it knows of other rows or makes up."

// Outside lists what the guarantee does not cover.
const Outside = "Outside of the guarantee are the numbers of training and held-out rows of each party; cells that the dictionary cannot read and ids that occur twice, for which a table is refused; releases of the same people without noise, in this table or another, which void it (mercer budget show names those that the ledger knows); and what the model says of everybody, whether or not they took part."

// text describes the noise and the ridge in one line.
func (f *Figures) text() string {
	return fmt.Sprintf("epsilon = %g, delta = %g for one person's row (%.3g if it is replaced by another); noise of standard deviation %.3g in each product of features and %.3g in each product with a target, of at most 1 a row; alpha %.4g, from the noise",
		f.Epsilon, f.Delta, f.Replaced, f.Products, f.Cross, f.Alpha)
}

// Text describes in one line the noise and the standard errors that it gives to the metrics.
func (f *Figures) Text() string {
	return strings.Join(append([]string{f.text()}, f.errors()...), "; ")
}

// errors returns, for each metric, a text with the standard error that the noise gives it.
func (f *Figures) errors() (list []string) {
	for _, name := range slices.Sorted(maps.Keys(f.Deviations)) {
		list = append(list, fmt.Sprintf("the noise gives %s a standard error of %.2g", name, f.Deviations[name]))
	}
	return list
}

// Notes returns a sentence about how exact the metrics are; none without metrics.
func (f *Figures) Notes() []string {
	list := f.errors()
	if len(list) == 0 {
		return nil
	}
	return []string{"Together, " + strings.Join(list, ", and ") + "."}
}

// Few returns a warning that the noise is strong for the given numbers of training rows and features, with advice. It
// returns "" if the rows outweigh the noise at least ten times. A feature's sum of squares is rows / features on
// average, and the noise changes it by about alpha, the ridge. Most features have less than the average.
func Few(rows, features int, alpha float64) string {
	of := float64(rows) / (alpha * float64(features))
	text, enough := "", round(10*alpha*float64(features))
	switch {
	case of < .1:
		text = "%d training rows are too few for this privacy: the noise outweighs them more than ten times. The model will hardly be better than guessing, so do not use it. From some %s rows on it is close to one without noise; fewer features or a larger epsilon help, too."
	case of < 1:
		text = "%d training rows are few for this privacy: the noise outweighs them, and takes much of the accuracy. From some %s rows on the model is close to one without noise; fewer features or a larger epsilon help, too."
	case of < 10:
		text = "with %d training rows this privacy may cost hundredths of accuracy. From some %s rows on it costs little; fewer features or a larger epsilon help, too."
	default:
		return ""
	}
	return fmt.Sprintf(text, rows, enough)
}

// Loose returns a warning that delta is so large that the guarantee can fail for somebody. It returns "" if delta is
// at most 0.1 divided by the number of training rows.
func Loose(rows int, delta float64) string {
	if most := .1 / float64(rows); delta > most {
		scale := math.Pow(10, math.Floor(math.Log10(most)))
		most = math.Floor(most/scale) * scale // so that the advice to write it is right
		return fmt.Sprintf("delta %g is much for %d training rows: a guarantee that fails with this probability allows to publish rows drawn at random. Write a delta of at most %.0e.", delta, rows, most)
	}
	return ""
}

// Warnings lists the warnings of [Few] and [Loose].
func Warnings(rows, features int, alpha, delta float64) []string {
	said := []string{Few(rows, features, alpha), Loose(rows, delta)}
	return slices.DeleteFunc(said, func(text string) bool { return text == "" })
}

// round rounds a number of rows up to one significant digit, and writes it.
func round(rows float64) string {
	scale := math.Pow(10, math.Floor(math.Log10(rows)))
	return fmt.Sprintf("%.0f", math.Ceil(rows/scale)*scale)
}
