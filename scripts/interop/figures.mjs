// What a reader sees of a column: NULLs, the sum, empty texts. The sum of text is its bytes,
// that of truth values the number of true ones; that of reals is compensated (Neumaier).
export class Figures {
  constructor(name, type, nullable) {
    Object.assign(this, { name, type, nullable, values: 0, nulls: 0, empty: 0, whole: 0n, real: 0, lost: 0, kinds: new Set() })
  }

  add(values) {
    for (const v of values) {
      this.values++
      if (v === null || v === undefined) {
        this.nulls++
        continue
      }
      this.kinds.add(typeof v)
      if (typeof v === 'bigint') {
        this.whole += v
      } else if (typeof v === 'string') {
        if (v === '') this.empty++
        this.whole += BigInt(Buffer.byteLength(v))
      } else if (typeof v === 'boolean') {
        if (v) this.whole++
      } else if (typeof v === 'number') {
        const sum = this.real + v
        this.lost += Math.abs(this.real) >= Math.abs(v) ? this.real - sum + v : v - sum + this.real
        this.real = sum
      } else {
        throw new Error(`${this.name}: a value of type ${typeof v}`)
      }
    }
  }

  check(rows) {
    if (this.values !== rows) throw new Error(`${this.name}: ${this.values} values in ${rows} rows`)
    if (this.kinds.size > 1) throw new Error(`${this.name}: values of types ${[...this.kinds].join(', ')}`)
  }

  toJSON() {
    const sum = this.kinds.has('number') ? this.real + this.lost : this.whole
    return { name: this.name, type: this.type, nullable: this.nullable, nulls: this.nulls, sum: String(sum), empty: this.empty }
  }
}
