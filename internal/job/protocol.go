package job

import "slices"

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

func protocolNames() []ProtocolName {
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

func (p *Protocol) section() *section {
	return &section{name: "protocol", fields: []field{
		{key: "name", value: choice[ProtocolName]{"protocol", &p.Name, protocolNames(), nil}, need: "add name: okra"},
		{key: "mode", value: choice[Mode]{"mode", &p.Mode, modes(), nil}},
		{key: "encoder", value: choice[Encoder]{"encoder", &p.Encoder, []Encoder{Hadamard, Haar, Block}, []Encoder{"hbh", "flake"}}},
		{key: "wire", value: choice[Wire]{"wire", &p.Wire, []Wire{Float32, Float64}, nil}},
		{key: "rounds", value: whole{&p.Rounds}},
		{key: "adversary", value: choice[Adversary]{"adversary", &p.Adversary, []Adversary{Active, SemiHonest}, nil}},
		{key: "corrupted", value: alsoZero{number{&p.Corrupted}, p.sums}},
		{key: "dropped", value: alsoZero{number{&p.Dropped}, p.sums}},
		{key: "threshold", value: whole{&p.Threshold}},
		{key: "margin", value: choice[Margin]{"margin", &p.Margin, []Margin{MarginCorrupted, MarginNone}, nil}},
		{key: "items", value: words{&p.Items, MaxItems, "[alien, brazil]"}},
		{key: "participation", value: number{&p.Participation}},
		{key: "decoys", value: whole{&p.Decoys}},
		{key: "omitted", value: alsoZero{number{&p.Omitted}, p.isPaperCrowd}},
		{key: "directions", value: whole{&p.Directions}},
		{key: "max_ids", value: whole{&p.MaxIDs}},
		{key: "classes", value: words{&p.Classes, maxClasses, "[ill, well]"}},
		{key: "targets", value: interval{&p.Targets}},
		{key: "deviations", value: yes{&p.Deviations}},
		{key: "bins", value: whole{&p.Bins}},
		{key: "hashes", value: whole{&p.Hashes}},
		{key: "packages", value: whole{&p.Packages}},
		{key: "cohort", value: whole{&p.Cohort}},
		{key: "aggregation", value: choice[Aggregation]{"aggregation", &p.Aggregation, []Aggregation{AnonymousPackages, SecureSum}, nil}},
		{key: "training", value: choice[Training]{"training", &p.Training, []Training{Cached, Faithful, Blocks, Precond}, nil}},
		{key: "bits", value: whole{&p.Bits}},
		{key: "tree", value: choice[Tree]{"tree", &p.Tree, []Tree{BinaryTree, StarTree, ChainTree}, nil}},
		{key: "active", value: whole{&p.Active}},
	}, finish: p.finish}
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

func (p *Protocol) finish(in *place) error {
	for _, key := range slices.Concat([]string{"mode", "encoder", "wire", "directions", "max_ids", "classes", "targets", "deviations"}, crowdKeys(), secvmKeys(), fdsklKeys()) {
		if in.given(key) && !slices.Contains(p.Name.parameters(), key) {
			return in.refuse(key, "protocol %s has no %s; remove it", p.Name, key)
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
		return in.refuse("encoder", "encoder block is the paper's and gives each block's Gram matrix away; use hadamard, or add mode: paper to reproduce the paper")
	case p.Mode == Paper && p.Encoder != Block:
		return in.refuse("encoder", "mode paper has encoder block, not %s; remove one of the two", p.Encoder)
	case in.given("rounds") && p.Encoder != Hadamard:
		return in.refuse("rounds", "encoder %s has no rounds; remove them", p.Encoder)
	case p.Encoder == Hadamard && (p.Rounds < minRounds || p.Rounds > maxRounds):
		return in.refuse("rounds", "rounds is %d; write %d to %d, since one round hides nothing", p.Rounds, minRounds, maxRounds)
	}
	return nil
}

// fill sets OKRA's defaults.
func (p *Protocol) fill(in *place) {
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
	if p.Encoder == Hadamard && !in.given("rounds") {
		p.Rounds = defaultRounds
	}
}
