import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type AgentForm, blankForm, toAgentPatch } from '../../dashboard/data/agents/agent-form.ts';
import { curlSnippet } from '../../dashboard/data/agents/call-snippets.ts';
import { ExactNumber, parse, stringify } from '../../dashboard/data/text/exact-json.ts';
import { parseJsonObject } from '../../dashboard/data/text/json-object.ts';
import { readDefinition, writeDefinition } from '../../dashboard/data/workflows/definition-text.ts';

test('numbers keep their exact text', () => {
  const text =
    '{"id":12345678901234567890,"1.10":[1.10,-0,1e5,0.1,-7],"text":"1.10 \\" 1.10 \\\\","none":null}';
  assert.equal(stringify(parse(text)), text);
  assert.equal(stringify(parse('{"a":[2.0]}'), 2), '{\n  "a": [\n    2.0\n  ]\n}');
  assert.equal(stringify(parse('1.10')), '1.10');
});

test('numbers that JavaScript prints unchanged stay plain', () => {
  assert.deepEqual(parse('[1,0.1,-7,1e+21,1e-7]'), [1, 0.1, -7, 1e21, 1e-7]);
  assert.deepEqual(parse('[1.10]'), [new ExactNumber('1.10')]);
});

test('rejects invalid JSON and accepts long strings', () => {
  for (const text of ['', '{1.0: 2}', '[01.0]', '[1.0', '"1.0', '1.0 2.0']) {
    assert.throws(() => parse(text), SyntaxError);
  }
  const long = `[1.10,${JSON.stringify('\\"\n'.repeat(300_000))}]`;
  assert.equal(stringify(parse(long)), long);
});

test('a number is not an object', () => {
  assert.equal(parseJsonObject('1.10'), null);
  assert.equal(parseJsonObject('[1.10]'), null);
  assert.equal(stringify(parseJsonObject('{"a":1.10}')), '{"a":1.10}');
});

test('defaults keep their exact numbers', () => {
  const form = (value: string): AgentForm => ({
    ...blankForm,
    variables: [{ name: 'id', kind: 'json', value }],
  });
  const change = toAgentPatch(form('1'), form('[12345678901234567890]'));
  assert.equal(stringify(change), '{"defaultVariableValues":{"id":[12345678901234567890]}}');
});

test('the curl snippet keeps exact numbers', () => {
  const variables = parse('{"id":12345678901234567890}') as Record<string, unknown>;
  const call = { agentId: 'agt_1', variables, baseURL: 'https://example.com', key: null };
  assert.match(curlSnippet(call), /"id": 12345678901234567890\n/);
});

test('definitions keep exact numbers in YAML and JSON', () => {
  const yaml = [
    'steps:',
    '  - name: first',
    '    variables:',
    '      id: 12345678901234567890',
    '      who: 1.10',
    '      "no": "1.10"',
    '      1.0: 5',
    'output: -1.50e+10\n',
  ].join('\n');
  const { definition } = readDefinition(yaml);
  const json =
    '{"steps":[{"name":"first","variables":{"id":12345678901234567890,"who":1.10,"no":"1.10","1.0":5}}],"output":-1.50e+10}';
  assert.equal(stringify(definition), json);
  assert.equal(stringify(readDefinition(writeDefinition(definition, 'JSON')).definition), json);
  assert.equal(stringify(readDefinition(writeDefinition(definition, 'YAML')).definition), json);
});

test('YAML-only number formats become JSON numbers', () => {
  const { definition } = readDefinition('[+12345678901234567890, 007, 0x1F, -00.50, .5, 012.]');
  assert.equal(stringify(definition), '[12345678901234567890,7,31,-0.50,0.5,12]');
});
