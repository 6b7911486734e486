package workloads

import (
	"encoding/json"
	"fmt"
	"sync"

	"pldperf/workloads/routing"
)

// drawn keeps the routings drawn last: the points of a sweep over core_num share one.
// A routing never changes, so points that run side by side may share it.
var drawn struct {
	sync.Mutex
	keys [8]string
	kept [8]*routing.Routing
	next int
}

// draw returns the routing of a spec, drawn now or kept from before.
func (c *Config) draw(spec routing.Spec, row int64) (*routing.Routing, error) {
	text, err := json.Marshal(spec)
	if err != nil {
		return nil, err
	}
	key := fmt.Sprintf("%d %d %s %s", c.Ranks, row, c.dir, text)
	if r := lookDrawn(key); r != nil {
		return r, nil
	}
	r, err := routing.New(spec, c.Ranks, row, c.files)
	if err != nil {
		return nil, err
	}
	drawn.Lock()
	defer drawn.Unlock()
	drawn.keys[drawn.next], drawn.kept[drawn.next] = key, r
	drawn.next = (drawn.next + 1) % len(drawn.keys)
	return r, nil
}

func lookDrawn(key string) *routing.Routing {
	drawn.Lock()
	defer drawn.Unlock()
	for i, k := range drawn.keys {
		if k == key {
			return drawn.kept[i]
		}
	}
	return nil
}
