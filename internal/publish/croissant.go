package publish

import (
	"fmt"
	"slices"

	"github.com/agentlens-bench/agentlens/schema"
)

// Croissant 1.1, https://docs.mlcommons.org/croissant.

// Media types.
const (
	parquetMedia = "application/vnd.apache.parquet"
	croissant11  = "http://mlcommons.org/croissant/1.1"
)

type croissant struct {
	Context      croissantContext `json:"@context"`
	Type         string           `json:"@type"`
	Name         string           `json:"name"`
	Alternate    string           `json:"alternateName"`
	Description  string           `json:"description"`
	ConformsTo   string           `json:"conformsTo"`
	License      string           `json:"license"`
	URL          string           `json:"url"`
	Creator      []agent          `json:"creator"`
	Date         string           `json:"datePublished"`
	Version      string           `json:"version"`
	Live         bool             `json:"isLiveDataset"`
	CiteAs       string           `json:"citeAs"`
	Keywords     []string         `json:"keywords"`
	Distribution []any            `json:"distribution"` // fileObject or fileSet
	RecordSet    []recordSet      `json:"recordSet"`
}

type agent struct {
	Type string `json:"@type"`
	Name string `json:"name"`
}

type ref struct {
	ID string `json:"@id"`
}

type fileObject struct {
	Type     string `json:"@type"`
	ID       string `json:"@id"`
	Name     string `json:"name"`
	About    string `json:"description"`
	URL      string `json:"contentUrl"`
	Size     string `json:"contentSize"`
	Encoding string `json:"encodingFormat"`
	SHA256   string `json:"sha256"`
}

type fileSet struct {
	Type     string   `json:"@type"`
	ID       string   `json:"@id"`
	Name     string   `json:"name"`
	About    string   `json:"description"`
	Encoding string   `json:"encodingFormat"`
	Includes []string `json:"includes"`
}

type recordSet struct {
	Type  string  `json:"@type"`
	ID    string  `json:"@id"`
	Name  string  `json:"name"`
	About string  `json:"description"`
	Key   []ref   `json:"key"`
	Field []field `json:"field"`
}

type field struct {
	Type       string      `json:"@type"`
	ID         string      `json:"@id"`
	Name       string      `json:"name"`
	About      string      `json:"description"`
	DataType   string      `json:"dataType"`
	References *references `json:"references,omitzero"`
	Source     source      `json:"source"`
}

type references struct {
	Field ref `json:"field"`
}

type source struct {
	FileObject ref     `json:"fileObject"`
	Extract    extract `json:"extract"`
}

type extract struct {
	Column string `json:"column"`
}

// croissantContext are the terms of the format. Validators compare them with the published
// ones, so they are not shortened to what a document uses.
type croissantContext struct {
	Language     string `json:"@language"`
	Vocab        string `json:"@vocab"`
	CiteAs       string `json:"citeAs"`
	Column       string `json:"column"`
	ConformsTo   string `json:"conformsTo"`
	ContainedIn  string `json:"containedIn"`
	CR           string `json:"cr"`
	RAI          string `json:"rai"`
	Data         term   `json:"data"`
	DataType     term   `json:"dataType"`
	DCT          string `json:"dct"`
	Examples     term   `json:"examples"`
	Extract      string `json:"extract"`
	Field        string `json:"field"`
	FileProperty string `json:"fileProperty"`
	FileObject   string `json:"fileObject"`
	FileSet      string `json:"fileSet"`
	Format       string `json:"format"`
	Includes     string `json:"includes"`
	IsLive       string `json:"isLiveDataset"`
	JSONPath     string `json:"jsonPath"`
	Key          string `json:"key"`
	MD5          string `json:"md5"`
	ParentField  string `json:"parentField"`
	Path         string `json:"path"`
	RecordSet    string `json:"recordSet"`
	References   string `json:"references"`
	Regex        string `json:"regex"`
	Repeated     string `json:"repeated"`
	Replace      string `json:"replace"`
	SC           string `json:"sc"`
	Separator    string `json:"separator"`
	Source       string `json:"source"`
	SubField     string `json:"subField"`
	Transform    string `json:"transform"`
}

type term struct {
	ID   string `json:"@id"`
	Type string `json:"@type"`
}

func newContext() croissantContext {
	return croissantContext{
		Language: "en", Vocab: "https://schema.org/", SC: "https://schema.org/", CR: "http://mlcommons.org/croissant/",
		RAI: "http://mlcommons.org/croissant/RAI/", DCT: "http://purl.org/dc/terms/", ConformsTo: "dct:conformsTo",
		Data: term{"cr:data", "@json"}, Examples: term{"cr:examples", "@json"}, DataType: term{"cr:dataType", "@vocab"},
		CiteAs: "cr:citeAs", Column: "cr:column", ContainedIn: "cr:containedIn", Extract: "cr:extract", Field: "cr:field",
		FileProperty: "cr:fileProperty", FileObject: "cr:fileObject", FileSet: "cr:fileSet", Format: "cr:format",
		Includes: "cr:includes", IsLive: "cr:isLiveDataset", JSONPath: "cr:jsonPath", Key: "cr:key", MD5: "cr:md5",
		ParentField: "cr:parentField", Path: "cr:path", RecordSet: "cr:recordSet", References: "cr:references", Regex: "cr:regex",
		Repeated: "cr:repeated", Replace: "cr:replace", Separator: "cr:separator", Source: "cr:source", SubField: "cr:subField",
		Transform: "cr:transform",
	}
}

// croissant describes every table as a record set over its file.
func (p *publication) croissant() croissant {
	a := p.about
	c := croissant{
		Context: newContext(), Type: "sc:Dataset", Name: a.Name, Alternate: a.Title, Description: p.summary(), ConformsTo: croissant11,
		License: "https://spdx.org/licenses/" + a.License + ".html", URL: a.URL, Date: a.Date, Version: p.manifest.Version,
		CiteAs: p.citation(), Keywords: keywords(),
	}
	for _, name := range a.Creators {
		c.Creator = append(c.Creator, agent{"sc:Organization", name})
	}
	for _, t := range p.tables {
		c.Distribution = append(c.Distribution, fileObject{"cr:FileObject", t.Path, t.Path, p.tableDoc(t), t.Path,
			fmt.Sprintf("%d B", t.Bytes), parquetMedia, t.SHA256})
	}
	sets := []fileSet{{"cr:FileSet", "tables-shared", "tables-shared", "Tables that all profiles share.", parquetMedia, []string{"data/*.parquet"}}}
	for _, profile := range p.manifest.Parameters.Profiles {
		sets = append(sets, fileSet{"cr:FileSet", "tables-" + profile, "tables-" + profile, "Tables of the method profile " + profile + ".",
			parquetMedia, []string{"data/" + profile + "/*.parquet"}})
	}
	for _, s := range sets {
		c.Distribution = append(c.Distribution, s)
	}
	for _, t := range p.tables {
		r := recordSet{Type: "cr:RecordSet", ID: t.Config, Name: t.Config, About: p.tableDoc(t)}
		for _, k := range t.key() {
			r.Key = append(r.Key, ref{t.Config + "/" + k})
		}
		for _, column := range t.Present {
			f := field{"cr:Field", t.Config + "/" + column.Name, column.Name, column.Doc, croissantType(column.Kind), nil,
				source{ref{t.Path}, extract{column.Name}}}
			if parent, ok := p.parent(t, column); ok {
				f.References = &references{ref{parent.Config + "/" + parent.key()[0]}}
			}
			r.Field = append(r.Field, f)
		}
		c.RecordSet = append(c.RecordSet, r)
	}
	return c
}

func croissantType(k schema.Kind) string {
	return [...]string{schema.Text: "sc:Text", schema.Integer: "sc:Integer", schema.Real: "sc:Float", schema.Boolean: "sc:Boolean"}[k]
}

// parent finds the published table that a column refers to.
func (p *publication) parent(t tableFile, c schema.Column) (tableFile, bool) {
	i := slices.IndexFunc(p.tables, func(x tableFile) bool {
		return c.Ref != "" && x.Name == c.Ref && (!x.PerProfile || x.Profile == t.Profile)
	})
	if i < 0 {
		return tableFile{}, false
	}
	return p.tables[i], true
}

// tableDoc says what a table holds.
func (p *publication) tableDoc(t tableFile) string {
	if t.Profile == "" {
		return t.Doc
	}
	return t.Doc + " Profile " + t.Profile + "."
}

func keywords() []string {
	return []string{"software engineering agents", "coding agents", "agent trajectories", "process quality", "prefix tree acceptor", "training data curation", "SWE-bench"}
}
