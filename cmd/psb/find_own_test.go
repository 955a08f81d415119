package main

import "testing"

func TestNamedInterpreter(t *testing.T) {
	for head, want := range map[string]string{
		"#!/v/bin/python3\nimport x": "/v/bin/python3",
		"#! /v/bin/python -I\n":      "/v/bin/python",
		"#!/usr/bin/env python3\n":   "/usr/bin/env",
		"#!/bin/sh\n'''exec' \"/a long/bin/python\" \"$0\" \"$@\"\n' '''\nx":  "/a long/bin/python",
		"#!/bin/sh\n'''exec' /v/bin/python3 \"$0\" \"$@\"\n' '''\nimport x\n": "/v/bin/python3",
		"import x\n": "", "#!\n": "", "": "", "#!/bin/sh\necho\n": "/bin/sh",
	} {
		if got := namedInterpreter(head); got != want {
			t.Errorf("%q: %q, want %q", head, got, want)
		}
	}
}
