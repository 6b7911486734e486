package routing

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func shapes(t *testing.T) Shapes {
	data, err := measured(ShapesFile)
	require.NoError(t, err)
	s, err := ParseShapes(ShapesFile, data)
	require.NoError(t, err)
	return s
}

func TestModelsAreFoundByTheNamesThatUsersType(t *testing.T) {
	s := shapes(t)
	for name, want := range map[string][3]int{ // hidden, experts, top_k
		"deepseek-v3": {7168, 256, 8}, "DeepSeek-R1": {7168, 256, 8}, "deepseek_v4_pro": {7168, 384, 6},
		"deepseek-v4-flash": {4096, 256, 6}, "qwen3-235b-a22b": {4096, 128, 8}, "Qwen3 30B A3B": {2048, 128, 8},
		"kimi-k2": {7168, 384, 8}, "glm-4.5": {5120, 160, 8}, "glm-4.5-355b-a32b": {5120, 160, 8},
		"gpt-oss-120b": {2880, 128, 4}, "mixtral-8x7b": {4096, 8, 2}, "qwen3-next": {2048, 512, 10},
		"ling": {2048, 256, 8}, "bailing-moe-v2.5": {2048, 256, 8},
	} {
		shape, err := s.Model(name)
		require.NoError(t, err, name)
		assert.Equal(t, want, [3]int{shape.Hidden, shape.Experts, shape.TopK}, name)
	}
}

func TestAShapeHoldsWhatTheTableSays(t *testing.T) {
	shape, err := shapes(t).Model("deepseek-r1")
	require.NoError(t, err)
	assert.Equal(t, Shape{
		Names: []string{"deepseek-v3", "deepseek-r1"}, Hidden: 7168, Experts: 256, TopK: 8, Shared: 1, NGroup: 8, TopkGroup: 4,
		FP8BytesPerMsg: 7392, BF16BytesPerMsg: 14336,
	}, shape)
	kimi, err := shapes(t).Model("kimi-k2")
	require.NoError(t, err)
	assert.Equal(t, [2]int{1, 1}, [2]int{kimi.NGroup, kimi.TopkGroup}, "one group is no limit")
	gpt, err := shapes(t).Model("gpt-oss-20b")
	require.NoError(t, err)
	assert.Equal(t, []string{"fp8_dispatch_bytes_per_msg"}, gpt.Unknown, "2880 is not a multiple of 128")
}

func TestAModelOfUnknownShapeSaysWhatIsMissing(t *testing.T) {
	for name, want := range map[string]string{
		"dbrx":             "dbrx leaves out hidden;",
		"llama4-maverick":  "leaves out hidden and top_k;",
		"pangu-ultra-moe":  "pangu-ultra-moe-718b leaves out hidden;",
		"deepseek-v33":     `no model "deepseek-v33"; did you mean deepseek-v3?`,
		"qwen3":            "did you mean qwen3-235b-a22b or qwen3-30b-a3b or qwen3-next or qwen3-next-80b-a3b?",
		"gpt-oss":          "did you mean gpt-oss-120b or gpt-oss-20b?",
		"":                 `no model ""`,
		"misxtral-8x7b":    "did you mean mixtral-8x7b?",
		"deepseek-v4-fish": "did you mean deepseek-v4-flash?",
	} {
		_, err := shapes(t).Model(name)
		assert.ErrorContains(t, err, want, name)
	}
}

func TestABadShapeTableSaysWhere(t *testing.T) {
	header := "model,hidden,routed_experts,top_k,shared_experts,routing,fp8_dispatch_bytes_per_msg,bf16_bytes_per_msg\n"
	for text, want := range map[string]string{
		"model,hidden\nA,1\n":          `s.csv:1:1: no column "routing"`,
		header + "A,x,1,1,1,,1,1\n":    `s.csv:2:3: "x" is not a whole number from 0`,
		header + "A,1,1\n":             "s.csv:2:1: 3 fields for 8 columns",
		header + ",1,1,1,1,,1,1\n":     "s.csv:2:1: a model without a name",
		header + "# c\nA,1,-1,1,,,,\n": `s.csv:3:5: "-1" is not`,
	} {
		_, err := ParseShapes("s.csv", []byte(text))
		assert.ErrorContains(t, err, want, "%q", text)
	}
}

func TestAModelFillsWhatTheSpecLeavesOut(t *testing.T) {
	r := must(t, Spec{Kind: "moe_topk", Model: "mixtral-8x7b", Tokens: 10}, 4)
	assert.Len(t, r.ExpertLoad(), 8)
	assert.Equal(t, int64(4*10*2), r.Stats().Pairs)
	r = must(t, Spec{Kind: "moe_topk", Model: "mixtral-8x7b", TopK: 3, Tokens: 10}, 4)
	assert.Equal(t, int64(4*10*3), r.Stats().Pairs)
}
