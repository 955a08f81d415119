package policy

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// LimitNames are the keys of [limits], in the order in which they are shown.
func LimitNames() []string {
	return []string{"memory", "memory_swap", "cpus", "cpu_time", "wall", "pids", "file_size", "disk", "open_files", "output"}
}

func limitExample(name string) string {
	switch name {
	case "cpus":
		return "1.5"
	case "cpu_time", "wall":
		return `"60s"`
	case "pids", "open_files":
		return "64"
	}
	return `"512M"`
}

// ParseLimit reads one limit as [limits] and --limit NAME=VALUE write it. Sizes are bytes with an optional K, M, G
// or T (powers of 1024); times are a number with ms, s, m or h. Zero is valid for memory_swap only.
func ParseLimit(name, text string) (Limit, error) {
	l := Limit{Name: name, Text: text}
	var err error
	switch name {
	case "memory", "memory_swap", "file_size", "disk", "output":
		l.Bytes, err = parseSize(text)
		if err == nil && l.Bytes == 0 && name != "memory_swap" {
			err = fmt.Errorf("zero would let nothing run")
		}
	case "cpu_time", "wall":
		l.Time, err = parseTime(text)
	case "pids", "open_files":
		l.Count, err = strconv.ParseUint(text, 10, 31)
		if err != nil || l.Count == 0 {
			err = fmt.Errorf("%q is no whole number from 1 to 2147483647", text)
		}
	case "cpus":
		l.CPUs, err = strconv.ParseFloat(text, 64)
		if err != nil || !(l.CPUs >= 0.01 && l.CPUs <= 65536) || strings.ContainsAny(text, "xXpP_") {
			err = fmt.Errorf("%q is no number of processors, such as 0.5 or 2", text)
		}
	default:
		return Limit{}, fmt.Errorf("unknown limit %s%s", name, near(name, LimitNames()))
	}
	if err != nil {
		return Limit{}, fmt.Errorf("%s: %w", name, err)
	}
	return l, nil
}

func parseSize(text string) (uint64, error) {
	digits, unit := text, uint64(1)
	if text != "" {
		switch text[len(text)-1] {
		case 'K', 'k':
			unit = 1 << 10
		case 'M', 'm':
			unit = 1 << 20
		case 'G', 'g':
			unit = 1 << 30
		case 'T', 't':
			unit = 1 << 40
		}
		if unit > 1 {
			digits = text[:len(text)-1]
		}
	}
	n, err := strconv.ParseUint(digits, 10, 63)
	if err != nil || strings.HasPrefix(digits, "+") {
		return 0, fmt.Errorf("%q is no size: write a number of bytes or one with K, M, G or T, such as 512M", text)
	}
	if n > math.MaxInt64/unit {
		return 0, fmt.Errorf("%q is more than any machine has", text)
	}
	return n * unit, nil
}

func parseTime(text string) (time.Duration, error) {
	bad := fmt.Errorf("%q is no time: write a number with ms, s, m or h, such as 60s", text)
	if strings.ContainsAny(text, "+-nuµμ") || strings.HasPrefix(text, ".") {
		return 0, bad
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		return 0, bad
	}
	if d < time.Millisecond {
		return 0, fmt.Errorf("%q is too short: at least 1ms", text)
	}
	return d, nil
}
