import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import fc from 'fast-check';
import { compact, elements } from '../../../src/core/json.ts';
import { documentOf, documentOfItem } from '../../../src/core/workflow/document.ts';
import {
  fill,
  findReferences,
  type Scope,
  stepsReferredTo,
} from '../../../src/core/workflow/reference.ts';
import { outputOfText, withinOutput } from '../../../src/core/workflow/step-output.ts';

const outputs: Record<string, string> = {
  triage: outputOfText(
    '```json\n{"kind": "billing", "parts": [{"id": 7}, {"id": 8}], "n": 1.0}\n```',
  ),
  plain: outputOfText('It {{index}} "said"\nso.'),
  list: '[1,{"a":null}]',
};
const scope: Scope = {
  input: documentOf(
    '{"ticket":"Help","n":12345678901234567890,"2":"two","1":[true,null],"deep":{"a":{"b":[10,20]}}}',
  ),
  output: (step) => (outputs[step] === undefined ? null : documentOf(outputs[step])),
  item: documentOfItem('{"id":"p-1","tags":["x"]}'),
  index: 3,
};

const cases: [what: string, value: unknown, filled: string][] = [
  ['a text without references', 'unchanged', '"unchanged"'],
  ['a whole value with its type', '{{input.deep.a.b[1]}}', '20'],
  ['whitespace within braces', '{{  input.ticket\t}}', '"Help"'],
  ['a number with its exact digits', '{{ input.n }}', '12345678901234567890'],
  ['the whole input', '{{input}}', scope.input.json],
  ['within text', 'No. {{input.n}}: {{input.ticket}}!', '"No. 12345678901234567890: Help!"'],
  ['an object within text', 'see {{input.deep}}', '"see {\\"a\\":{\\"b\\":[10,20]}}"'],
  ['an output without changes', '{{steps.plain.output}}', outputs.plain ?? ''],
  [
    'an output within text, one pass',
    '<{{steps.plain.output}}>',
    '"<It {{index}} \\"said\\"\\nso.>"',
  ],
  ['a path within a fenced output', '{{steps.triage.output.parts[1].id}}', '8'],
  ['a number within an output with its exact digits', '{{steps.triage.output.n}}', '1.0'],
  ['a path within text that is not JSON', '{{steps.plain.output.a}}', 'null'],
  ['an output that is JSON', '{{steps.list.output}}', '[1,{"a":null}]'],
  ['a step without output', '{{steps.nobody.output.a}}', 'null'],
  ['a missing value within text', '[{{input.none}}{{steps.nobody.output}}]', '"[]"'],
  ['an index beyond the list', '{{steps.list.output[2]}}', 'null'],
  [
    'a name on a list, an index on an object',
    ['{{steps.list.output.a}}', '{{input.deep[0]}}'],
    '[null,null]',
  ],
  ['inherited names', '{{input.toString}}', 'null'],
  [
    'the item and its index',
    { a: '{{item.id}}', b: '{{item.tags[0]}}', c: '{{index}}' },
    '{"a":"p-1","b":"x","c":3}',
  ],
  [
    'text that is not a reference',
    '{{inputs.a}} {{steps.a}} {{index.a}} {input.a} {{input.a-b}}',
    '"{{inputs.a}} {{steps.a}} {{index.a}} {input.a} {{input.a-b}}"',
  ],
  [
    'other values and names',
    { '{{index}}': [1, null, true, { a: [] }] },
    '{"{{index}}":[1,null,true,{"a":[]}]}',
  ],
];
for (const [what, value, filled] of cases) {
  test(`fill: ${what}`, () => assert.equal(fill(value, scope, 10_000), filled));
}

test('finds references in every text of a value', () => {
  const value = [
    '{{steps.a.output}} and {{ steps.b.output[0].c }}',
    { x: '{{item}}', y: ['{{steps.a.output.z}}'] },
  ];
  assert.deepEqual(stepsReferredTo(value), ['a', 'b']);
  assert.deepEqual(
    findReferences(value).map(({ root, path }) => [root, path]),
    [
      ['steps', []],
      ['steps', [0, 'c']],
      ['item', []],
      ['steps', ['z']],
    ],
  );
});

test('does not visit parts of a value without references one by one', (t) => {
  const parts = Array.from({ length: 1_000 }, (_, n) => [n, `${n}`, { name: n }]);
  const value = { parts, reference: '{{input.ticket}}' };
  const methods = [t.mock.method(JSON, 'stringify'), t.mock.method(Object, 'entries')];
  const filled = fill(value, scope, 1_000_000);
  const calls = methods.reduce((sum, { mock }) => sum + mock.callCount(), 0);
  t.mock.restoreAll();
  assert.equal(filled, JSON.stringify({ parts, reference: 'Help' }));
  assert.ok(calls < 10, `${calls} calls`);
});

test('a too long result is rejected', () => {
  const long = { ...scope, input: documentOf(JSON.stringify({ a: 'x'.repeat(100) })) };
  assert.equal(fill('{{input.a}}'.repeat(3), long, 100), null);
  assert.equal(fill(['{{input.a}}', '{{input.a}}'], long, 200), null);
  assert.equal(fill('{{input.a}}', long, 102)?.length, 102);
  assert.equal(fill('{{input.a}}', long, 101), null);
});

test('JSON without references is unchanged', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      assert.equal(fill(value, scope, 1_000_000), JSON.stringify(value));
    }),
  );
});

test('a reference returns any value exactly, also through a path', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const json = JSON.stringify(value);
      const own = {
        ...scope,
        input: documentOf(`{"v":${json}}`),
        output: () => documentOf(outputOfText(`{"v":[${json}]}`)),
      };
      assert.equal(fill('{{input.v}}', own, 1_000_000), json);
      assert.equal(fill('{{steps.a.output.v[0]}}', own, 1_000_000), json);
    }),
  );
});

test('returns the elements of an array', () => {
  fc.assert(
    fc.property(fc.array(fc.jsonValue()), (values) => {
      const json = compact(JSON.stringify(values, null, 2));
      assert.deepEqual(
        elements(json),
        values.map((value) => JSON.stringify(value)),
      );
    }),
  );
});

test('only JSON outputs are parsed', () => {
  assert.equal(withinOutput(outputOfText(' {"a": 1} ')), '{"a":1}');
  assert.equal(withinOutput(outputOfText('```\n[1, 2]\n```\n')), '[1,2]');
  assert.equal(withinOutput(outputOfText('billing')), '"billing"');
  assert.equal(
    withinOutput(outputOfText('```json\n{"a":\n```')),
    outputOfText('```json\n{"a":\n```'),
  );
  assert.equal(withinOutput('{"a":"{}"}'), '{"a":"{}"}');
  // A model that emits endless whitespace: rejecting it must be fast.
  const blanks = outputOfText(`\`\`\`json\n${' '.repeat(2_000_000)}x`);
  assert.equal(withinOutput(blanks), blanks);
  const deep = outputOfText('['.repeat(200) + ']'.repeat(200));
  assert.equal(withinOutput(deep), deep);
});

/** Counts searches for the end of a string: the cost of a scan, independent of the machine. */
function stringsScanned(t: TestContext, scan: () => void): number {
  const { mock } = t.mock.method(String.prototype, 'indexOf');
  scan();
  const count = mock.calls.filter((call) => call.arguments[0] === '"').length;
  mock.restore();
  return count;
}

test('an output is parsed once for all references', (t) => {
  const members = Array.from({ length: 1_000 }, (_, n) => `"m${n}":"${'x'.repeat(80)}"`);
  const output = documentOf(outputOfText(`{${members.join(',')}}`));
  const parse = t.mock.method(JSON, 'parse');
  const own = { ...scope, output: () => output };
  const many = Array.from({ length: 100 }, (_, n) => `{{steps.a.output.m${n}}}`);
  for (let round = 0; round < 2; round++) assert.ok(fill([...many, ...many], own, 10_000_000));
  const outputs = parse.mock.calls.filter((call) => call.arguments[0] === output.json);
  assert.equal(outputs.length, 1);
  const last = parse.mock.calls.filter((call) => call.arguments[0] === '"m999"');
  assert.equal(last.length, 1);
});

test('a list is scanned once for all references', (t) => {
  const list = `[${Array.from({ length: 300 }, (_, n) => `"${n}"`).join(',')}]`;
  const many = Array.from({ length: 100 }, (_, n) => `{{input.l[${n}]}} {{item.l[${n}]}}`);
  const scanned = stringsScanned(t, () => {
    const json = `{"l":${list}}`;
    assert.ok(
      fill(many, { ...scope, input: documentOf(json), item: documentOfItem(json) }, 1_000_000),
    );
  });
  // For each document: the end of its lists, the start of its parts, and the requested strings.
  assert.ok(scanned < 2 * 4 * 300, `${scanned} strings`);
});

test('a deep value is found in one scan, not one per level', (t) => {
  const list = `[${Array.from({ length: 300 }, (_, n) => `"${n}"`).join(',')}]`;
  const input = documentOf(`{"l":${'['.repeat(100)}${list}${']'.repeat(100)}}`);
  const reference = `{{input.l${'[0]'.repeat(100)}[299]}}`;
  const scanned = stringsScanned(t, () => {
    assert.equal(fill(reference, { ...scope, input }, 1_000), '"299"');
  });
  assert.ok(scanned < 4 * 300, `${scanned} strings`);
});

test('the length of a value within text is measured once, even if it does not fit', (t) => {
  const long = 'x'.repeat(50_000);
  const own = { ...scope, input: documentOf(JSON.stringify({ a: long, b: [long] })) };
  const value = { text: '{{input.a}}{{input.b[0]}}{{input.b}}{{input}}'.repeat(20) };
  const parse = t.mock.method(JSON, 'parse');
  for (let item = 0; item < 100; item++) assert.equal(fill(value, own, 400_000), null);
  const texts = parse.mock.calls.filter((call) => String(call.arguments[0]).length > 50_000);
  assert.equal(texts.length, 2, 'the two texts');
});

test('a text item is not parsed as JSON', () => {
  const own = { ...scope, item: documentOfItem(JSON.stringify('{"a":1}')) };
  assert.equal(fill(['{{item.a}}', '{{item}}'], own, 100), '[null,"{\\"a\\":1}"]');
});
