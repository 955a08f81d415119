package report

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"strings"
)

// JUnit is the report in the XML of JUnit: one suite, psb, with a test case for the run itself and one for each finding. What was refused, an
// open gap, a limit that was reached is a failure; what psb itself could not do an error; an accepted gap and what learning found are skipped
// with their reason, so that a clean run shows one test that passed. Characters that XML cannot hold are escaped.
func JUnit(r *Report) ([]byte, error) {
	r = r.whole()
	suite := junitSuite{Name: "psb", Time: seconds(r.Usage.WallSeconds), Cases: []junitCase{r.runCase()}}
	for _, f := range r.findings() {
		c := junitCase{Class: "psb." + strings.ReplaceAll(f.rule, "/", "."), Name: f.name, Time: seconds(0)}
		say := &junitSays{Message: f.title, Type: f.rule, Text: strings.Join(append([]string{f.title}, f.more...), "\n")}
		switch {
		case f.rule == "refused": // the run's own case says it
			continue
		case f.level == "error":
			say.Text += fmt.Sprintf("\n%s:%d", visible(f.at.file), f.at.line)
			c.Failure = say
		default:
			c.Skipped = &junitSays{Message: strings.Join(append([]string{f.title}, f.more...), "; ")}
		}
		suite.Cases = append(suite.Cases, c)
	}
	for _, c := range suite.Cases {
		suite.Tests++
		suite.Failures += count(c.Failure)
		suite.Errors += count(c.Error)
		suite.Skipped += count(c.Skipped)
	}
	all := junitSuites{Tests: suite.Tests, Failures: suite.Failures, Errors: suite.Errors, Time: suite.Time, Suites: []junitSuite{suite}}
	var b bytes.Buffer
	b.WriteString(xml.Header)
	e := xml.NewEncoder(&b)
	e.Indent("", "  ")
	if err := e.Encode(all); err != nil {
		return nil, err
	}
	b.WriteByte('\n')
	return b.Bytes(), nil
}

type junitSuites struct {
	XMLName  xml.Name     `xml:"testsuites"`
	Tests    int          `xml:"tests,attr"`
	Failures int          `xml:"failures,attr"`
	Errors   int          `xml:"errors,attr"`
	Time     string       `xml:"time,attr"`
	Suites   []junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	Name     string      `xml:"name,attr"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Errors   int         `xml:"errors,attr"`
	Skipped  int         `xml:"skipped,attr"`
	Time     string      `xml:"time,attr"`
	Cases    []junitCase `xml:"testcase"`
}

type junitCase struct {
	Class   string     `xml:"classname,attr"`
	Name    string     `xml:"name,attr"`
	Time    string     `xml:"time,attr"`
	Failure *junitSays `xml:"failure"`
	Error   *junitSays `xml:"error"`
	Skipped *junitSays `xml:"skipped"`
}

type junitSays struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr,omitempty"`
	Text    string `xml:",chardata"`
}

// runCase is the run itself.
func (r *Report) runCase() junitCase {
	c := junitCase{Class: "psb", Name: "run " + visible(r.program()), Time: seconds(r.Usage.WallSeconds)}
	switch say := (&junitSays{Message: r.outcome(), Type: visible(r.Reason), Text: r.outcome()}); {
	case r.Error != "":
		say.Text = visibleLines(r.Error)
		c.Error = say
	case r.Status != 0:
		c.Failure = say
	}
	return c
}

func seconds(s float64) string { return fmt.Sprintf("%.3f", s) }

func count(s *junitSays) int {
	if s == nil {
		return 0
	}
	return 1
}
