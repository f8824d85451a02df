package scale
import ("testing";"math/rand/v2")
func BenchmarkSummarize(b *testing.B){ for _,m:=range []Method{MinMax,Standard}{ b.Run(string(m),func(b *testing.B){x:=random(rand.New(rand.NewPCG(1,1)),2000,1000,0); b.SetBytes(int64(len(x.Data)*8)); for b.Loop(){ Summarize(x,m)}})}}
