package learn

import (
	"maps"
	"slices"
)

// field is one word of Knowledge: a folder, or a list.
type field struct {
	word string
	one  *string
	list *[]string
}

func (k *Knowledge) fields() []field {
	m := &k.Macros
	return []field{
		{"project", &m.Project, nil}, {"home", &m.Home, nil}, {"tmp", &m.Tmp, nil}, {"python", &m.Python, nil}, {"venv", &m.Venv, nil}, {"site", &m.Site, nil},
		{"cache", &m.Cache, nil}, {"config", &m.Config, nil}, {"data", &m.Data, nil}, {"run", &m.Run, nil}, {"cwd", &m.Cwd, nil}, {"folder", &k.Folder, nil}, {"version", &k.Python, nil},
		{"homes", nil, &k.Homes}, {"program", nil, &k.Program}, {"always", nil, &k.Always}, {"runs", nil, &k.Runs}, {"private", nil, &k.Private},
		{"shown", nil, &k.Shown}, {"floor", nil, &k.Floor}, {"guarded", nil, &k.Guarded}, {"made", nil, &k.Made},
	}
}

// Facts gives the data of k as events of a record: names of folders and files, never a value of a variable. Run reads them back.
func (k Knowledge) Facts() []Known {
	var out []Known
	for _, f := range k.fields() {
		switch {
		case f.one != nil && *f.one != "":
			out = append(out, Known{f.word, []string{*f.one}})
		case f.list != nil:
			for _, piece := range pieces(*f.list) {
				out = append(out, Known{f.word, piece})
			}
		}
	}
	if k.Bytecode {
		out = append(out, Known{"bytecode", nil})
	}
	tables := slices.Sorted(maps.Keys(k.Tables))
	return append(out, Known{"tables", slices.DeleteFunc(tables, func(t string) bool { return !k.Tables[t] })})
}

// pieces cuts a list so that each part fits into a line of a record.
func pieces(list []string) [][]string {
	var out [][]string
	from, size := 0, 0
	for i, s := range list {
		size += 6*len(s) + 16
		if size > maxLine/2 && i > from {
			out, from, size = append(out, list[from:i]), i, 6*len(s)+16
		}
	}
	if from < len(list) {
		out = append(out, list[from:])
	}
	return out
}

// questions are the functions of Knowledge, as Answered names them.
var questions = []string{"entries", "exists", "setenv", "syscall", "writes"}

// Telling gives k with functions that tell each of their answers, once. A function that k lacks stays nil.
func (k Knowledge) Telling(emit func(Event)) Knowledge {
	said := map[[2]string]bool{}
	first := func(question, object string) bool {
		key := [2]string{question, object}
		had := said[key]
		said[key] = true
		return !had
	}
	told := func(question string, answer func(string) bool) func(string) bool {
		if answer == nil {
			return nil
		}
		return func(object string) bool {
			yes := answer(object)
			if first(question, object) {
				emit(Answered{Question: question, Object: object, Yes: yes})
			}
			return yes
		}
	}
	k.Exists, k.SetEnv, k.Syscall, k.Writes = told("exists", k.Exists), told("setenv", k.SetEnv), told("syscall", k.Syscall), told("writes", k.Writes)
	if entries := k.Entries; entries != nil {
		k.Entries = func(dir string) []string {
			list := entries(dir)
			if first("entries", dir) {
				emit(Answered{Question: "entries", Object: dir, Yes: list != nil})
				for _, piece := range pieces(list) {
					emit(Answered{Question: "entries", Object: dir, Yes: true, List: piece})
				}
			}
			return list
		}
	}
	return k
}
