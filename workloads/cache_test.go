package workloads

import (
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestACacheGivesBackWhatWasPutUnderTheSameKeyOnly(t *testing.T) {
	c, err := OpenCache(filepath.Join(t.TempDir(), "a", "b"))
	require.NoError(t, err)
	_, ok := c.Get([]byte("key"))
	assert.False(t, ok)
	require.NoError(t, c.Put([]byte("key"), []byte("one\ntwo")))
	data, ok := c.Get([]byte("key"))
	assert.True(t, ok)
	assert.Equal(t, "one\ntwo", string(data))
	_, ok = c.Get([]byte("key2"))
	assert.False(t, ok)

	other := &Cache{dir: c.dir, program: []byte("another program")}
	_, ok = other.Get([]byte("key"))
	assert.False(t, ok, "another program computes another result")
}

func TestADamagedEntryIsNoneAndIsWrittenAnew(t *testing.T) {
	c, err := OpenCache(t.TempDir())
	require.NoError(t, err)
	key, text := []byte("key"), `{"elapsed_ps": 1234}`
	require.NoError(t, c.Put(key, []byte(text)))
	whole, err := os.ReadFile(c.file(key))
	require.NoError(t, err)
	for n := range whole { // cut short, and a byte changed, at every place
		flipped := append([]byte(nil), whole...)
		flipped[n] ^= 1
		for _, bad := range [][]byte{whole[:n], flipped} {
			require.NoError(t, os.WriteFile(c.file(key), bad, 0o644))
			_, ok := c.Get(key)
			require.False(t, ok, "%q", bad)
		}
	}
	require.NoError(t, c.Put(key, []byte(text)))
	data, ok := c.Get(key)
	assert.True(t, ok)
	assert.Equal(t, text, string(data))
}

func TestACacheServesManyAtOnceAndLeavesNoTemporaryFiles(t *testing.T) {
	c, err := OpenCache(t.TempDir())
	require.NoError(t, err)
	var g sync.WaitGroup
	for i := range 8 {
		g.Go(func() {
			for k := range 50 {
				key := []byte{byte(k)}
				assert.NoError(t, c.Put(key, key))
				if data, ok := c.Get(key); assert.True(t, ok, i) {
					assert.Equal(t, key, data)
				}
			}
		})
	}
	g.Wait()
	n := 0
	require.NoError(t, filepath.WalkDir(c.dir, func(_ string, d os.DirEntry, err error) error {
		if !d.IsDir() {
			n++
		}
		return err
	}))
	assert.Equal(t, 50, n)
}

func TestWithoutACacheNothingIsKept(t *testing.T) {
	var c *Cache
	require.NoError(t, c.Put([]byte("key"), []byte("data")))
	_, ok := c.Get([]byte("key"))
	assert.False(t, ok)
}

func TestACacheInAPlaceThatCannotBeWrittenSaysSo(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o644))
	c, err := OpenCache(filepath.Join(file, "cache"))
	require.NoError(t, err)
	assert.Error(t, c.Put([]byte("key"), []byte("data")))
}
