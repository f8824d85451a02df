package okra

import (
	"cmp"
	"fmt"

	"github.com/mercer-fl/mercer/protocol"
)

// Facts holds the properties of a job on which its leakage depends.
type Facts struct {
	Parties   int
	TotalRows int
	// Features is the number of features, or 0 if the readers of the leakage statement must not
	// learn it. It is 0 only while rows are fewer than features.
	Features int
	// Dependent reports that some rows depend on the others: the rows outnumber the features that
	// vary. It matters only while rows do not outnumber features.
	Dependent bool
	Grid      bool   // every feature that varies has all its values on a grid; see Input
	Mixed     bool   // some features hold values on a grid and others do not
	Encoder   string // Hadamard, Haar, HBH, Flake or Block
	// BlockWidth is the width of encoder block; 0 stands for the default.
	BlockWidth int
	Mode       string // mode of encoder flake: Hardened or Paper
	Labels     bool   // the rows have labels
}

// Sentences of the statement that say who can reconstruct rows.
const (
	onGrid           = "All values are steps of a grid (whole numbers, counts, codes, decimals of few digits; scaled or not)"
	latticeGives     = "the server can compute every feature of every row, up to the order of the features and sign, by a known attack (lattice reduction), without knowing any row."
	fromProducts     = " From the inner products of all rows (the Gram matrix) alone, " + latticeGives
	mixedReads       = "Some features hold steps of a grid (whole numbers, counts, codes) and others do not. If the others are few, a known attack (lattice reduction) on the inner products of all rows (the Gram matrix) recovers the features on the grid without knowing any row"
	kinReads         = "From the inner products of all rows (the Gram matrix) and public rows of the same kind it reconstructs the rows approximately, even if it knows none of them, on any grid or none, and with fewer rows than features."
	partyReceives    = "The protocol itself gives it nothing that depends on another party's values."
	constantsRead    = onGrid + ", and the rows outnumber the features that vary, although not all features." + fromProducts
	blocksRead       = onGrid + ", and the rows outnumber the features of a block. From the inner products of the rows in each block, which it has, " + latticeGives
	coalitionDecodes = "One party together with the server decodes every row of every party, because all encode under one seed."
)

// latticeTried is the largest number of features for which the lattice attack has been carried out.
const latticeTried = 100

// Leakage returns sentences that describe what each role learns in this job beyond its own data and
// the result. The keys are "server", "party", "coalition" and "broker".
func Leakage(f Facts) map[string][]string {
	return map[string][]string{
		"server":    serverLeakage(f),
		"party":     partyLeakage(f),
		"coalition": coalitionLeakage(),
		"broker": {
			"The broker sees who sends to whom, when and how much. From the amounts it can compute every party's number of rows and the encoded width. It sees no content: messages are sealed end to end.",
		},
	}
}

// Exposures returns how much of the rows of others each role can reconstruct. The keys and sentences
// also occur in [Leakage]. The broker, who reads no rows, has no entry.
func Exposures(f Facts) map[string]protocol.Exposure {
	return map[string]protocol.Exposure{
		"server":    serverExposure(f),
		"party":     {Reach: protocol.ReachNone, Why: partyReceives},
		"coalition": {Reach: protocol.ReachAll, Why: coalitionDecodes},
	}
}

func serverExposure(f Facts) protocol.Exposure {
	switch {
	case f.Mixed:
		return protocol.Exposure{Reach: protocol.ReachPart, Why: mixedReads}
	case f.Grid && !f.rowsAtMostFeatures():
		return protocol.Exposure{Reach: protocol.ReachAll, Why: f.latticeReads()}
	case f.readsConstants():
		return protocol.Exposure{Reach: protocol.ReachAll, Why: constantsRead}
	case f.readsBlocks():
		return protocol.Exposure{Reach: protocol.ReachAll, Why: blocksRead}
	}
	return protocol.Exposure{Reach: protocol.ReachPart, Why: kinReads}
}

func serverLeakage(f Facts) []string {
	lines := []string{
		"The server learns how many rows each party has and which of them are held out.",
	}
	if f.Labels {
		lines = append(lines, "It learns the label of every row, held-out rows included.")
	}
	lines = append(lines,
		fmt.Sprintf("It learns the complete linear Gram matrix of all %d rows: norms, distances, duplicates, clusters and outliers, and whether two parties hold the same row. The matrix gives every kernel, not only the agreed one.", f.TotalRows),
		latticeLeakage(f),
		knownRowsLeakage(f),
		kinLeakage(f),
		separationLeakage(f),
		widthLeakage(f))
	return append(lines, encoderLeakage(f)...)
}

func latticeLeakage(f Facts) string {
	switch {
	case f.Mixed:
		return mixedReads + ": beside one feature off the grid it has read all 61 pixels that vary in the bundled digits, beside three 28 to 61, beside ten about 11. Do not rely on features off the grid for protection."
	case !f.Grid:
		return "The parties state that their values are on no grid, so lattice reduction of the Gram matrix does not apply. It would apply to integers, counts, one-hot codes or pixels, scaled or not."
	case f.readsConstants():
		return constantsRead
	case f.rowsAtMostFeatures():
		return fmt.Sprintf("These rows hold values on a grid but do not outnumber the features (%s), as the lattice attack requires (it needs no known row). Features that are the same in all rows do not count: of the bundled digits, 52 rows give all 51 pixels that vary, out of 64. Two rows that differ by one step of one feature expose that feature.", f.comparison())
	}
	line := f.latticeReads() + " The attack has been carried out on the bundled digits. In about a second it reads all 61 pixels that vary, on either wire, whether they share a step or each has been scaled by its own range or deviation."
	if f.Features > latticeTried {
		line += fmt.Sprintf(" It has been tried on up to about %d features; assume that it works on %d too.", latticeTried, f.Features)
	}
	return line
}

// latticeReads describes what lattice reduction gives the server.
func (f Facts) latticeReads() string {
	return fmt.Sprintf(onGrid+", and the rows outnumber the features (%d > %d)."+fromProducts, f.TotalRows, f.Features)
}

func knownRowsLeakage(f Facts) string {
	features := "features"
	if f.Features > 0 {
		features = fmt.Sprintf("features (%d)", f.Features)
	}
	return fmt.Sprintf("From p rows that the server knows from elsewhere it computes the projection of every other row onto their span. It learns everything once p independent rows are as many as %s, and much sooner if rows resemble each other (60 known 8x8 digits give the others to 3.5 %%). No isometric encoding prevents this.", features)
}

// kinLeakage describes the attack that uses public rows of the same kind as the parties' rows
// (TestAttackPublicRowsOfTheSameKind and TestAttackPublicRowsWithoutLabels).
func kinLeakage(f Facts) string {
	measured := "89 % of the variance of 200 bundled digits, 59 % of 40 digits of 64 pixels, 86 % of 280 standardised tumours"
	if !f.Labels {
		measured = "from the Gram matrix alone 54 % of the variance of 200 bundled digits, and 85 % of 280 standardised tumours"
	}
	return fmt.Sprintf(kinReads+" Measured: %s. No isometric encoding prevents this.", measured)
}

// rowsAtMostFeatures reports whether there are at most as many rows as features, or the number of
// features is secret.
func (f Facts) rowsAtMostFeatures() bool { return f.Features == 0 || f.TotalRows <= f.Features }

// readsConstants reports whether the lattice attack succeeds because some features never vary.
func (f Facts) readsConstants() bool {
	return f.Grid && f.rowsAtMostFeatures() && f.Dependent
}

// readsBlocks reports whether the lattice attack succeeds on single blocks of encoder block. One of several
// blocks can be as narrow as three quarters of the encoder's width, less 3 features.
func (f Facts) readsBlocks() bool {
	return f.Encoder == Block && f.Grid && f.TotalRows > 3*f.blockWidth()/4-3
}

// blockWidth returns the width of encoder block.
func (f Facts) blockWidth() int { return cmp.Or(f.BlockWidth, defaultBlockWidth) }

// comparison returns a text that compares the numbers of rows and features, such as "1200 <=
// 36608". It leaves out the number of features if that is secret.
func (f Facts) comparison() string {
	if f.Features == 0 {
		return fmt.Sprintf("there are %d rows", f.TotalRows)
	}
	return fmt.Sprintf("%d <= %d", f.TotalRows, f.Features)
}

func separationLeakage(f Facts) string {
	if f.rowsAtMostFeatures() {
		return fmt.Sprintf("Blind source separation, which recovers independent features without any known row, fails while rows do not outnumber features (%s).", f.comparison())
	}
	return fmt.Sprintf("The rows outnumber the features (%d > %d): blind source separation can recover features that are statistically independent and not Gaussian, without any known row and on any grid or none. More rows make it more accurate.", f.TotalRows, f.Features)
}

func widthLeakage(f Facts) string {
	switch {
	case f.Encoder == Block && f.Features == 0 && f.TotalRows > 2*maxBlockWidth:
		return fmt.Sprintf("It learns the number of features: the ranks of the blocks give it as soon as rows outnumber the coordinates of a block, about %d.", f.blockWidth())
	case f.Features == 0:
		return "It learns the encoded width, which gives the number of features to within about an eighth. The exact number is hidden only while rows are fewer than features."
	case f.TotalRows >= f.Features:
		return fmt.Sprintf("It learns the number of features (%d), as the rank of the encoded rows, unless some features depend linearly on others.", f.Features)
	case f.Encoder == Block && f.TotalRows > 2*maxBlockWidth:
		return fmt.Sprintf("It learns the number of features (%d): the ranks of the blocks give it as soon as rows outnumber the coordinates of a block, about %d.", f.Features, f.blockWidth())
	}
	width := f.Features + Padding(max(1, f.Features))
	return fmt.Sprintf("It learns the encoded width (%d), which gives the number of features to within about an eighth. The exact number is hidden only while rows are fewer than features.", width)
}

func encoderLeakage(f Facts) []string {
	switch f.Encoder {
	case Block:
		return blockLeakage(f)
	case Flake:
		return []string{flakeLeakage(f)}
	case Haar:
		return []string{"Encoder haar adds nothing to this: the distribution of the encoded rows depends on the rows only through their Gram matrix."}
	}
	return []string{"Encoder " + f.Encoder + " is not known to add anything to this, but that is heuristic: only encoder haar has a proof."}
}

// flakeLeakage describes what encoder flake reveals: in mode paper the sums of the rows, in mode
// hardened nothing.
func flakeLeakage(f Facts) string {
	if f.Mode == Paper {
		return "Encoder flake in mode paper draws its matrix from numbers between 0 and 1, whose mean is a direction that everybody knows: the sum of an encoded row gives the server the sum of the row's features, which the Gram matrix does not give. Mode hardened draws from a normal distribution and adds nothing."
	}
	return "Encoder flake in mode hardened adds nothing to this: its matrix is uniformly random, so the distribution of the encoded rows depends on the rows only through their Gram matrix."
}

// blockLeakage describes the attacks that encoder block permits in a job.
func blockLeakage(f Facts) []string {
	lines := []string{fmt.Sprintf("Encoder block is the paper's (mode: paper), for reproduction only: besides all this the server learns the Gram matrix of every block of about %d features. Unequal variances of the features show which coordinates form a block, although they are permuted.", f.blockWidth())}
	if f.readsBlocks() {
		lines = append(lines, blocksRead)
	}
	if f.TotalRows <= f.blockWidth() {
		return append(lines, "There are no more rows than a block has features on average, so known rows do not decode the others exactly; they would with more rows under the same seed.")
	}
	return append(lines,
		"Attack by known rows: about 110 of them decode every other row exactly, whatever the number of features. Encoders hadamard and haar resist until there are as many known rows as features.",
		"Attack without known rows: blind source separation recovers independent features as soon as rows greatly outnumber the features of a block, not all features.")
}

func partyLeakage(f Facts) []string {
	lines := []string{
		"A party learns who takes part, the epoch's seed, which all parties share, and the total number of rows. " + partyReceives,
	}
	if f.Parties == 2 {
		lines = append(lines, "With two parties, the total gives each the other's number of rows.")
	}
	return append(lines, "Every party receives the leader's number of features.")
}

func coalitionLeakage() []string {
	return []string{
		coalitionDecodes + " So does the server with one sock puppet among the parties, a stolen seed, or a former party that kept it. Therefore every operator approves every fingerprint, and no seed is ever stored on the server's host.",
		"By the protocol itself, parties without the server learn nothing about the others' rows except their number.",
	}
}
