package configs_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"pldperf/configs"
)

func TestEveryEmbeddedFileIsFoundByNameAndByPath(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, kind := range []string{configs.Machines, configs.Workloads, configs.Sweeps, configs.Measured, configs.Traffic} {
		names := configs.Names(kind)
		assert.True(t, slices.IsSorted(names))
		assert.NotContains(t, names, "README.md")
		for _, name := range names {
			file, data, err := configs.Read(kind, name)
			require.NoError(t, err)
			assert.NotEmpty(t, data)
			found, same, err := configs.Find("./" + file)
			require.NoError(t, err)
			assert.Equal(t, file, found)
			assert.Equal(t, data, same)
		}
	}
	assert.Contains(t, configs.Names(configs.Measured), "moe_model_shapes")
}

func TestEveryEmbeddedYAMLFileLoads(t *testing.T) {
	for _, kind := range []string{configs.Machines, configs.Workloads, configs.Sweeps} {
		for _, name := range configs.Names(kind) {
			_, err := configs.Preset(kind, name)
			assert.NoError(t, err)
		}
	}
}

func TestAFileOnDiskHidesAnEmbeddedOne(t *testing.T) {
	t.Chdir(t.TempDir())
	file, data, err := configs.Find("measured/moe_model_shapes.csv")
	require.NoError(t, err)
	assert.Equal(t, "configs/measured/moe_model_shapes.csv", file)
	require.NoError(t, os.Mkdir("measured", 0o755))
	require.NoError(t, os.WriteFile(filepath.Join("measured", "moe_model_shapes.csv"), []byte("mine"), 0o644))
	file, mine, err := configs.Find("measured/moe_model_shapes.csv")
	require.NoError(t, err)
	assert.Equal(t, "measured/moe_model_shapes.csv", file)
	assert.Equal(t, "mine", string(mine))
	assert.NotEqual(t, data, mine)
}

func TestAFileThatIsNotThereIsAnErrorWithTheNearestName(t *testing.T) {
	t.Chdir(t.TempDir())
	_, _, err := configs.Find("moe_model_shape.csv")
	assert.EqualError(t, err, `no file "moe_model_shape.csv" on disk and none built in; did you mean "moe_model_shapes"?`)
	_, _, err = configs.Find("qqqqqqqqqqqq")
	assert.EqualError(t, err, `no file "qqqqqqqqqqqq" on disk and none built in`)
	_, _, err = configs.Read(configs.Measured, "moe_model_shaeps")
	assert.EqualError(t, err, `no measured is called "moe_model_shaeps"; did you mean "moe_model_shapes"?`)
	_, _, err = configs.Read("machine", "x")
	assert.EqualError(t, err, `no kind of file is called "machine"; did you mean "machines"?`)
	_, err = configs.Preset("nothing", "x")
	assert.EqualError(t, err, `no kind of file is called "nothing"`)
	assert.Empty(t, configs.Names("nothing"))
}

func TestAPathThatCannotBeReadIsAnErrorNotAnEmbeddedFile(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.Mkdir("moe_model_shapes", 0o755))
	_, _, err := configs.Find("moe_model_shapes")
	assert.ErrorContains(t, err, "directory")
	_, _, err = configs.Find("/dev/zero")
	assert.EqualError(t, err, "/dev/zero: larger than 64 MiB")
}

func TestNearestFindsTheWordThatWasMeant(t *testing.T) {
	known := []string{"port", "rate", "core_num", "950dt-64", "950dt-72", "port_rate_gap"}
	for word, want := range map[string]string{
		"prot": "port", "RATE": "rate", "core-num": "core_num", "corenum": "core_num", "CoreNum": "core_num",
		"950dt": "950dt-64", "950dt72": "950dt-72", "rate_gap": "port_rate_gap", "raet": "rate",
		"latency": "", "": "", "x": "", "p": "", "é": "",
	} {
		assert.Equal(t, want, configs.Nearest(word, known), word)
	}
	assert.Empty(t, configs.Nearest("word", nil))
}
