import assert from 'node:assert/strict';

/** The cells of one record, according to RFC 4180. */
export function readCsvLine(line: string): string[] {
  const cells: string[] = [];
  let rest = line;
  for (;;) {
    const quoted = /^"((?:[^"]|"")*)"(,|\r\n)/.exec(rest);
    const found = quoted ?? /^([^",\r\n]*)(,|\r\n)/.exec(rest);
    assert.ok(found, `not a record: ${JSON.stringify(rest)}`);
    const [whole, text = '', end] = found;
    cells.push(quoted ? text.replaceAll('""', '"') : text);
    rest = rest.slice(whole.length);
    if (end === '\r\n') {
      assert.equal(rest, '');
      return cells;
    }
  }
}
