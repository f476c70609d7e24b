// Reads the Parquet and CSV files of a plan with DuckDB and prints what it sees.
import { readFileSync } from 'node:fs'
import { DuckDBInstance } from '@duckdb/node-api'

const sqlType = { text: 'VARCHAR', integer: 'BIGINT', real: 'DOUBLE', boolean: 'BOOLEAN' }
const quote = (s) => `'${s.replaceAll("'", "''")}'`
const name = (s) => `"${s.replaceAll('"', '""')}"`
const total = {
  VARCHAR: (x) => `sum(strlen(${x}))`, // bytes
  BOOLEAN: (x) => `count(*) FILTER (${x})`,
  DOUBLE: (x) => `fsum(${x})`, // compensated
}

const instance = await DuckDBInstance.create(':memory:')
const connection = await instance.connect()
const rows = async (sql) => (await connection.runAndReadAll(sql)).getRowsJson()

const describe = async (source) => (await rows(`DESCRIBE SELECT * FROM ${source}`)).map(([name, type]) => ({ name, type }))

async function read(source) {
  const columns = await describe(source)
  const exprs = columns.flatMap(({ name: n, type }) => {
    const x = name(n)
    const sum = (total[type] ?? ((y) => `sum(${y})`))(x)
    return [`count(*) - count(${x})`, `coalesce(${sum}, 0)`, type === 'VARCHAR' ? `count(*) FILTER (${x} = '')` : '0']
  })
  const [[n, ...figures]] = await rows(`SELECT ${['count(*)', ...exprs].map((e) => `CAST(${e} AS VARCHAR)`)} FROM ${source}`)
  columns.forEach((c, i) => {
    [c.nulls, c.sum, c.empty] = figures.slice(3 * i, 3 * i + 3)
  })
  return { rows: n, columns }
}

const plan = JSON.parse(readFileSync(process.argv[2], 'utf8'))
const seen = []
for (const [index, item] of plan.items.entries()) {
  if (!['parquet', 'csv'].includes(item.format)) continue
  const files = `[${item.files.map(quote)}]`
  let out = { index, reader: `DuckDB on ${item.format}` }
  try {
    if (item.format === 'csv') {
      const types = item.columns.map((c) => `${quote(c.name)}: ${quote(sqlType[c.type])}`)
      Object.assign(out, await read(`read_csv(${files}, header = true, columns = {${types}}, delim = ',', quote = '"', escape = '"', nullstr = '', allow_quoted_nulls = false, auto_detect = false)`))
      out.guessed = await describe(`read_csv(${files}, header = true, sample_size = -1)`)
    } else if (item.hive) {
      const source = `read_parquet(${files}, hive_partitioning = true, hive_types_autocast = false)`
      Object.assign(out, await read(source))
      out.columns = out.columns.filter((c) => c.name !== item.hive || !(out.hiveType = c.type))
      out.partitions = Object.fromEntries(await rows(`SELECT ${name(item.hive)}, CAST(count(*) AS VARCHAR) FROM ${source} GROUP BY 1`))
    } else {
      Object.assign(out, await read(`read_parquet(${files})`))
    }
  } catch (error) {
    out.error = String(error.message ?? error)
  }
  seen.push(out)
}
console.log(JSON.stringify(seen))
