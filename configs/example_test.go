package configs_test

import (
	"fmt"

	"pldperf/configs"
	"pldperf/engine"
)

// A preset below, the user's file above, a flag on top, and one strict struct.
func ExampleDoc_Decode() {
	preset, _ := configs.Load("preset.yaml", []byte("port:\n  rate: 53.1 GB/s # fit: measured\n  count: 7 # src: topology\n"))
	file, _ := configs.Load("my.yaml", []byte("machine:\n  port: {rate: 50 GB/s}\n"))
	below, _ := preset.Under("machine")
	doc := configs.Merge(below, file)
	_ = doc.Set("machine.port.cuont=8")

	var spec struct {
		Machine struct {
			Port struct {
				Rate  engine.Rate `yaml:"rate" required:"true"`
				Count int         `yaml:"count" min:"1"`
			} `yaml:"port"`
		} `yaml:"machine"`
	}
	fmt.Println(doc.Decode(&spec))
	fmt.Print(string(doc.Marshal()))
	// Output:
	// --set machine.port.cuont: unknown key; did you mean "count"?
	// machine:
	//   port:
	//     rate: 50 GB/s # user: my.yaml:2
	//     count: 7 # src: topology
	//     cuont: 8 # user: --set machine.port.cuont
}
