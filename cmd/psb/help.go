package main

import (
	_ "embed"
	"strings"
)

//go:embed help.txt
var longHelp string

//go:embed usage.txt
var usageText string

// operations are the words that add, remove and why share with denials and --allow.
const operations = `
Operations and their objects:
  read write exec hide device   a file, or a folder with everything below: data/x.csv, data/
  create list                   a folder: out/
  env                           a variable's name: RATES_URL
  syscall                       a kernel call's name: mlock
  connect private listen deny   an address and a port: pypi.org:443
  import call                   a module; a function or category of psb policy help: ctypes, threads
  eval                          a name of evaluated text: call:len, calc/syntax:arith
`

// policyHelp is the format on one page; docs/policy.md has every word.
var policyHelp = strings.TrimLeft(`
The policy file .py-sandboxes: TOML, one rule a line. docs/policy.md is the full reference.

version = 1
[env]          # NAME = true (the host's value), "text" (this value), false (never); "LC_*" = true
[files]        # "path" = read | write (also reads) | exec | hide | device; "folder/" is everything below
               # "folder/" = create | list: that folder only; several: "bin/tool" = ["read", "exec"]
[net]          # "host:port" = connect | listen | deny
[syscalls]     # name = true | false
[limits]       # memory = "512M", memory_swap, cpus, cpu_time, wall = "60s", pids, file_size, disk, open_files, output
[sandbox]      # python, provider, require, allow_gaps
[python]       # shim = true
[python.import] # "flask" = true | false: what the program itself imports
[python.call]  # "threads" = true | false: a category of sensitive functions, or one of them
[python.eval]  # evaluated text: syntax, call, attribute, import, magic = ["name", "!name"]; namespace, timeout, max_…
               # [python.eval.NAME] is a profile of its own; psb policy add import flask | call threads | eval call:len

psb policy show | check                 the file with its includes; every problem at once, and what would stop a run here
psb policy add OP OBJECT…               a line for each object, all or none: psb policy add read data/eu.csv data/us.csv
psb policy remove OP OBJECT             takes the line out
psb policy why OP OBJECT                which line decides; status 0 allowed, 1 refused
psb policy allow-last [--yes]           go through what the last run was refused
psb policy approve [--forget]           show what changed and let the file as it is now count
psb policy prune [--write] RECORD…      which lines the recorded runs never needed
psb policy export --to TARGET …         a run's plan for bwrap, systemd, oci or kubernetes
psb policy diff OLD NEW [--json]        what NEW allows more or less, riskiest first; status 1 more, 0 not; /dev/null, - for stdin
psb policy merge FILE... [-o FILE]      what one allows is allowed, what one refuses is refused; with --policy FILE into that file
psb policy fmt [FILE] [--check]         one form for order and spelling; comments and meaning stay
psb policy import FILE [-o FILE]        a key=value file of pysandboxes
psb policy --policy FILE …              the same for another file
`, "\n")
