import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { checkFile } from '../../dashboard/data/executions/batch-file.ts';
import { readLine } from '../../src/features/batches/rules/read-line.ts';

const check = (text: string | Uint8Array<ArrayBuffer>, required: readonly string[] = []) =>
  checkFile(new Blob([text]), required);
const line = (fields: object) => JSON.stringify({ id: '1', variables: {}, ...fields });

test('counts lines, without blank ones and whatever ends them', async () => {
  const { lines, invalid, refusal } = await check(
    `\ufeff\n${line({})}\r\n \t\r\n\n${line({ id: '2' })}`,
  );
  assert.deepEqual([lines, invalid, refusal], [2, 0, null]);
});

test('finds invalid lines by their number, in the words of the server', async () => {
  const invalid = [
    'no',
    '[]',
    '{"variables":{}}',
    line({ id: '' }),
    line({ id: 'x'.repeat(201) }),
    line({ id: '7', name: 'x' }),
    line({ id: '8', variables: 1 }),
    '{"id":"9"}',
  ];
  const { lines, problems } = await check([line({}), ...invalid].join('\n'));
  assert.equal(lines, invalid.length + 1);
  assert.deepEqual(
    problems,
    invalid.map((text, index) => {
      const { body } = readLine(text);
      return { line: index + 2, text: 'message' in body ? body.message : '' };
    }),
  );
});

test('finds ids that repeat, missing variables, other bytes than UTF-8, and lines that are too long', async () => {
  const longest = line({ id: '4', variables: { x: 'x' } });
  const bytes = Buffer.concat([
    Buffer.from(`${line({ variables: { x: 1 } })}\n${line({})}\n${line({ id: '2' })}\n`),
    Buffer.from(`${line({ id: '3', variables: { x: null } })}\n`),
    Buffer.from([0x22, 0xff, 0x22, 0x0a]),
    Buffer.from(`${longest}${' '.repeat(1_048_577)}\n${longest}\n`),
  ]);
  const { problems } = await check(bytes, ['x']);
  const missing = 'Required variables are missing: x.';
  assert.deepEqual(problems, [
    { line: 2, text: 'An earlier line has the same id.' },
    { line: 3, text: missing },
    { line: 4, text: missing },
    { line: 5, text: 'The line is not valid UTF-8.' },
    { line: 6, text: 'The line is too long.' },
  ]);
});

test('a file that the server would refuse as a whole', async () => {
  assert.equal((await check('\n')).refusal, 'The file contains no line.');
  assert.equal((await check('{}\n'.repeat(50_000))).refusal, null);
  assert.equal(
    (await check('{}\n'.repeat(50_001))).refusal,
    'The file has more than 50,000 lines.',
  );
  const large = { size: 104_857_601 } as Blob;
  assert.equal((await checkFile(large, [])).refusal, 'The file has more than 100 MiB.');
});

test('a long file leaves the page time for other work, and stops when it is closed', async (t) => {
  // Each line takes as long as a piece may take.
  let nowMs = 0;
  t.mock.method(performance, 'now', () => (nowMs += 10));
  const count = 200;
  const text = Array.from({ length: count }, (_, id) => line({ id: String(id) })).join('\n');
  let turns = 0;
  let done = false;
  const checking = check(text).finally(() => {
    done = true;
  });
  while (!done) {
    await setImmediate();
    turns++;
  }
  assert.ok(turns >= count, `${turns} turns of the event loop`);
  assert.equal((await checking).lines, count);
  const closed = AbortSignal.abort(new Error('closed'));
  await assert.rejects(checkFile(new Blob([text]), [], closed), /closed/);
});
