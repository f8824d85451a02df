package bench

import (
	"bufio"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/dataset/prepare"
	"github.com/mercer-fl/mercer/internal/catalogue"
	"github.com/mercer-fl/mercer/internal/catalogue/query"
	"github.com/mercer-fl/mercer/internal/catalogue/snapshot"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	binding "github.com/mercer-fl/mercer/internal/method/moments"
	"github.com/mercer-fl/mercer/internal/method/rows"
	"github.com/mercer-fl/mercer/kernel/feature"
	"github.com/mercer-fl/mercer/learn/moments"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/protocol"
)

// The table of the benchmark: float32 numbers in parquet shards, with a label of two classes.
const (
	streamColumns  = 20
	streamFeatures = 256
	streamShards   = 10
	textRows       = 100_000 // largest number of rows that are also read from CSV and SQLite
	MinStreamRows  = 10_000
	MaxStreamRows  = moments.MaxRows
)

// streamJob is the job whose passes are measured.
const streamJob = `apiVersion: mercer/v1
kind: Job
metadata: {name: stream}
spec:
  data: {source: shards, label: label, partition: {parties: [north, south]}, test: {fraction: 0.25}, scale: none}
  protocol: {name: moments, directions: 256, classes: ["0", "1"]}
  kernel: {name: rbf, gamma: 0.01}
  learner: {name: ridge-classifier}
  compare: []
`

// Stream returns a benchmark of a party of protocol moments whose table is never in memory as a
// whole. It writes shards into a folder, which the caller removes, and measures the party's three
// passes on one core: held-out rows and counts, sums, and errors on held-out rows. It compares the
// second pass with the rate of multiply-adds, and adds the sums up once more, shard by shard in
// other blocks; if they differ, that is an error. It also measures how fast a CSV text, a query of SQLite
// and the query's sorted snapshot are read.
func Stream(reader *job.Reader, folder string, rows int) Benchmark {
	return Benchmark{cases: []scene{{fmt.Sprintf("%d rows", rows), func(ctx context.Context) (race, error) {
		s := &streamed{folder: folder, rows: rows}
		if err := s.prepare(ctx, reader); err != nil {
			return race{}, err
		}
		return s.race(), nil
	}}}}
}

// streamed is a table in shards and the results of the passes over it.
type streamed struct {
	folder   string
	rows     int
	job      *job.Job
	features feature.Mapping
	party    *rows.Party
	sums     *moments.Partial
	solution []byte
	peak     float64 // largest peak of memory of the passes, in bytes
	loop     float64 // operations of the loop of multiply-adds
}

func (s *streamed) prepare(ctx context.Context, reader *job.Reader) (err error) {
	if s.job, err = reader.Parse("bench.yaml", []byte(streamJob)); err != nil {
		return err
	}
	if s.features, err = binding.Directions(s.job, protocol.SessionID{1}, streamFeatures, streamColumns); err != nil {
		return err
	}
	if err := s.writeShards(ctx); err != nil {
		return err
	}
	if err := s.writeText(); err != nil {
		return err
	}
	return s.writeDatabase(ctx)
}

func (s *streamed) writeShards(ctx context.Context) error {
	for shard := range streamShards {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := s.writeShard(shard); err != nil {
			return err
		}
	}
	return nil
}

func (s *streamed) path(name string) string { return filepath.Join(s.folder, name) }

func shardName(shard int) string { return fmt.Sprintf("shard-%d.parquet", shard) }

// shardRows returns the number of rows of a shard.
func (s *streamed) shardRows(shard int) int {
	return (shard+1)*s.rows/streamShards - shard*s.rows/streamShards
}

func columnNames() []string {
	var names []string
	for j := range streamColumns {
		names = append(names, "x"+strconv.Itoa(j))
	}
	return append(names, "label")
}

// generate draws rows. The label depends on the first columns, and on noise.
func generate(r *rand.Rand, values []float32, labels []int32) {
	for i := range labels {
		row := values[i*streamColumns:][:streamColumns]
		for j := range row {
			row[j] = float32(r.NormFloat64())
		}
		labels[i] = 0
		if row[0]*row[1]+row[2]+float32(r.NormFloat64())/2 > 0 {
			labels[i] = 1
		}
	}
}

// groupRows is the number of rows of a row group of the shards.
const groupRows = 1 << 16

// writeShard writes a shard. Shards of the same number and the same length have equal rows.
func (s *streamed) writeShard(shard int) (err error) {
	f, err := os.Create(s.path(shardName(shard)))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	w := bufio.NewWriter(f)
	p := newParquetFile(w, columnNames())
	r := rand.New(rand.NewPCG(1, uint64(shard)))
	values, labels := make([]float32, groupRows*streamColumns), make([]int32, groupRows)
	for left := s.shardRows(shard); left > 0; left -= groupRows {
		n := min(left, groupRows)
		generate(r, values[:n*streamColumns], labels[:n])
		p.group(values[:n*streamColumns], labels[:n])
	}
	return errors.Join(p.finish(), w.Flush())
}

// textTable returns the rows of the CSV text and of the database. They are drawn like those of the first shard,
// which can have fewer.
func (s *streamed) textTable() (values []float32, labels []int32) {
	n := min(textRows, s.rows)
	values, labels = make([]float32, n*streamColumns), make([]int32, n)
	generate(rand.New(rand.NewPCG(1, 0)), values, labels)
	return values, labels
}

func (s *streamed) writeText() (err error) {
	f, err := os.Create(s.path("table.csv"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	w := bufio.NewWriter(f)
	_, err = fmt.Fprintln(w, strings.Join(columnNames(), ","))
	values, labels := s.textTable()
	var line []byte
	for i, label := range labels {
		line = line[:0]
		for _, v := range values[i*streamColumns:][:streamColumns] {
			line = append(strconv.AppendFloat(line, float64(v), 'g', -1, 64), ',')
		}
		line = append(strconv.AppendInt(line, int64(label), 10), '\n')
		_, more := w.Write(line)
		err = errors.Join(err, more)
	}
	return errors.Join(err, w.Flush())
}

func (s *streamed) writeDatabase(ctx context.Context) (err error) {
	db, err := sql.Open("sqlite", s.path("table.db"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	names := columnNames()
	if _, err := db.ExecContext(ctx, "CREATE TABLE t ("+strings.Join(names, " REAL, ")+" INTEGER)"); err != nil {
		return err
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	insert, err := tx.PrepareContext(ctx, "INSERT INTO t VALUES (?"+strings.Repeat(", ?", streamColumns)+")")
	if err != nil {
		return errors.Join(err, tx.Rollback())
	}
	values, labels := s.textTable()
	row := make([]any, len(names))
	for i, label := range labels {
		for j, v := range values[i*streamColumns:][:streamColumns] {
			row[j] = float64(v)
		}
		row[streamColumns] = label
		if _, err := insert.ExecContext(ctx, row...); err != nil {
			return errors.Join(err, tx.Rollback())
		}
	}
	return errors.Join(insert.Close(), tx.Commit())
}

// table returns the table in the given files, in blocks of some rows.
func (s *streamed) table(pattern string, blockRows int) method.Stream {
	return func() (method.StreamReader, error) {
		return catalogue.New("").Blocks(s.path(pattern), catalogue.Columns{Label: "label", ID: "none"}, blockRows)
	}
}

// alone runs work on one core, because small products gain little from a second one.
func alone(work func() error) (err error) {
	onCores(1, func() { err = work() })
	return err
}

// pass measures the peak of memory of a pass.
func (s *streamed) pass(work func() error) run {
	return func(context.Context) error {
		if err := resetPeak(); err != nil {
			return err
		}
		if err := alone(work); err != nil {
			return err
		}
		peak, err := peakMemory()
		s.peak = max(s.peak, peak)
		return err
	}
}

func (s *streamed) race() race {
	const calls = 100 // number of calls of Syrk
	product := task{}
	panel, gram := noise[float64](streamFeatures, dataset.BlockRows, 1), linalg.New[float64](streamFeatures, streamFeatures)
	product.flops = calls * float64(streamFeatures) * (streamFeatures + 1) * dataset.BlockRows
	path := linalg.Paths()[0]
	turns := int(product.flops/linalg.FMA[float64](path, 1, 1)) + 1
	return race{
		runs: []run{
			pure(func() { onCores(1, func() { s.loop = linalg.FMA[float64](path, 1, turns) }) }),
			pure(func() {
				onCores(1, func() {
					for range calls {
						linalg.Syrk(gram, panel)
					}
				})
			}),
			s.pass(s.first), s.pass(s.second), s.pass(s.third), s.pass(s.inOtherBlocks),
			func(context.Context) error {
				return alone(func() error { return s.count(s.table("table.csv", dataset.BlockRows)) })
			},
			func(ctx context.Context) error { return alone(func() error { return s.query(ctx) }) },
			func(ctx context.Context) error { return alone(func() error { return s.snapshot(ctx) }) },
		},
		rows: func(best []span) []Row { return s.figures(best, product.flops) },
	}
}

// first holds rows out and counts them.
func (s *streamed) first() error {
	c := method.Instance{Job: s.job, Coordinator: "coordinator", Parties: s.job.Parties(), Limits: method.DefaultLimits()}
	p, err := rows.Of(c, "north", method.Table{Stream: s.table("shard-*.parquet", dataset.BlockRows), Key: dataset.SplitKey{1}})
	if err != nil {
		return err
	}
	s.party = p
	return p.CheckLimits()
}

// second adds up the sums.
func (s *streamed) second() (err error) {
	shard, _ := s.party.Shard()
	s.sums, err = binding.SumShard(s.job, s.features, shard)
	return err
}

// third learns from the sums of the one party, and measures the held-out rows.
func (s *streamed) third() (err error) {
	if s.solution, err = binding.Learn(context.Background(), s.job, s.sums.Sums()); err != nil {
		return err
	}
	shard, _ := s.party.Shard()
	held, err := binding.MeasureShard(s.job, s.features, s.solution, shard)
	switch {
	case err != nil:
		return err
	case held.Rows != s.party.Count(true):
		return fmt.Errorf("the third pass measured %d held-out rows; the party holds out %d", held.Rows, s.party.Count(true))
	case held.Figures[0] <= int64(held.Rows/2):
		return fmt.Errorf("the model predicts only %d of %d held-out rows correctly; more than half must be correct", held.Figures[0], held.Rows)
	}
	return nil
}

// inOtherBlocks adds the sums up shard by shard, in blocks of a thousand rows.
func (s *streamed) inOtherBlocks() error {
	whole, _ := s.party.Shard()
	all, before := moments.NewPartial(streamFeatures, 2), 0
	for k := range streamShards {
		part := rows.Shard{Name: shardName(k), Table: s.table(shardName(k), 1000), Count: s.shardRows(k), Form: whole.Form}
		for i := range part.Count {
			if whole.Held.Has(before + i) {
				part.Held.Set(i)
			}
		}
		before += part.Count
		sums, err := binding.SumShard(s.job, s.features, part)
		if err != nil {
			return err
		}
		if err := all.Merge(sums); err != nil {
			return err
		}
	}
	if digestOf(all) != digestOf(s.sums) {
		return errors.New("ten shards in blocks of 1,000 rows give other sums than the whole table in blocks of 2,048")
	}
	return nil
}

// digestOf returns the first 48 bits of a digest of sums. A float64 holds them exactly.
func digestOf(p *moments.Partial) float64 {
	h := sha256.New()
	for _, v := range slices.Concat(p.Outer, p.Cross, []int64{int64(p.Rows)}) {
		_ = binary.Write(h, binary.LittleEndian, v) // a hash returns no error
	}
	return float64(binary.BigEndian.Uint64(h.Sum(nil)) >> 16)
}

// count reads a table in blocks.
func (s *streamed) count(table method.Stream) error {
	n, err := table.Each(func(int, *dataset.Set) error { return nil })
	if err == nil && n != min(textRows, s.rows) {
		err = fmt.Errorf("%d rows were read of %d", n, min(textRows, s.rows))
	}
	return err
}

// recordBlocks reads rows of text in blocks.
type recordBlocks struct {
	*prepare.Blocks
	io.Closer
}

func inBlocks(from query.Rows) (method.StreamReader, error) {
	b, err := prepare.OpenBlocks(from, prepare.Table{Name: "table", Label: "label"}, dataset.BlockRows)
	if err != nil {
		return nil, errors.Join(err, from.Close())
	}
	return recordBlocks{b, from}, nil
}

func (s *streamed) open(ctx context.Context) (query.Rows, error) {
	return query.Query{SQLite: s.path("table.db"), Text: "SELECT * FROM t", Timeout: time.Hour, MaxBytes: 1 << 40}.Open(ctx)
}

func (s *streamed) query(ctx context.Context) error {
	return s.count(func() (method.StreamReader, error) {
		from, err := s.open(ctx)
		if err != nil {
			return nil, err
		}
		return inBlocks(from)
	})
}

// snapshot sorts the rows of the query into a snapshot, as a job does, and reads the snapshot in blocks.
func (s *streamed) snapshot(ctx context.Context) error {
	from, err := s.open(ctx)
	if err != nil {
		return err
	}
	store := new(snapshot.Memory)
	if err := errors.Join(snapshot.Write(store, from, []string{"x0"}), from.Close()); err != nil {
		return err
	}
	return s.count(func() (method.StreamReader, error) {
		from, err := snapshot.Read(store)
		if err != nil {
			return nil, err
		}
		return inBlocks(from)
	})
}

// Targets of the passes: the least share of the rate of multiply-adds, the least rows in a CPU
// second, and the largest memory in MB, to which each row of the table adds a byte.
const (
	sumsShare    = .23
	passesRate   = 120_000
	passesMemory = 150
)

func (s *streamed) figures(best []span, flops float64) []Row {
	perRow := float64(streamFeatures) * (streamFeatures + 1)
	limit := s.loop / best[0].cpu / perRow * float64(s.rows) / float64(s.party.Count(false)) // rows of the table: held-out rows cost no products
	rate := func(n int, spans ...span) float64 {
		var cpu float64
		for _, s := range spans {
			cpu += s.cpu
		}
		return float64(n) / cpu
	}
	const unit = "rows/CPU s"
	few := min(textRows, s.rows)
	all := figure("all three passes", rate(s.rows, best[2:5]...), unit)
	return []Row{
		figure(fmt.Sprintf("syrk %dx%dx%d, 1 core", streamFeatures, streamFeatures, dataset.BlockRows), flops/best[1].cpu/1e9, "GFLOP/CPU s").beside("multiply-adds in registers", s.loop/best[0].cpu/1e9),
		figure("pass 1, held-out rows and counts", rate(s.rows, best[2]), unit),
		figure("pass 2, sums", rate(s.rows, best[3]), unit).beside("multiply-adds of the products alone", limit).atLeast(sumsShare),
		figure("pass 2, ten shards, blocks of 1,000", rate(s.rows, best[5]), unit),
		figure("pass 3, errors on held-out rows", rate(s.rows, best[4]), unit),
		all.judged(valueAtLeast, passesRate, all.Value >= passesRate),
		figure("largest memory of the passes", s.peak/1e6, "MB").within(passesMemory + float64(s.rows)/1e6),
		figure("CSV text", rate(few, best[6]), unit),
		figure("query of SQLite", rate(few, best[7]), unit),
		figure("query, sorted snapshot, reading", rate(few, best[8]), unit),
		figure("digest of the sums, 48 bits", digestOf(s.sums), ""),
	}
}
