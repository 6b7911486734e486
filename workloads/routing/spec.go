package routing

import "math"

// Where New asks its files function for the tables that a Spec names without a path of its own.
const (
	ShapesFile  = "measured/moe_model_shapes.csv"
	HotnessFile = "measured/moe_expert_hotness_empirical.csv"
)

// MaxRows bounds the index rows that one routing holds (4 bytes each), and with them the tokens and counts of a spec.
const MaxRows = 1 << 28

// A Spec describes a routing as a user writes it. A field that is zero or absent takes the default that its help names; a
// field that the kind does not read is an error.
type Spec struct {
	Kind string `yaml:"kind" enum:"uniform,random,explicit,moe_topk,skewed,matrix" help:"uniform: the same rows for every pair; random: 0 to rows for each pair; explicit: counts and index as written; moe_topk: top_k experts for each token; skewed: each token goes to one destination; matrix: rows or bytes from a CSV file"`
	Seed uint64 `yaml:"seed" help:"the routing is a function of this number and the spec"`

	Tokens   int `yaml:"tokens" min:"0" help:"Nmax, rows of input on each rank; default for uniform, random, explicit counts and matrix: the most that a rank sends"`
	Capacity int `yaml:"capacity" min:"0" help:"C, rows that one source may send to one destination; default: the largest count (explicit index: its longest row)"`

	Model     string `yaml:"model" when:"kind=moe_topk" help:"moe_topk: experts, top_k and groups of a known model, such as deepseek-v3; fields given here win"`
	Experts   int    `yaml:"experts" when:"kind=moe_topk" min:"0" help:"moe_topk: routed experts E, placed on the ranks in contiguous blocks that differ by at most one"`
	TopK      int    `yaml:"top_k" when:"kind=moe_topk" min:"0" help:"moe_topk: different experts drawn for each token"`
	NGroup    int    `yaml:"n_group" when:"kind=moe_topk" min:"0" help:"moe_topk: groups that the experts are cut into; default: the model's, else 1"`
	TopkGroup int    `yaml:"topk_group" when:"kind=moe_topk" min:"0" help:"moe_topk: groups that one token may use; default: the model's, else n_group"`

	Rows     int    `yaml:"rows" when:"kind=uniform|random" min:"0" help:"uniform: rows of each pair; random: the most rows of a pair"`
	SelfRows *int   `yaml:"self_rows" when:"kind=uniform|random" min:"0" help:"uniform, random: the same for the rows that a rank keeps; default: rows"`
	Pattern  string `yaml:"pattern" when:"kind=uniform|random|explicit|matrix" enum:"sequential,strided,repeated,random" help:"which input rows, where the kind does not say; sequential (default): one after another, destination after destination, as packed; strided: all rows too, but neighbours lie stride apart; repeated: each row repeat times; random: any rows, repeats included"`
	Stride   int    `yaml:"stride" when:"kind=uniform|random|explicit|matrix pattern=strided" min:"0" help:"pattern strided: rows from one index to the next; default 2"`
	Repeat   int    `yaml:"repeat" when:"kind=uniform|random|explicit|matrix pattern=repeated" min:"0" help:"pattern repeated: times that each row is sent; default 2"`

	Counts [][]int   `yaml:"counts" when:"kind=explicit" help:"explicit: send_counts, [source][destination]; illegal values pass through to the device"`
	Index  [][][]int `yaml:"index" when:"kind=explicit" help:"explicit: index rows, [source][destination]; at least count entries each, the tail may be -1; illegal values pass through; without it pattern applies"`

	Skew Skew `yaml:"skew" when:"kind=moe_topk|skewed" help:"moe_topk, skewed: how unequal experts or destinations are"`

	CSV   string `yaml:"csv" when:"kind=matrix" help:"matrix: the file; one line for each source, one number for each destination; # starts a comment; a header line may name the columns"`
	Unit  string `yaml:"unit" when:"kind=matrix" enum:"rows,bytes" help:"matrix: what the numbers count; default rows"`
	Round string `yaml:"round" when:"kind=matrix unit=bytes" enum:"error,up" help:"matrix of bytes: a number that is not a whole count of rows is an error (default) or rounded up"`
}

// A Skew makes some items (experts of moe_topk, destinations of skewed) likelier than others, alike for every source.
// none, zipf and hot give weights: a token draws its items one after another, each in proportion to its weight among those
// not yet drawn, so with top_k above 1 the loads are somewhat flatter than the weights. empirical gives loads over their
// mean; the weights are chosen so that the loads come out, within a per cent or two for top-8 of 256. Limits to groups bend
// them: with four of eight groups open, by up to a quarter.
type Skew struct {
	Kind     string  `yaml:"kind" enum:"none,zipf,hot,empirical" help:"none (default): all alike; zipf: the i-th heaviest weighs 1/i^exponent; hot: some weigh factor times the others; empirical: measured quantiles of expert load over its mean"`
	Exponent float64 `yaml:"exponent" when:"kind=zipf" min:"0" help:"zipf: 0 is all alike, 1 is the classic law"`
	Hot      []int   `yaml:"hot" when:"kind=hot" help:"hot: the experts or destinations, from 0"`
	Factor   float64 `yaml:"factor" when:"kind=hot" min:"0" help:"hot: their weight over that of another"`
	Order    string  `yaml:"order" when:"kind=zipf|empirical" enum:"shuffled,sorted" help:"zipf, empirical: who is heavy; shuffled (default): drawn from the seed; sorted: item 0 is heaviest, so that contiguous placement puts heavy ones together"`
	Table    string  `yaml:"table" when:"kind=empirical" help:"empirical: CSV file of quantile,hotness_over_mean; default: DeepSeek-R1 decode as measured"`
}

// orElse gives a field that was left out its default.
func orElse[T comparable](v, def T) T {
	var none T
	if v == none {
		return def
	}
	return v
}

// finite refuses the numbers that YAML can write and arithmetic cannot use.
func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }
