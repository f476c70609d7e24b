// Validates the documents of a published folder: datapackage.json against the profile that
// the datapackage package carries, croissant.json as JSON-LD with the terms of its context and
// the properties that Croissant requires, and the digests and sizes in both against the files.
//
//   node documents.mjs FOLDER
import { createHash } from 'node:crypto'
import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import datapackage from 'datapackage'
import jsonld from 'jsonld'

const folder = process.argv[2]
const problems = []
const need = (ok, what) => ok || problems.push(what)
const read = (name) => JSON.parse(readFileSync(join(folder, name)))
const digest = (path) => createHash('sha256').update(readFileSync(join(folder, path))).digest('hex')
const parquet = readdirSync(join(folder, 'data'), { recursive: true }).filter((f) => f.endsWith('.parquet')).length

const pkg = read('datapackage.json')
for (const [name, descriptor] of [
	['data-package', pkg],
	['tabular-data-package', { ...pkg, profile: 'tabular-data-package', resources: pkg.resources.map((r) => ({ ...r, profile: 'tabular-data-resource' })) }],
]) {
	const { valid, errors } = (await datapackage.Profile.load(name)).validate(descriptor)
	need(valid, `datapackage.json is no ${name}: ${errors.map((e) => e.message).slice(0, 3).join('; ')}`)
}
for (const r of pkg.resources) {
	need(r.hash === 'sha256:' + digest(r.path), `datapackage.json: hash of ${r.path}`)
	need(r.bytes === readFileSync(join(folder, r.path)).length, `datapackage.json: bytes of ${r.path}`)
}
need(pkg.resources.length === parquet, `datapackage.json has ${pkg.resources.length} resources, there are ${parquet} files`)

const sc = 'https://schema.org/'
const cr = 'http://mlcommons.org/croissant/'
const dct = 'http://purl.org/dc/terms/'
const [dataset, ...rest] = await jsonld.expand(read('croissant.json'))
need(rest.length === 0 && dataset['@type'][0] === sc + 'Dataset', 'croissant.json is not one Dataset')
const value = (node, term) => node[term]?.[0]?.['@value'] ?? node[term]?.[0]?.['@id']
const required = (node, where, terms) => terms.forEach((t) => need(value(node, t), `croissant.json: ${where} lacks ${t}`))
required(dataset, 'the dataset', [...['name', 'description', 'license', 'url', 'datePublished', 'version'].map((t) => sc + t), dct + 'conformsTo'])
need(dataset[sc + 'creator']?.length > 0, 'croissant.json lacks a creator')
need(value(dataset, dct + 'conformsTo') === cr + '1.1', 'croissant.json does not conform to 1.1')
const files = new Set()
for (const node of dataset[sc + 'distribution']) {
	const id = node['@id']
	required(node, id, [sc + 'name', sc + 'encodingFormat'])
	if (node['@type'][0] === cr + 'FileSet') {
		required(node, id, [cr + 'includes'])
		continue
	}
	need(node['@type'][0] === cr + 'FileObject', `croissant.json: ${id} is a ${node['@type']}`)
	need(value(node, sc + 'sha256') === digest(value(node, sc + 'contentUrl')), `croissant.json: sha256 of ${id}`)
	files.add(id)
}
need(files.size === parquet, `croissant.json has ${files.size} files, there are ${parquet}`)
const fields = new Map()
for (const set of dataset[cr + 'recordSet']) {
	required(set, set['@id'], [sc + 'name'])
	for (const field of set[cr + 'field']) {
		required(field, field['@id'], [sc + 'name', cr + 'dataType'])
		const source = field[cr + 'source']?.[0]
		need(files.has(source?.[cr + 'fileObject']?.[0]['@id']), `croissant.json: ${field['@id']} has no file`)
		need(value(source?.[cr + 'extract']?.[0] ?? {}, cr + 'column'), `croissant.json: ${field['@id']} has no column`)
		fields.set(field['@id'], field)
	}
}
for (const set of dataset[cr + 'recordSet']) {
	for (const key of set[cr + 'key']) need(fields.has(key['@id']), `croissant.json: key ${key['@id']} is no field`)
}
for (const field of fields.values()) {
	const to = field[cr + 'references']?.[0]?.[cr + 'field']?.[0]['@id']
	need(!to || fields.has(to), `croissant.json: ${field['@id']} refers to ${to}`)
}
problems.forEach((p) => console.error(p))
if (problems.length) process.exit(1)
console.log(`datapackage.json and croissant.json: ${files.size} files, ${fields.size} fields: valid, digests right`)
