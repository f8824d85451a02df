package job

import (
	"slices"

	"github.com/mercer-fl/mercer/internal/job/section"
)

// Protocol names a protocol and its parameters. Those that the protocol does
// not use are zero.
type Protocol struct {
	Name    ProtocolName
	Encoder Encoder
	Wire    Wire
	Mode    Mode
	Rounds  int // of the hadamard encoder; of FedCFK's mode paper
	// Of moments. Directions is the number of random features, cosines and sines
	// of half as many directions; 0: a twentieth of all training rows.
	Directions int
	// MaxIDs is how many ids each holder of columns may bring to the alignment: so
	// many it can look for in the others' tables.
	MaxIDs  int
	Classes []string   // ridge-classifier: all classes, in the order of the decisions
	Targets [2]float64 // ridge and gp: the least and the greatest that a label may be
	// Deviations of a Gaussian process are measured and kept with the model. They
	// take the sums of products of features, which every party is told then.
	Deviations bool

	// Of a crowd: see protocol/secagg, and stage.Crowd for the last two, which are
	// FedCFK's.
	Adversary Adversary
	Corrupted float64 // share of the clients that may work with the server
	Dropped   float64 // share of the clients that may vanish
	Threshold int     // least number of people who like an item that takes part
	Margin    Margin
	// Items is FedCFK's catalogue, in the order of the sums; nil: what the ratings
	// name, where one process has them all.
	Items []string

	// Of FedCFK's mode paper.
	Participation float64 // share of the people who take part in a round
	Decoys        int     // other items that a device asks for beside each liked one
	Omitted       float64 // share of the liked items that a request leaves out

	// Of secvm: see protocol/secvm.
	Bins        int // of hashed features
	Hashes      int // bins that one feature falls into
	Packages    int // that every device sends in each window, or could
	Cohort      int // fewest participants for a step
	Aggregation Aggregation

	// Of fdskl, beside Directions: see protocol/fdskl.
	Training Training
	Bits     int // of a phase
	Tree     Tree
	Active   int // how many of the parties, the first ones, have the labels and learn
}

// ProtocolName names a protocol.
type ProtocolName string

// The protocols. PooledData has no privacy at all: everything is computed on
// the rows in one place. It exists for comparison, in simulate only.
const (
	OKRA       ProtocolName = "okra"
	Moments    ProtocolName = "moments"
	Gram       ProtocolName = "gram"
	PooledData ProtocolName = "pooled"
	FedCFK     ProtocolName = "fedcfk"
	SecVM      ProtocolName = "secvm"
	FDSKL      ProtocolName = "fdskl"
)

// Encoder names the isometry that OKRA's parties share.
type Encoder string

// The encoders. Block is the paper's, and open to the attacks of its own
// structure.
const (
	Hadamard Encoder = "hadamard"
	Haar     Encoder = "haar"
	Block    Encoder = "block"
)

// Wire is the type of the numbers that are sent; sums run in float64 anyway.
type Wire string

// The wire formats.
const (
	Float32 Wire = "float32"
	Float64 Wire = "float64"
)

// Mode says whose version of the protocol runs.
type Mode string

// Hardened carries the fixes of published flaws; Paper follows the paper to
// the letter, for reproduction.
const (
	Hardened Mode = "hardened"
	Paper    Mode = "paper"
)

// ProtocolNames returns all protocols, in the order of the documents.
func ProtocolNames() []ProtocolName {
	return []ProtocolName{OKRA, Moments, Gram, FDSKL, FedCFK, SecVM, PooledData}
}

func modes() []Mode { return []Mode{Hardened, Paper} }

// Bounds and default of the hadamard encoder's rounds. One round is void: the
// public transform undoes it.
const (
	minRounds     = 2
	maxRounds     = 16
	defaultRounds = 3
)

// Section declares the keys of all protocols.
func (p *Protocol) Section() *section.Section { return p.declare(nil) }

func (p *Protocol) declare(r *Reader) *section.Section {
	var known []ProtocolName
	if r != nil {
		known = r.Protocols
	}
	return &section.Section{Name: "protocol", Fields: []section.Field{
		{Key: "name", Value: section.Choice[ProtocolName]{Noun: "protocol", Dst: &p.Name, Known: known}, Need: "add name: okra",
			Doc: "The protocol."},
		{Key: "mode", Value: section.Choice[Mode]{Noun: "mode", Dst: &p.Mode, Known: modes()}, Else: "hardened",
			Doc: "Whose version of the protocol runs: with the fixes of published flaws, or to the letter of the paper."},
		{Key: "encoder", Value: section.Choice[Encoder]{Noun: "encoder", Dst: &p.Encoder, Known: []Encoder{Hadamard, Haar, Block}, Later: []Encoder{"hbh", "flake"}},
			Else: "hadamard; block in mode paper", Doc: "The isometry that the parties share."},
		{Key: "wire", Value: section.Choice[Wire]{Noun: "wire", Dst: &p.Wire, Known: []Wire{Float32, Float64}}, Else: "float32",
			Doc: "The type of the numbers that are sent."},
		{Key: "rounds", Value: section.Whole{Dst: &p.Rounds}, Else: "3 with encoder hadamard; 100 with fedcfk's mode paper",
			Doc: "The rounds of encoder hadamard, 2 to 16; of fedcfk's mode paper, 1 to 10000."},
		{Key: "adversary", Value: section.Choice[Adversary]{Noun: "adversary", Dst: &p.Adversary, Known: []Adversary{Active, SemiHonest}}, Else: "active",
			Doc: "The server that the clients withstand: one that lies to them, or one that follows the protocol."},
		{Key: "corrupted", Value: section.AlsoZero{Number: section.Number{Dst: &p.Corrupted}, Counts: p.sums}, Else: "0.05",
			Doc: "The share of the clients, below 1, that may work with the server."},
		{Key: "dropped", Value: section.AlsoZero{Number: section.Number{Dst: &p.Dropped}, Counts: p.sums}, Else: "0.1",
			Doc: "The share of the clients, below 1, that may vanish."},
		{Key: "threshold", Value: section.Whole{Dst: &p.Threshold}, Else: "10; none in mode paper",
			Doc: "The least number of people, 2 or more, who like an item that takes part."},
		{Key: "margin", Value: section.Choice[Margin]{Noun: "margin", Dst: &p.Margin, Known: []Margin{MarginCorrupted, MarginNone}}, Else: "corrupted; none in mode paper",
			Doc: "The people beside the threshold: as many as may be corrupted, or none."},
		{Key: "items", Value: section.Words{Dst: &p.Items, Most: MaxItems, Example: "[alien, brazil]"}, Else: "the items that the ratings name, in simulate",
			Doc: "The catalogue: all items there are, up to 8192, in the order of the sums."},
		{Key: "participation", Value: section.Number{Dst: &p.Participation}, Else: "0.1 in mode paper",
			Doc: "The share of the people, above 0 and up to 1, who take part in a round of mode paper."},
		{Key: "decoys", Value: section.Whole{Dst: &p.Decoys}, Else: "3 in mode paper",
			Doc: "The other items, 1 or more, that a device of mode paper asks for beside each liked one."},
		{Key: "omitted", Value: section.AlsoZero{Number: section.Number{Dst: &p.Omitted}, Counts: p.isPaperCrowd}, Else: "0.2 in mode paper",
			Doc: "The share of the liked items, below 1, that a request of mode paper leaves out."},
		{Key: "directions", Value: section.Whole{Dst: &p.Directions}, Else: "1024 with fdskl; with moments a twentieth of all training rows",
			Doc: "The number of random features: of moments, even and up to 4096; of fdskl, up to 1048576."},
		{Key: "max_ids", Value: section.Whole{Dst: &p.MaxIDs}, Else: "1048576",
			Doc: "The most ids, up to 4194304, that each holder of columns may bring to the alignment."},
		{Key: "classes", Value: section.Words{Dst: &p.Classes, Most: maxClasses, Example: "[ill, well]"}, Else: "none; ridge-classifier needs it",
			Doc: "All classes, up to 256, in the order of the decisions; of secvm two, the second is the positive one."},
		{Key: "targets", Value: section.Interval{Dst: &p.Targets}, Else: "none; ridge and gp need it", Doc: "The least and the greatest number that a label may be."},
		{Key: "deviations", Value: section.Yes{Dst: &p.Deviations}, Else: "false",
			Doc: "The deviations of a Gaussian process are measured, and kept with the model."},
		{Key: "bins", Value: section.Whole{Dst: &p.Bins}, Else: "16384", Doc: "The bins of hashed features, 1 or more."},
		{Key: "hashes", Value: section.Whole{Dst: &p.Hashes}, Else: "1", Doc: "The bins, 1 or more, that one feature falls into."},
		{Key: "packages", Value: section.Whole{Dst: &p.Packages}, Else: "64", Doc: "The packages, 1 or more, that every device sends in each window, or could."},
		{Key: "cohort", Value: section.Whole{Dst: &p.Cohort}, Else: "100", Doc: "The fewest participants of a step, 1 or more."},
		{Key: "aggregation", Value: section.Choice[Aggregation]{Noun: "aggregation", Dst: &p.Aggregation, Known: []Aggregation{AnonymousPackages, SecureSum}}, Else: "packages",
			Doc: "How the devices' contributions become a sum: by anonymous packages, or by a secure sum."},
		{Key: "training", Value: section.Choice[Training]{Noun: "training", Dst: &p.Training, Known: []Training{Cached, Faithful, Blocks, Precond}}, Else: "cached",
			Doc: "The order in which the label holder asks for phases: once for all, by single rows, by blocks, or by blocks with Newton's steps."},
		{Key: "bits", Value: section.Whole{Dst: &p.Bits}, Else: "16", Doc: "The bits of a phase: 8, 16 or 32."},
		{Key: "tree", Value: section.Choice[Tree]{Noun: "tree", Dst: &p.Tree, Known: []Tree{BinaryTree, StarTree, ChainTree}}, Else: "binary",
			Doc: "The shape in which phases are added up; mode paper has trees of its own."},
		{Key: "active", Value: section.Whole{Dst: &p.Active}, Else: "1",
			Doc: "How many of the parties, the first ones, have the labels and learn; several need training faithful."},
	}, Finish: p.finish}
}

// parameters returns the keys that a protocol takes, beside its name.
func (n ProtocolName) parameters() []string {
	switch n {
	case OKRA:
		return []string{"mode", "encoder", "wire", "rounds"}
	case Moments:
		return []string{"mode", "directions", "classes", "targets", "deviations"}
	case Gram:
		return []string{"mode", "max_ids"}
	case FDSKL:
		return append(fdsklKeys(), "mode", "directions", "max_ids")
	case FedCFK:
		return append(crowdKeys(), "mode")
	case SecVM:
		return append(slices.Concat(secvmKeys(), sumKeys()), "mode", "classes")
	}
	return nil
}

func (p *Protocol) finish(in *section.Place) error {
	for _, key := range slices.Concat([]string{"mode", "encoder", "wire", "directions", "max_ids", "classes", "targets", "deviations"}, crowdKeys(), secvmKeys(), fdsklKeys()) {
		if in.Given(key) && !slices.Contains(p.Name.parameters(), key) {
			return in.Refuse(key, "protocol %s has no %s; remove it", p.Name, key)
		}
	}
	switch p.Name {
	case FedCFK:
		return p.finishCrowd(in)
	case SecVM:
		return p.finishSecVM(in)
	case Moments:
		return p.finishMoments(in)
	case Gram:
		return p.finishGram(in)
	case FDSKL:
		return p.finishFDSKL(in)
	case PooledData:
		return nil
	}
	p.fill(in)
	switch {
	case p.Encoder == Block && p.Mode != Paper:
		return in.Refuse("encoder", "encoder block is the paper's and gives each block's Gram matrix away; use hadamard, or add mode: paper to reproduce the paper")
	case p.Mode == Paper && p.Encoder != Block:
		return in.Refuse("encoder", "mode paper has encoder block, not %s; remove one of the two", p.Encoder)
	case in.Given("rounds") && p.Encoder != Hadamard:
		return in.Refuse("rounds", "encoder %s has no rounds; remove them", p.Encoder)
	case p.Encoder == Hadamard && (p.Rounds < minRounds || p.Rounds > maxRounds):
		return in.Refuse("rounds", "rounds is %d; write %d to %d, since one round hides nothing", p.Rounds, minRounds, maxRounds)
	}
	return nil
}

// fill sets OKRA's defaults.
func (p *Protocol) fill(in *section.Place) {
	if p.Mode == "" {
		p.Mode = Hardened
	}
	if p.Wire == "" {
		p.Wire = Float32
	}
	if p.Encoder == "" && p.Mode == Paper {
		p.Encoder = Block
	}
	if p.Encoder == "" {
		p.Encoder = Hadamard
	}
	if p.Encoder == Hadamard && !in.Given("rounds") {
		p.Rounds = defaultRounds
	}
}
