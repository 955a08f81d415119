package main

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// used is what one run did with success, as strace saw it: the kernel's names of files, folders and addresses.
type used struct {
	read, listed, written, changed, ran, reached, served map[string]bool // changed: folders in which names came or went
}

// calls are the system calls looked at; "?" for those that not every architecture has.
const calls = "?open,openat,?openat2,?creat,execve,execveat,?mkdir,mkdirat,?rename,?renameat,renameat2,?unlink,unlinkat,?symlink,symlinkat," +
	"?link,linkat,?rmdir,truncate,ftruncate,?chmod,fchmodat,connect,bind,sendto,mknodat"

// observe runs the program without psb under strace.
func (x *exam) observe() (used, error) {
	u := used{map[string]bool{}, map[string]bool{}, map[string]bool{}, map[string]bool{}, map[string]bool{}, map[string]bool{}, map[string]bool{}}
	trace := filepath.Join(filepath.Dir(x.home.home), "trace")
	if err := os.WriteFile(trace, nil, 0o666); err != nil {
		return u, err
	}
	if err := os.Chmod(trace, 0o666); err != nil {
		return u, err
	}
	argv := append([]string{"strace", "-D", "-f", "-y", "-s", "4096", "--seccomp-bpf", "-o", trace, "-e", "trace=" + calls, "-e", "signal=none"}, x.bare()...)
	if e := x.home.perform(x.row, x.python.Path, 5*x.row.Wait, argv...); e.code != x.want.code || e.signal != x.want.signal {
		return u, fmt.Errorf("under strace the program ended otherwise: %v", e)
	}
	f, err := os.Open(trace)
	if err != nil {
		return u, err
	}
	defer f.Close()
	at := map[string]string{}   // by thread: the working folder, as far as its calls tell
	half := map[string]string{} // by thread: a call that another thread's line cut in two
	sc := bufio.NewScanner(f)
	sc.Buffer(nil, 1<<20)
	for sc.Scan() {
		tid, line, _ := strings.Cut(sc.Text(), " ")
		line = strings.TrimSpace(line)
		if begin, cut := strings.CutSuffix(line, " <unfinished ...>"); cut {
			half[tid] = begin
			continue
		}
		if m := resumed.FindStringIndex(line); m != nil {
			line = half[tid] + line[m[1]:]
			delete(half, tid)
		}
		if m := folder.FindStringSubmatch(line); m != nil {
			at[tid] = unescaped(m[1])
		}
		if at[tid] == "" {
			at[tid] = x.home.project
		}
		u.call(line, at[tid])
	}
	return u, sc.Err()
}

var (
	resumed = regexp.MustCompile(`^<\.\.\. \w+ resumed>`)
	call    = regexp.MustCompile(`^(\w+)\((.*)\) += (-?\d+)(?:<(.*)>)?(?: (E[A-Z0-9]+)\b.*)?$`)
	folder  = regexp.MustCompile(`AT_FDCWD<((?:[^>\\]|\\.)*)>`)
	quoted  = regexp.MustCompile(`(?:(AT_FDCWD|\d+)<((?:[^>\\]|\\.)*)>, )?"((?:[^"\\]|\\.)*)"`)
	inet    = regexp.MustCompile(`sin6?_port=htons\((\d+)\).*?(?:inet_addr\("|inet_pton\(AF_INET6, ")([^"]+)"`)
	unixed  = regexp.MustCompile(`sun_path=(@?"(?:[^"\\]|\\.)*")`)
)

// call takes one line of strace.
func (u used) call(line, at string) {
	m := call.FindStringSubmatch(line)
	if m == nil || m[5] != "" && m[5] != "EINPROGRESS" {
		return
	}
	name, args, file := m[1], m[2], strings.TrimSuffix(m[4], " (deleted)")
	var paths []string
	for _, q := range quoted.FindAllStringSubmatch(args, -1) {
		p := unescaped(q[3])
		switch {
		case filepath.IsAbs(p):
		case q[2] != "":
			p = filepath.Join(unescaped(q[2]), p)
		default:
			p = filepath.Join(at, p)
		}
		paths = append(paths, filepath.Clean(p))
	}
	switch name {
	case "open", "openat", "openat2", "creat":
		u.opened(unescaped(file), args, name == "creat")
	case "execve", "execveat":
		if len(paths) > 0 {
			u.execed(real(paths[0]))
		}
	case "connect":
		for _, a := range addresses(args) {
			u.reached[a] = true
		}
	case "bind":
		for _, a := range addresses(args) {
			u.served[a] = true
		}
	case "sendto":
	default: // these change names, or what is behind one
		for _, p := range paths {
			p = filepath.Join(real(filepath.Dir(p)), filepath.Base(p))
			u.written[p] = true
			u.changed[filepath.Dir(p)] = true
		}
	}
}

// execed notes a program, and what runs it when it is a script: the kernel starts that without a call of its own.
func (u used) execed(path string) {
	u.ran[path] = true
	f, err := os.Open(path)
	if err != nil {
		return
	}
	defer f.Close()
	line, _ := bufio.NewReader(f).ReadString('\n')
	if words := strings.Fields(strings.TrimPrefix(line, "#!")); strings.HasPrefix(line, "#!") && len(words) > 0 {
		u.ran[real(words[0])] = true
	}
}

func (u used) opened(file, args string, creates bool) {
	if !filepath.IsAbs(file) {
		return
	}
	writes := creates || strings.Contains(args, "O_WRONLY") || strings.Contains(args, "O_RDWR")
	info, err := os.Stat(file)
	switch {
	case strings.Contains(args, "O_PATH"):
	case strings.Contains(args, "O_TMPFILE"):
		u.changed[filepath.Dir(file)] = true
	case strings.Contains(args, "O_DIRECTORY") || err == nil && info.IsDir():
		u.listed[file] = true
	case writes:
		u.written[file] = true
		if creates || strings.Contains(args, "O_CREAT") {
			u.changed[filepath.Dir(file)] = true
		}
	default:
		u.read[file] = true
	}
}

func addresses(args string) (out []string) {
	for _, m := range inet.FindAllStringSubmatch(args, -1) {
		host := m[2]
		if strings.Contains(host, ":") {
			host = "[" + host + "]"
		}
		out = append(out, host+":"+m[1])
	}
	for _, m := range unixed.FindAllStringSubmatch(args, -1) {
		out = append(out, "unix:"+unescaped(strings.ReplaceAll(m[1], `"`, "")))
	}
	return out
}

// unescaped turns strace's C escapes back; names in this corpus have no others than these.
func unescaped(s string) string { return strings.NewReplacer(`\"`, `"`, `\\`, `\`).Replace(s) }

// real is where a path leads, or the path itself when it leads nowhere any more.
func real(p string) string {
	if r, err := filepath.EvalSymlinks(p); err == nil {
		return r
	}
	return p
}
