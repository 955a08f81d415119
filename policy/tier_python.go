package policy

import "strings"

// importRisk grades a line of [python.import].
func importRisk(module string) Risk {
	switch {
	case module == "*":
		return Risk{TierWarn, "every module", false}
	case SensitiveImport(module):
		return Risk{TierWarn, "a sensitive module", true}
	}
	return Risk{}
}

// marked are the categories that leave Python's own checks behind: learning names each of their functions, and marks it.
var marked = []string{"process-exec", "native", "deserialization", "dynamic-code", "privileges"}

// callRisk grades a line of [python.call].
func callRisk(name string) Risk {
	if name == "*" {
		return Risk{TierWarn, "every sensitive function", true}
	}
	c, ok := CategoryOf(name)
	if !ok {
		c, _ = categoryNamed(name)
	}
	return Risk{TierWarn, c.What, contains(marked, c.Name)}
}

// evalRisk grades a name of [python.eval].
func evalRisk(object string) Risk {
	o, _ := parseEval(object)
	pattern := strings.Contains(o.name, "*")
	switch o.key {
	case "magic":
		return Risk{TierWarn, "a name of Python's own in evaluated text", true}
	case "import":
		return Risk{TierWarn, "evaluated text imports a module", pattern || SensitiveImport(o.name)}
	case "call", "attribute":
		if contains(EvalWords().Danger, o.name) && o.key == "call" {
			return Risk{TierWarn, "leads out of evaluated text", true}
		}
		if pattern {
			return Risk{TierWarn, "every name that fits", false}
		}
		if o.name == "format" || o.name == "format_map" {
			return Risk{TierWarn, "its text reads attributes", false}
		}
	case "syntax":
		if o.name == "import" || contains(EvalWords().Groups["import"], o.name) {
			return Risk{TierWarn, "evaluated text imports a module", false}
		}
	}
	return Risk{}
}
