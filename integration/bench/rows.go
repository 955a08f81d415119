package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
)

// row is one piece of work, the same for every peer.
type row struct {
	name, about string
	args        []string // of the interpreter
	dir         string   // where it works; none: the project
	small       bool     // in a project without the 20 000 files: psb looks through a project before it learns there
	needs       string   // modules the interpreter must have
	cpu         bool     // its processor time is told, too
	flight      int      // launches at the same time; 0 is one launch, timed
	net         netRow   // how the rows that time themselves run; nil for every other row
	target      string   // of the last peer's ratio, told beside the figure
}

const imports = "import asyncio, ssl, sqlite3, json, unittest, email, http.client"

func enforcedRows() []row {
	return []row{
		{name: "launch", about: "launch: python3 -I -c pass", args: []string{"-I", "-c", "pass"}},
		{name: "imports", about: "7 imports", args: []string{"-c", imports}},
		{name: "files", about: "20 000 stat+open", args: []string{"look.py", "20000"}},
		{name: "churn", about: "5 000 create/rename/unlink", args: []string{"churn.py", "5000"}},
		{name: "spawn", about: "200 subprocesses", args: []string{"spawn.py", "200"}},
	}
}

func flightRows() []row {
	return []row{
		{name: "flight-1", about: "1 in flight", args: []string{"-I", "-c", "pass"}, flight: 1},
		{name: "flight-4", about: "4 in flight", args: []string{"-I", "-c", "pass"}, flight: 4},
	}
}

// learningRows are scripts: -c never learns.
func learningRows() []row {
	rows := []row{
		{name: "learn-launch", about: "launch: an empty script", args: []string{"empty.py"}, small: true},
		{name: "learn-imports", about: "7 imports", args: []string{"imports.py"}, small: true},
		{name: "learn-science", about: "import numpy, pandas", args: []string{"science.py"}, small: true, needs: "numpy, pandas"},
		{name: "learn-files", about: "40 000 file stops", args: []string{"look.py", "20000"}}, // 20 000 × stat, open
		{name: "learn-spawn", about: "200 subprocesses", args: []string{"spawn.py", "200"}, small: true},
	}
	for i := range rows {
		rows[i].cpu = true
	}
	return rows
}

func rowNames() []string {
	var names []string
	for _, list := range [][]row{enforcedRows(), flightRows(), learningRows(), netRows(nil), layerRows(nil), partialRows(nil)} {
		for _, r := range list {
			names = append(names, r.name)
		}
	}
	return append(names, evalRow, "memory", memoryOfLearnerRow, mcpCallRow, mcpFlightRow, mcpScienceRow, mcpMemoryRow)
}

// fill makes the files that the rows work on.
func (p place) fill() error {
	files := map[string]string{
		"empty.py":   "",
		"imports.py": imports + "\n",
		"science.py": "import numpy, pandas\n",
		"long.py": "import os, sys\nfor n in range(int(sys.argv[2])):\n    try:\n        os.close(os.open(sys.argv[1] % (n // 100 % 200, n % 100) if sys.argv[1] != 'new' else 'gone/%d' % n, os.O_RDONLY))\n" +
			"    except FileNotFoundError:\n        pass\n",
		"look.py": "import os, sys\nfor n in range(int(sys.argv[1])):\n    name = 'data/%d/%d' % (n // 100, n % 100)\n    os.stat(name)\n" +
			"    os.close(os.open(name, os.O_RDONLY))\n",
		"churn.py": "import os, sys\nfor n in range(int(sys.argv[1])):\n    os.close(os.open('work/new', os.O_CREAT | os.O_EXCL | os.O_WRONLY))\n" +
			"    os.rename('work/new', 'work/old')\n    os.unlink('work/old')\n",
		"spawn.py": "import subprocess, sys\nfor _ in range(int(sys.argv[1])):\n    subprocess.run(['/usr/bin/true'], check=True)\n",
		"idle.py":  "import sys\nprint('ready', flush=True)\nsys.stdin.read()\n",
		"net.py":   netProgram,
		".py-sandboxes": "version = 1\n[files]\n\"/usr/bin/true\" = \"exec\"\n\"data/\" = \"read\"\n\"work/\" = \"write\"\n\"./\" = \"list\"\n" +
			"[python.import]\nsubprocess = true\n[python.call]\nprocess-exec = true\n",
	}
	maps.Copy(files, layerPolicies)
	for name, text := range files {
		for _, dir := range []string{p.dir, p.small} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
				return err
			}
		}
	}
	if err := os.Mkdir(filepath.Join(p.dir, "work"), 0o755); err != nil {
		return err
	}
	for n := range 200 {
		sub := filepath.Join(p.dir, "data", fmt.Sprint(n))
		if err := os.MkdirAll(sub, 0o755); err != nil {
			return err
		}
		for m := range 100 {
			if err := os.WriteFile(filepath.Join(sub, fmt.Sprint(m)), []byte("x"), 0o644); err != nil {
				return err
			}
		}
	}
	return nil
}
