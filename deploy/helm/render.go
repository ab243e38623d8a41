// Renders the chart `vestra` as `helm template` does: Go's own templates, the functions of sprig and Helm's few beside them.
// There is no Helm in Debian; its template language is this. `npm run chart` builds and runs it.
package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"text/template"

	"github.com/Masterminds/sprig"
	"sigs.k8s.io/yaml"
)

func main() {
	if len(os.Args) != 3 {
		fail(errors.New("usage: render <chart> <values file>"))
	}
	rendered, err := render(os.Args[1], os.Args[2])
	if err != nil {
		fail(err)
	}
	fmt.Print(rendered)
}

func render(chart string, valuesFile string) (string, error) {
	facts, err := read(filepath.Join(chart, "Chart.yaml"))
	if err != nil {
		return "", err
	}
	values, err := read(filepath.Join(chart, "values.yaml"))
	if err != nil {
		return "", err
	}
	own, err := read(valuesFile)
	if err != nil {
		return "", err
	}
	over(values, own)
	data := map[string]interface{}{
		"Values":  values,
		"Files":   files(chart),
		"Release": map[string]interface{}{"Name": "vestra", "Namespace": "vestra", "Service": "Helm"},
		"Chart":   map[string]interface{}{"Name": facts["name"], "Version": facts["version"], "AppVersion": facts["appVersion"]},
	}
	all := template.New("chart").Option("missingkey=zero")
	all.Funcs(functions(all))
	templates, err := filepath.Glob(filepath.Join(chart, "templates", "*"))
	if err != nil {
		return "", err
	}
	sort.Strings(templates)
	for _, file := range templates {
		text, err := os.ReadFile(file)
		if err != nil {
			return "", err
		}
		if _, err := all.New(filepath.Base(file)).Parse(string(text)); err != nil {
			return "", err
		}
	}
	var rendered strings.Builder
	for _, file := range templates {
		name := filepath.Base(file)
		if strings.HasPrefix(name, "_") {
			continue
		}
		var text bytes.Buffer
		if err := all.ExecuteTemplate(&text, name, data); err != nil {
			return "", err
		}
		if name == "NOTES.txt" || strings.TrimSpace(text.String()) == "" {
			continue
		}
		for _, document := range strings.Split("\n"+text.String(), "\n---") {
			if strings.TrimSpace(document) != "" {
				fmt.Fprintf(&rendered, "---\n# %s\n%s\n", name, strings.TrimSpace(document))
			}
		}
	}
	// Helm writes a missing value so; in a manifest it is always a mistake.
	if strings.Contains(rendered.String(), "<no value>") {
		return "", errors.New("a template names a value that is not there")
	}
	return rendered.String(), nil
}

// Files of the chart that are not templates, as Helm gives them: empty if there is none of that name.
type files string

func (chart files) Get(name string) string {
	text, err := os.ReadFile(filepath.Join(string(chart), name))
	if err != nil {
		return ""
	}
	return string(text)
}

func functions(all *template.Template) template.FuncMap {
	known := sprig.TxtFuncMap()
	// Helm has neither: a chart could read the environment of whoever installs it.
	delete(known, "env")
	delete(known, "expandenv")
	known["include"] = func(name string, data interface{}) (string, error) {
		var text bytes.Buffer
		err := all.ExecuteTemplate(&text, name, data)
		return text.String(), err
	}
	known["toYaml"] = func(value interface{}) (string, error) {
		text, err := yaml.Marshal(value)
		return strings.TrimSuffix(string(text), "\n"), err
	}
	known["required"] = func(message string, value interface{}) (interface{}, error) {
		if value == nil || value == "" {
			return nil, errors.New(message)
		}
		return value, nil
	}
	return known
}

func read(file string) (map[string]interface{}, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	found := map[string]interface{}{}
	return found, yaml.Unmarshal(text, &found)
}

// Maps are merged, everything else is replaced.
func over(base map[string]interface{}, own map[string]interface{}) {
	for key, value := range own {
		below, isMap := base[key].(map[string]interface{})
		above, isToo := value.(map[string]interface{})
		if isMap && isToo {
			over(below, above)
			continue
		}
		base[key] = value
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}
