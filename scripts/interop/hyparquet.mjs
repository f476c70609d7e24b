// Reads the Parquet files of a plan with hyparquet and prints what it sees.
import { readFileSync } from 'node:fs'
import { parquetMetadata, parquetRead } from 'hyparquet'
import { Figures } from './figures.mjs'

async function read(path, columns) {
  const bytes = readFileSync(path)
  const file = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength)
  const metadata = parquetMetadata(file)
  const leaves = metadata.schema.slice(1)
  columns ??= leaves.map((e) => new Figures(e.name, [e.type, e.converted_type].filter(Boolean).join(' '), e.repetition_type === 'OPTIONAL'))
  if (leaves.length !== columns.length || leaves.some((e, i) => e.name !== columns[i].name)) throw new Error(`${path}: other columns than the first file`)
  const byName = new Map(columns.map((c) => [c.name, c]))
  if (metadata.num_rows > 0n) {
    await parquetRead({ file, metadata, onChunk: (chunk) => byName.get(chunk.columnName).add(chunk.columnData) })
  }
  return { rows: Number(metadata.num_rows), columns }
}

const plan = JSON.parse(readFileSync(process.argv[2], 'utf8'))
const seen = []
for (const [index, item] of plan.items.entries()) {
  if (item.format !== 'parquet') continue
  const out = { index, reader: 'hyparquet', rows: 0 }
  try {
    for (const path of item.files) {
      const part = await read(path, out.columns)
      out.rows += part.rows
      out.columns = part.columns
    }
    for (const c of out.columns) c.check(out.rows)
  } catch (error) {
    out.error = String(error.message ?? error)
  }
  seen.push(out)
}
console.log(JSON.stringify(seen))
