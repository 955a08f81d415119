package main

import _ "embed"

//go:embed help.txt
var longHelp string

//go:embed usage.txt
var usageText string
