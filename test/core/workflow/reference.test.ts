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
  ['a text without any', 'as it is', '"as it is"'],
  ['a whole value with its type', '{{input.deep.a.b[1]}}', '20'],
  ['inner blanks', '{{  input.ticket\t}}', '"Help"'],
  ['a number as it was sent', '{{ input.n }}', '12345678901234567890'],
  ['the whole input', '{{input}}', scope.input.json],
  ['within text', 'No. {{input.n}}: {{input.ticket}}!', '"No. 12345678901234567890: Help!"'],
  ['an object within text', 'see {{input.deep}}', '"see {\\"a\\":{\\"b\\":[10,20]}}"'],
  ['an output exactly as written', '{{steps.plain.output}}', outputs.plain ?? ''],
  [
    'an output within text, one pass',
    '<{{steps.plain.output}}>',
    '"<It {{index}} \\"said\\"\\nso.>"',
  ],
  ['a path within a fenced output', '{{steps.triage.output.parts[1].id}}', '8'],
  ['a number within an output as written', '{{steps.triage.output.n}}', '1.0'],
  ['a path within text that is no JSON', '{{steps.plain.output.a}}', 'null'],
  ['an output that is a value', '{{steps.list.output}}', '[1,{"a":null}]'],
  ['a step without output', '{{steps.nobody.output.a}}', 'null'],
  ['what does not exist within text', '[{{input.none}}{{steps.nobody.output}}]', '"[]"'],
  ['a place beyond the list', '{{steps.list.output[2]}}', 'null'],
  [
    'a name on a list, a place on an object',
    ['{{steps.list.output.a}}', '{{input.deep[0]}}'],
    '[null,null]',
  ],
  ['names that every object has', '{{input.toString}}', 'null'],
  [
    'the item and its place',
    { a: '{{item.id}}', b: '{{item.tags[0]}}', c: '{{index}}' },
    '{"a":"p-1","b":"x","c":3}',
  ],
  [
    'what is no reference',
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

test('references are found in every text of a value', () => {
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

test('the parts of a value that hold no reference are not gone through one by one', (t) => {
  const parts = Array.from({ length: 1_000 }, (_, n) => [n, `${n}`, { name: n }]);
  const value = { parts, reference: '{{input.ticket}}' };
  const methods = [t.mock.method(JSON, 'stringify'), t.mock.method(Object, 'entries')];
  const filled = fill(value, scope, 1_000_000);
  const calls = methods.reduce((sum, { mock }) => sum + mock.callCount(), 0);
  t.mock.restoreAll();
  assert.equal(filled, JSON.stringify({ parts, reference: 'Help' }));
  assert.ok(calls < 10, `${calls} calls`);
});

test('a result that grows too long is none', () => {
  const long = { ...scope, input: documentOf(JSON.stringify({ a: 'x'.repeat(100) })) };
  assert.equal(fill('{{input.a}}'.repeat(3), long, 100), null);
  assert.equal(fill(['{{input.a}}', '{{input.a}}'], long, 200), null);
  assert.equal(fill('{{input.a}}', long, 102)?.length, 102);
  assert.equal(fill('{{input.a}}', long, 101), null);
});

test('any JSON without references stays what it is', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      assert.equal(fill(value, scope, 1_000_000), JSON.stringify(value));
    }),
  );
});

test('any value comes through a reference, alone and in a path', () => {
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

test('elements are those of the array', () => {
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

test('an output is looked into where it is JSON, and only there', () => {
  assert.equal(withinOutput(outputOfText(' {"a": 1} ')), '{"a":1}');
  assert.equal(withinOutput(outputOfText('```\n[1, 2]\n```\n')), '[1,2]');
  assert.equal(withinOutput(outputOfText('billing')), '"billing"');
  assert.equal(
    withinOutput(outputOfText('```json\n{"a":\n```')),
    outputOfText('```json\n{"a":\n```'),
  );
  assert.equal(withinOutput('{"a":"{}"}'), '{"a":"{}"}');
  // A model that runs off into blanks: it must be told at once that this is none.
  const blanks = outputOfText(`\`\`\`json\n${' '.repeat(2_000_000)}x`);
  assert.equal(withinOutput(blanks), blanks);
  const deep = outputOfText('['.repeat(200) + ']'.repeat(200));
  assert.equal(withinOutput(deep), deep);
});

/** How often the end of a string was looked for: what a walk through a text costs, on any machine. */
function stringsWalked(t: TestContext, walk: () => void): number {
  const { mock } = t.mock.method(String.prototype, 'indexOf');
  walk();
  const count = mock.calls.filter((call) => call.arguments[0] === '"').length;
  mock.restore();
  return count;
}

test('an output is gone through once, however many references look into it', (t) => {
  const members = Array.from({ length: 1_000 }, (_, n) => `"m${n}":"${'x'.repeat(80)}"`);
  const output = documentOf(outputOfText(`{${members.join(',')}}`));
  const parse = t.mock.method(JSON, 'parse');
  const own = { ...scope, output: () => output };
  const many = Array.from({ length: 100 }, (_, n) => `{{steps.a.output.m${n}}}`);
  for (let turn = 0; turn < 2; turn++) assert.ok(fill([...many, ...many], own, 10_000_000));
  const wholes = parse.mock.calls.filter((call) => call.arguments[0] === output.json);
  assert.equal(wholes.length, 1);
  const last = parse.mock.calls.filter((call) => call.arguments[0] === '"m999"');
  assert.equal(last.length, 1);
});

test('a list is gone through once, however many references look into it', (t) => {
  const list = `[${Array.from({ length: 300 }, (_, n) => `"${n}"`).join(',')}]`;
  const many = Array.from({ length: 100 }, (_, n) => `{{input.l[${n}]}} {{item.l[${n}]}}`);
  const walked = stringsWalked(t, () => {
    const json = `{"l":${list}}`;
    assert.ok(
      fill(many, { ...scope, input: documentOf(json), item: documentOfItem(json) }, 1_000_000),
    );
  });
  // Each document: where its lists end, where its parts begin, and the strings that were asked for.
  assert.ok(walked < 2 * 4 * 300, `${walked} strings`);
});

test('what lies deep is found by going through the whole once, and not once for each level', (t) => {
  const list = `[${Array.from({ length: 300 }, (_, n) => `"${n}"`).join(',')}]`;
  const input = documentOf(`{"l":${'['.repeat(100)}${list}${']'.repeat(100)}}`);
  const reference = `{{input.l${'[0]'.repeat(100)}[299]}}`;
  const walked = stringsWalked(t, () => {
    assert.equal(fill(reference, { ...scope, input }, 1_000), '"299"');
  });
  assert.ok(walked < 4 * 300, `${walked} strings`);
});

test('how long a value is within text is found out once, also where it does not fit', (t) => {
  const long = 'x'.repeat(50_000);
  const own = { ...scope, input: documentOf(JSON.stringify({ a: long, b: [long] })) };
  const value = { text: '{{input.a}}{{input.b[0]}}{{input.b}}{{input}}'.repeat(20) };
  const parse = t.mock.method(JSON, 'parse');
  for (let item = 0; item < 100; item++) assert.equal(fill(value, own, 400_000), null);
  const texts = parse.mock.calls.filter((call) => String(call.arguments[0]).length > 50_000);
  assert.equal(texts.length, 2, 'the two texts');
});

test('a text within a list is a text, whatever it holds', () => {
  const own = { ...scope, item: documentOfItem(JSON.stringify('{"a":1}')) };
  assert.equal(fill(['{{item.a}}', '{{item}}'], own, 100), '[null,"{\\"a\\":1}"]');
});
