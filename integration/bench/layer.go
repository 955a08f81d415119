package main

import "os/exec"

// layerRows are what psb's layer inside Python costs: the same box with it and without.
func layerRows(said netRow) []row {
	return []row{
		{name: "layer-launch", about: "launch: python3 -I -c pass", args: []string{"-I", "-c", "pass"}, cpu: true},
		{name: "layer-imports", about: "7 imports", args: []string{"-c", imports}, cpu: true, target: "≤ 1.02×"},
		{name: "layer-imports-alone", about: "7 imports, without the start", args: []string{"-c", importsBy("perf_counter")}, net: said, target: "≤ 1.02×"},
		{name: "layer-imports-cpu", about: "their processor time", args: []string{"-c", importsBy("process_time")}, net: said, target: "≤ 1.02×"},
	}
}

// importsBy prints the milliseconds of the imports by a clock of Python's; process_time is the steadier one on a machine that does other work, too.
func importsBy(clock string) string {
	return "from time import " + clock + " as now; begin = now(); " + imports + "; print((now() - begin) * 1000)"
}

// layerPolicies are the two policies. Lines in [python.import] and [python.call] cannot stand beside shim = false, so neither has any: the layer
// judges every import by the rules that hold without a line.
var layerPolicies = map[string]string{"layer-off.toml": withoutLayer, "layer-on.toml": withLayer}

const (
	withLayer    = "version = 1\n[files]\n\"data/\" = \"read\"\n\"./\" = \"list\"\n"
	withoutLayer = withLayer + "[python]\nshim = false\n"
)

// layerPeers are the box without the layer, and with it.
func (p place) layerPeers() []peer {
	under := func(policy string) func(r row) (*exec.Cmd, error) {
		return func(r row) (*exec.Cmd, error) {
			return p.start(append([]string{p.psb, "--python", p.python, "--policy", policy}, r.args...)...), nil
		}
	}
	return []peer{{name: "layer off", command: under("layer-off.toml")}, {name: "on", command: under("layer-on.toml")}}
}
