package report

import (
	"crypto/sha256"
	"encoding/hex"
	"path"
	"slices"
	"strings"
)

// sarifSchema is where the form of the file is described.
const sarifSchema = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"

// srcRoot is the name by which places are given below the top of the sources, as code scanning services expect it.
const srcRoot = "%SRCROOT%"

// SARIF is the report as a SARIF 2.1.0 log with one run. Each finding but a soft gap, which is a notification of the run, is a result of a rule such as denied/read, at the program's line where
// that is among the sources and else at the policy's. partialFingerprints name a result by what was refused, not by where, so that it stays
// the same when lines move.
func SARIF(r *Report) ([]byte, error) {
	r = r.whole()
	found, soft := r.results()
	run := sarifRun{
		Tool:        sarifTool{sarifDriver{Name: "psb", Version: r.Psb, Rules: sarifRules(found)}},
		Automation:  sarifAutomation{"psb/" + visible(r.program()) + "/"},
		Invocations: []sarifInvocation{r.invocation(soft)},
		ColumnKind:  "utf16CodeUnits",
		Results:     []sarifResult{},
	}
	if path.IsAbs(r.Root) {
		run.Bases = map[string]sarifArtifact{srcRoot: {URI: uriOf(strings.TrimSuffix(r.Root, "/") + "/")}}
	}
	for _, f := range found {
		run.Results = append(run.Results, r.result(f, run.Tool.Driver.Rules))
	}
	return encode(sarifLog{sarifSchema, "2.1.0", []sarifRun{run}}, "  ")
}

type sarifLog struct {
	Schema  string     `json:"$schema"`
	Version string     `json:"version"`
	Runs    []sarifRun `json:"runs"`
}

type sarifRun struct {
	Tool        sarifTool                `json:"tool"`
	Automation  sarifAutomation          `json:"automationDetails"`
	Invocations []sarifInvocation        `json:"invocations"`
	Bases       map[string]sarifArtifact `json:"originalUriBaseIds,omitempty"`
	ColumnKind  string                   `json:"columnKind"`
	Results     []sarifResult            `json:"results"`
}

type sarifTool struct {
	Driver sarifDriver `json:"driver"`
}

type sarifDriver struct {
	Name    string      `json:"name"`
	Version string      `json:"version"`
	Rules   []sarifRule `json:"rules"`
}

type sarifRule struct {
	ID      string       `json:"id"`
	Short   sarifMessage `json:"shortDescription"`
	Help    sarifMessage `json:"help"`
	Default struct {
		Level string `json:"level"`
	} `json:"defaultConfiguration"`
	Properties struct {
		Tags []string `json:"tags"`
	} `json:"properties"`
}

type sarifMessage struct {
	Text string `json:"text"`
}

type sarifAutomation struct {
	ID string `json:"id"`
}

type sarifInvocation struct {
	Arguments     []string            `json:"arguments"`
	Successful    bool                `json:"executionSuccessful"`
	Code          int                 `json:"exitCode"`
	Description   string              `json:"exitCodeDescription"`
	Signal        string              `json:"exitSignalName,omitempty"`
	StartFailure  string              `json:"processStartFailureMessage,omitempty"`
	Folder        *sarifArtifact      `json:"workingDirectory,omitempty"`
	Notifications []sarifNotification `json:"toolExecutionNotifications,omitempty"`
}

type sarifNotification struct {
	Level   string       `json:"level"`
	Message sarifMessage `json:"message"`
}

type sarifArtifact struct {
	URI  string `json:"uri"`
	Base string `json:"uriBaseId,omitempty"`
}

type sarifResult struct {
	Rule         string            `json:"ruleId"`
	Index        int               `json:"ruleIndex"`
	Level        string            `json:"level"`
	Message      sarifMessage      `json:"message"`
	Locations    []sarifLocation   `json:"locations"`
	Related      []sarifLocation   `json:"relatedLocations,omitempty"`
	Fingerprints map[string]string `json:"partialFingerprints"`
}

type sarifLocation struct {
	ID       *int          `json:"id,omitempty"`
	Physical sarifPhysical `json:"physicalLocation"`
	Message  *sarifMessage `json:"message,omitempty"`
}

type sarifPhysical struct {
	Artifact sarifArtifact `json:"artifactLocation"`
	Region   sarifRegion   `json:"region"`
}

type sarifRegion struct {
	Line   int `json:"startLine"`
	Column int `json:"startColumn"`
}

// program is what was run, in as few words as tell it from other runs of the same job.
func (r *Report) program() string {
	for i, a := range r.Argv {
		switch {
		case i == 0:
		case a == "-m" && i+1 < len(r.Argv):
			return "-m " + r.Argv[i+1]
		case a == "-c":
			return "-c"
		case !strings.HasPrefix(a, "-"):
			return path.Base(a)
		}
	}
	if len(r.Argv) > 0 {
		return path.Base(r.Argv[0])
	}
	return "run"
}

// results are the findings but for the gaps that nobody asked to close: those are notes on the run, not something to look at in each change.
func (r *Report) results() (found, soft []finding) {
	for _, f := range r.findings() {
		if f.soft {
			soft = append(soft, f)
		} else {
			found = append(found, f)
		}
	}
	return found, soft
}

func (r *Report) invocation(soft []finding) sarifInvocation {
	v := sarifInvocation{Arguments: r.Argv, Successful: r.Ran(), Code: r.Status, Description: r.outcome(), Signal: r.Signal}
	if r.Reason == "refused" || r.Reason == "not executable" || r.Reason == "not found" {
		v.StartFailure = visibleLines(r.Error)
	}
	if r.Error != "" {
		v.Notifications = append(v.Notifications, sarifNotification{"error", plain(visibleLines(r.Error))})
	}
	for _, f := range soft {
		v.Notifications = append(v.Notifications, sarifNotification{"note", plain(strings.Join(append([]string{f.title}, f.more...), "\n"))})
	}
	if path.IsAbs(r.Folder) {
		v.Folder = &sarifArtifact{URI: uriOf(strings.TrimSuffix(r.Folder, "/") + "/")}
	}
	return v
}

func (r *Report) result(f finding, rules []sarifRule) sarifResult {
	out := sarifResult{Rule: f.rule, Level: f.level, Message: plain(strings.Join(append([]string{f.title}, f.more...), "\n")), Locations: []sarifLocation{located(f.at)}}
	out.Index = slices.IndexFunc(rules, func(s sarifRule) bool { return s.ID == f.rule })
	for i, p := range f.also {
		l := located(p)
		l.ID, l.Message = &i, &sarifMessage{"the policy"}
		out.Related = append(out.Related, l)
	}
	sum := sha256.Sum256([]byte(f.rule + "\x00" + f.object))
	out.Fingerprints = map[string]string{"psbFinding/v1": hex.EncodeToString(sum[:16])}
	return out
}

func located(p place) sarifLocation {
	a := sarifArtifact{URI: uriOf(p.file)}
	if !path.IsAbs(p.file) {
		a.Base = srcRoot
	}
	return sarifLocation{Physical: sarifPhysical{a, sarifRegion{p.line, 1}}}
}

// plain is a text that no viewer takes for a link: in SARIF [text](target) is one.
func plain(s string) sarifMessage { return sarifMessage{strings.ReplaceAll(s, "](", `\](`)} }

// sarifRules are the rules that results speak of, each once, in the order of their names.
func sarifRules(found []finding) []sarifRule {
	out := []sarifRule{}
	for _, f := range found {
		if slices.ContainsFunc(out, func(s sarifRule) bool { return s.ID == f.rule }) {
			continue
		}
		s := sarifRule{ID: f.rule}
		s.Short.Text, s.Help.Text = describe(f.rule)
		s.Default.Level = f.level
		s.Properties.Tags = []string{"security", "sandbox"}
		out = append(out, s)
	}
	slices.SortFunc(out, func(a, b sarifRule) int { return strings.Compare(a.ID, b.ID) })
	return out
}
