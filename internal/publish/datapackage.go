package publish

import "github.com/agentlens-bench/agentlens/schema"

// Frictionless data package, https://datapackage.org.

type dataPackage struct {
	Schema       string        `json:"$schema"`
	Name         string        `json:"name"`
	Title        string        `json:"title"`
	Description  string        `json:"description"`
	Homepage     string        `json:"homepage"`
	Version      string        `json:"version"`
	Licenses     []license     `json:"licenses"`
	Contributors []contributor `json:"contributors"`
	Sources      []origin      `json:"sources,omitzero"`
	Keywords     []string      `json:"keywords"`
	Resources    []resource    `json:"resources"`
}

type license struct {
	Name string `json:"name"`
	Path string `json:"path"`
}

type contributor struct {
	Title string   `json:"title"`
	Roles []string `json:"roles"`
}

type origin struct {
	Title string `json:"title"`
	Path  string `json:"path"`
}

type resource struct {
	Name        string      `json:"name"`
	Type        string      `json:"type"`
	Path        string      `json:"path"`
	Description string      `json:"description"`
	Format      string      `json:"format"`
	Mediatype   string      `json:"mediatype"`
	Encoding    string      `json:"encoding"`
	Bytes       int64       `json:"bytes"`
	Hash        string      `json:"hash"`
	Schema      tableSchema `json:"schema"`
}

type tableSchema struct {
	Fields        []tableField `json:"fields"`
	PrimaryKey    []string     `json:"primaryKey"`
	ForeignKeys   []foreignKey `json:"foreignKeys,omitempty"`
	MissingValues []string     `json:"missingValues"`
}

type tableField struct {
	Name        string      `json:"name"`
	Type        string      `json:"type"`
	Description string      `json:"description"`
	Constraints constraints `json:"constraints,omitzero"`
}

type constraints struct {
	Required bool     `json:"required,omitzero"`
	Enum     []string `json:"enum,omitempty"`
}

type foreignKey struct {
	Fields    []string `json:"fields"`
	Reference struct {
		Resource string   `json:"resource"`
		Fields   []string `json:"fields"`
	} `json:"reference"`
}

// dataPackage describes every table as a resource.
func (p *publication) dataPackage() dataPackage {
	a := p.about
	d := dataPackage{
		Schema: "https://datapackage.org/profiles/2.0/datapackage.json", Name: a.Name, Title: a.Title, Description: p.summary(),
		Homepage: a.URL, Version: p.manifest.Version, Keywords: keywords(),
		Licenses: []license{{a.License, "https://spdx.org/licenses/" + a.License + ".html"}},
	}
	for _, name := range a.Creators {
		d.Contributors = append(d.Contributors, contributor{name, []string{"creator"}})
	}
	if release, _ := p.derived(); release {
		d.Sources = []origin{{"AgentLens-Bench 1.0, by the authors of AgentLens", paperURL}}
	}
	for _, t := range p.tables {
		r := resource{
			Name: t.Config, Type: "table", Path: t.Path, Description: p.tableDoc(t), Format: "parquet", Mediatype: parquetMedia, Encoding: "utf-8",
			Bytes: t.Bytes, Hash: "sha256:" + t.SHA256, Schema: tableSchema{PrimaryKey: t.key(), MissingValues: []string{""}},
		}
		for _, c := range t.Present {
			r.Schema.Fields = append(r.Schema.Fields, tableField{c.Name, frictionlessType(c.Kind), c.Doc, constraints{!c.Nullable, c.Enum}})
			if parent, ok := p.parent(t, c); ok {
				key := foreignKey{Fields: []string{c.Name}}
				key.Reference.Resource, key.Reference.Fields = parent.Config, parent.key()[:1]
				r.Schema.ForeignKeys = append(r.Schema.ForeignKeys, key)
			}
		}
		d.Resources = append(d.Resources, r)
	}
	return d
}

func frictionlessType(k schema.Kind) string {
	return [...]string{schema.Text: "string", schema.Integer: "integer", schema.Real: "number", schema.Boolean: "boolean"}[k]
}
