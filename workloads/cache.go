package workloads

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"path/filepath"
	"sync"
)

// Cache keeps the results of points by content: the key is a hash of everything that
// a result depends on, the program included, so an entry is never stale. A nil Cache
// keeps nothing.
type Cache struct {
	dir     string
	program []byte
}

// OpenCache returns the cache in a folder, which is made when first written.
func OpenCache(dir string) (*Cache, error) {
	id, err := programID()
	if err != nil {
		return nil, err
	}
	return &Cache{dir: dir, program: id}, nil
}

// programID is a hash of the running executable.
var programID = sync.OnceValues(func() ([]byte, error) {
	name, err := os.Executable()
	if err != nil {
		return nil, err
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return nil, err
	}
	return h.Sum(nil), nil
})

func (c *Cache) file(key []byte) string {
	h := sha256.New()
	h.Write(c.program)
	h.Write(key)
	name := hex.EncodeToString(h.Sum(nil))
	return filepath.Join(c.dir, name[:2], name[2:]+".json")
}

// Get returns what Put kept under a key. An entry that is not as Put wrote it is none.
func (c *Cache) Get(key []byte) ([]byte, bool) {
	if c == nil {
		return nil, false
	}
	all, err := os.ReadFile(c.file(key))
	if err != nil {
		return nil, false
	}
	sum, data, ok := bytes.Cut(all, []byte("\n"))
	return data, ok && string(sum) == checksum(data)
}

// Put keeps data under a key; the entry appears whole or not at all.
func (c *Cache) Put(key, data []byte) error {
	if c == nil {
		return nil
	}
	name := c.file(key)
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(name), ".new*")
	if err != nil {
		return err
	}
	_, err = f.WriteString(checksum(data) + "\n" + string(data))
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		os.Remove(f.Name())
	}
	return err
}

func checksum(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}
