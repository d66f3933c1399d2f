import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import type { CallAdditions } from '../../../src/core/agent/conversation.ts';
import type { Template } from '../../../src/core/agent/prompt.ts';
import {
  type PromptSize,
  sizeOfCall,
  sizeOfPrompt,
  sizeOfTemplate,
} from '../../../src/core/agent/prompt-size.ts';
import { defaultTexts, suppliedTexts } from '../../../src/core/agent/variables.ts';
import { renderPrompt } from '../../../src/core/execution/render-prompt.ts';

const names = ['a', 'b', '__proto__'];
const lists = ['history', 'more'];
const photo = `data:image/png;bytes=68;sha256=${'0'.repeat(64)}`;
const letter = `data:text/plain;bytes=9000;sha256=${'1'.repeat(64)}`;

const piece = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 20 }),
  fc.constantFrom(...names.map((name) => `{{ ${name} }}`)),
  fc.constantFrom('{{', '}}', '{{history', '{{unknown}}'),
);
const text = fc.array(piece, { maxLength: 8 }).map((parts) => parts.join(''));
const part = fc.oneof(
  text.map((value) => ({ text: value })),
  fc.constant({ image: '{{photo}}' }),
  fc.constant({ file: '{{letter}}' }),
);
const message = fc.oneof(
  fc.record({ role: fc.constantFrom('system', 'user', 'assistant'), content: text }),
  fc.record({ role: fc.constant('user'), content: fc.array(part, { maxLength: 4 }) }),
  fc.constantFrom(...lists.map((placeholder) => ({ placeholder }))),
);
const tools = fc.option(
  fc.array(fc.record({ name: fc.string(), description: fc.string({ unit: 'grapheme' }) }), {
    minLength: 1,
    maxLength: 3,
  }),
);
const template = fc.oneof(
  fc.record({ system: fc.option(text), user: text, tools }),
  fc.record({
    ...{ system: fc.constant(null), user: fc.constant(null) },
    ...{ messages: fc.array(message, { maxLength: 6 }), tools },
  }),
) as fc.Arbitrary<Template>;

const plain = fc.string({ unit: 'grapheme', maxLength: 30 });
const call = fc.record({
  id: fc.constant('c1'),
  name: plain.filter(Boolean),
  arguments: fc.dictionary(plain, fc.double({ noNaN: true, noDefaultInfinity: true })),
});
const turn = fc
  .record({ said: plain, toolCalls: fc.array(call, { minLength: 1, maxLength: 2 }), result: plain })
  .map(({ said, toolCalls, result }) => [
    { role: 'assistant', content: said, toolCalls },
    { role: 'tool', toolCallId: 'c1', content: result },
  ]);
const sentPart = fc.oneof(
  plain.map((value) => ({ text: value })),
  fc.constant({ image: photo }),
  fc.constant({ file: letter }),
);
const list = fc
  .array(
    fc.oneof(
      turn,
      fc.array(sentPart, { maxLength: 3 }).map((content) => [{ role: 'user', content }]),
      plain.map((content) => [{ role: 'user', content }]),
    ),
    { maxLength: 4 },
  )
  .map((turns) => turns.flat());
const value = fc.oneof(
  plain,
  fc.double({ noNaN: true }),
  fc.boolean(),
  fc.jsonValue(),
  fc.constant(null),
);
const variables = fc.record(
  {
    ...{ a: value, b: value, history: list, more: list },
    ...{ photo: fc.constant(photo), letter: fc.constant(letter) },
  },
  { requiredKeys: [] },
);

const additions: fc.Arbitrary<CallAdditions | null> = fc.option(
  fc.record({
    instructions: fc.option(plain),
    tools: fc.array(fc.record({ name: plain }), { maxLength: 2 }),
    toolChoice: fc.constant(null),
    reasoning: fc.constant({
      list: 'history',
      messages: [
        { index: 0, reasoning: [{ text: 'Because of reasons.', encrypted: 'x'.repeat(90) }] },
        { index: 1, extraContent: { c1: { google: { thought_signature: 'y'.repeat(50) } } } },
      ],
    }),
  }),
);

describe('the size of a call before it is rendered', () => {
  test('is never below that of the rendered prompt', () => {
    fc.assert(
      fc.property(
        ...[template, variables, variables, additions, fc.option(fc.json())],
        (version, supplied, defaults, added, schema) => {
          const inputVariables = JSON.stringify(supplied);
          const settings = { defaults, ...(added && { additions: added }) };
          const prompt = renderPrompt(version, { inputVariables, settings });
          assert.ok(prompt);
          const texts = new Map([...defaultTexts(defaults), ...suppliedTexts(inputVariables)]);
          const before = sizeOfCall(sizeOfTemplate(version), { texts, additions: added, schema });
          requireAtLeast(before, sizeOfPrompt(prompt, { schema, correction: null }));
        },
      ),
      { numRuns: 500 },
    );
  });

  test('counts a variable as often as it occurs, in bytes', () => {
    const version = { system: '{{a}}{{ a }}', user: '{{a}}-' };
    const size = sizeOfCall(sizeOfTemplate(version), {
      ...{ texts: new Map([['a', 'é€']]), additions: null, schema: null },
    });
    assert.deepEqual([size.textBytes, size.messages], [3 * 5 + 1, 2]);
  });
});

describe('the size of a prompt', () => {
  const prompt = { system: 'Be brief.', user: 'Hello' };

  test('includes a correction and the schema of the output', () => {
    const size = sizeOfPrompt(prompt, { schema: '{"type":"object"}', correction: 'It was wrong.' });
    assert.equal(size.messages, 4);
    assert.ok(size.textBytes > 17 + 'Your previous answer was not accepted.'.length);
    assert.equal(size.toolBytes, 17);
  });

  test('has images, texts by their bytes, and other files by their type', () => {
    const sized = (kind: 'image' | 'file', url: string) =>
      sizeOfPrompt(
        {
          ...prompt,
          messages: [
            { role: 'user', content: [{ [kind]: { variable: 'v', value: url } } as never] },
          ],
        },
        { schema: null, correction: null },
      );
    assert.equal(sized('image', 'https://x.test/a').images, 1);
    assert.equal(sized('file', photo).images, 1);
    assert.ok(sized('file', letter).textBytes > 9_000);
    const pdf = 'data:application/pdf;base64,JVBERg==';
    assert.equal(sized('file', pdf).otherFile, 'application/pdf');
    assert.equal(sized('file', 'https://x.test/a.pdf').otherFile, 'file at a URL');
  });
});

function requireAtLeast(before: PromptSize, rendered: PromptSize): void {
  for (const name of ['textBytes', 'messages', 'toolBytes', 'images'] as const) {
    assert.ok(before[name] >= rendered[name], `${name}: ${before[name]} < ${rendered[name]}`);
  }
  assert.equal(before.otherFile, rendered.otherFile);
}
