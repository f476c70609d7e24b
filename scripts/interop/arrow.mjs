// Reads the Arrow files of a plan with Apache Arrow for JavaScript and prints what it sees.
import { readFileSync } from 'node:fs'
import { DataType, tableFromIPC } from 'apache-arrow'
import { Figures } from './figures.mjs'

const plan = JSON.parse(readFileSync(process.argv[2], 'utf8'))
const seen = []
for (const [index, item] of plan.items.entries()) {
  if (item.format !== 'arrow') continue
  const out = { index, reader: 'apache-arrow' }
  try {
    const table = tableFromIPC(readFileSync(item.files[0]))
    out.rows = table.numRows
    out.columns = table.schema.fields.map((field, i) => {
      const type = DataType.isDictionary(field.type) ? field.type.dictionary : field.type
      const figures = new Figures(field.name, String(type), field.nullable)
      if (table.numRows > 0) figures.add(table.getChildAt(i))
      figures.check(table.numRows)
      return figures
    })
  } catch (error) {
    out.error = String(error.message ?? error)
  }
  seen.push(out)
}
console.log(JSON.stringify(seen))
