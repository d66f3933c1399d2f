import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { readMessages } from '../../../src/core/agent/messages.ts';
import {
  fileVariables,
  placeholders,
  placeholderWarnings,
  render,
  renderedChars,
  requireOneUse,
} from '../../../src/core/agent/prompt.ts';
import { versionContent } from '../../../src/core/agent/version-content.ts';

const png = 'data:image/png;base64,iVBORw0KGgo=';
const reference = `data:image/png;bytes=8;sha256=${'0'.repeat(64)}`;
const call = { id: 'c', name: 'weather', arguments: { city: 'Bern' } };

describe('a supplied list', () => {
  const valid: object[][] = [
    [],
    [
      { role: 'system', content: 'a' },
      { role: 'user', content: '' },
      { role: 'assistant', content: 'b' },
    ],
    [
      { role: 'assistant', content: '', toolCalls: [call] },
      { role: 'tool', toolCallId: 'c', content: 'sunny' },
    ],
    [{ role: 'assistant', content: 'x', toolCalls: [{ ...call, arguments: '{"broken' }] }],
  ];
  for (const list of valid) {
    test(JSON.stringify(list), () =>
      assert.deepEqual(readMessages(JSON.stringify(list), 'history'), { messages: list }),
    );
  }

  test('an assistant that calls tools needs no content', () => {
    const expected = { messages: [{ role: 'assistant', toolCalls: [call], content: '' }] };
    for (const content of [{}, { content: null }]) {
      const list = [{ role: 'assistant', toolCalls: [call], ...content }];
      assert.deepEqual(readMessages(JSON.stringify(list), 'history'), expected);
    }
  });

  test('the parts of a message, with the variable that supplied their files', () => {
    const list = [
      {
        role: 'user',
        content: [{ text: 'a' }, { image: 'https://a.example/b.png' }, { file: png }],
      },
      { role: 'system', content: [{ text: 'b' }] },
    ];
    const file = (value: string) => ({ variable: 'history', value });
    assert.deepEqual(readMessages(JSON.stringify(list), 'history'), {
      messages: [
        {
          role: 'user',
          content: [{ text: 'a' }, { image: file('https://a.example/b.png') }, { file: file(png) }],
        },
        { role: 'system', content: [{ text: 'b' }] },
      ],
    });
  });

  const invalid: [unknown, RegExp][] = [
    [[{ role: 'user', content: [{ text: 1 }] }], /parts with one field each/],
    [[{ role: 'user', content: [{ text: 'a', image: png }] }], /parts with one field each/],
    [[{ role: 'user', content: [{ audio: png }] }], /parts with one field each/],
    [[{ role: 'user', content: ['a'] }], /parts with one field each/],
    [[{ role: 'user', content: [{ image: 'photo' }] }], /part "image" that must be an image/],
    [[{ role: 'user', content: [{ image: reference }] }], /part "image" that must be an image/],
    [[{ role: 'assistant', content: [{ image: png }] }], /only messages of the user/],
    [[{ role: 'tool', toolCallId: 'c', content: [{ text: 'a' }] }], /"content" that is a text/],
    ['text', /^must be a list of messages$/],
    [{ role: 'user', content: 'a' }, /list/],
    [['a'], /item 0 is not an object/],
    [[null], /item 0/],
    [[{ content: 'a' }], /item 0 needs a "role"/],
    [
      [
        { role: 'user', content: 'a' },
        { role: 'bot', content: 'a' },
      ],
      /item 1 needs a "role"/,
    ],
    [[{ role: 'user' }], /"content"/],
    [[{ role: 'user', content: 1 }], /"content"/],
    [[{ role: 'assistant', content: null }], /"content"/],
    [[{ role: 'user', content: 'a', name: 'x' }], /unknown field "name"/],
    [[{ role: 'user', content: 'a', toolCalls: [call] }], /unknown field "toolCalls"/],
    [[{ role: 'assistant', content: 'a', toolCalls: [] }], /"toolCalls"/],
    [[{ role: 'assistant', content: 'a', toolCalls: [{ ...call, arguments: 1 }] }], /"toolCalls"/],
    [[{ role: 'assistant', content: 'a', toolCalls: [{ name: 'x', arguments: {} }] }], /toolCalls/],
    [[{ role: 'tool', content: 'a' }], /"toolCallId"/],
    [[{ role: 'tool', toolCallId: 'c', content: 'a' }], /"toolCallId" that matches no/],
  ];
  for (const [list, problem] of invalid) {
    test(JSON.stringify(list), () => {
      const read = readMessages(JSON.stringify(list), 'history');
      assert.match('problem' in read ? read.problem : 'valid', problem);
    });
  }
});

test('messages are rendered in one pass, and supplied lists are not rendered', () => {
  const template = versionContent({
    messages: [
      { role: 'system', content: 'Be {{tone}}.' },
      { placeholder: 'history' },
      { role: 'system', content: 'Use {{ other }}{{my-var}}.' },
      { role: 'user', content: '{{question}}' },
      { role: 'assistant', content: '{' },
    ],
  });
  assert.deepEqual(placeholders(template), ['tone', 'history', 'other', 'question']);
  assert.deepEqual(placeholderWarnings(template), [
    { placeholder: '{{my-var}}', template: 'messages' },
  ]);
  const history = [{ role: 'user', content: 'Hi {{tone}}' }];
  const values = { tone: 'brief', question: '{{tone}}?', history: JSON.stringify(history) };
  const texts = new Map(Object.entries(values));
  const prompt = render(template, texts);
  assert.deepEqual(prompt, {
    system: 'Be brief.\n\nUse {{my-var}}.',
    user: '{{tone}}?',
    messages: [
      { role: 'system', content: 'Be brief.' },
      ...history,
      { role: 'system', content: 'Use {{my-var}}.' },
      { role: 'user', content: '{{tone}}?' },
      { role: 'assistant', content: '{' },
    ],
  });
  assert.equal(renderedChars(template, texts), 75);
});

test('images and files are placeholders of their own, left out without a value', () => {
  const content = [
    { text: 'Compare {{what}}:' },
    { image: '{{ photo }}' },
    { file: '{{contract}}' },
    { image: '{{photo}}' },
  ];
  const template = versionContent({ messages: [{ role: 'user', content }] });
  assert.deepEqual(placeholders(template), ['what', 'photo', 'contract']);
  assert.deepEqual(fileVariables(template.messages), { photo: 'image', contract: 'file' });
  requireOneUse(template);
  const texts = new Map([
    ['what', 'these'],
    ['photo', png],
  ]);
  const photo = { image: { variable: 'photo', value: png } };
  assert.deepEqual(render(template, texts).messages, [
    { role: 'user', content: [{ text: 'Compare these:' }, photo, photo] },
  ]);
  // Files are no characters of the prompt.
  assert.equal(renderedChars(template, texts), 'Compare these:'.length);
});

test('a variable has one use', () => {
  const photo = { role: 'user', content: [{ image: '{{photo}}' }, { file: '{{photo}}' }] } as const;
  const both = versionContent({ messages: [photo] });
  requireOneUse(both);
  assert.deepEqual(fileVariables(both.messages), { photo: 'image' });
  const others = [
    { role: 'system', content: 'About {{photo}}' },
    { placeholder: 'photo' },
  ] as const;
  for (const other of others) {
    assert.throws(() => requireOneUse(versionContent({ messages: [photo, other] })), /"photo" is/);
  }
});

test('contents that contradict each other are rejected', () => {
  const messages = [{ role: 'user', content: 'a' }] as const;
  const tools = [{ name: 'a' }, { name: 'b' }];
  const invalid: [Parameters<typeof versionContent>[0], RegExp][] = [
    [{}, /"user" is missing/],
    [{ system: 'a' }, /"user" is missing/],
    [{ messages, user: 'a' }, /excludes/],
    [{ messages, system: 'a' }, /excludes/],
    [{ messages, tools: [...tools, { name: 'a' }] }, /"a" twice/],
    [{ messages, toolChoice: 'auto' }, /needs "tools"/],
    [{ messages, tools, toolChoice: { tool: 'c' } }, /none of/],
    [{ messages: [{ role: 'system', content: [{ image: '{{a}}' }] }] }, /"messages.0.content"/],
    [{ messages: [{ role: 'assistant', content: [{ file: '{{a}}' }] }] }, /not "assistant"/],
  ];
  for (const [content, message] of invalid) {
    assert.throws(() => versionContent(content), message, JSON.stringify(content));
  }
  const valid = versionContent({ user: 'a', tools, toolChoice: { tool: 'b' } });
  assert.deepEqual(valid, {
    ...{ system: null, user: 'a', messages: null },
    ...{ tools, toolChoice: { tool: 'b' }, toolReferences: null },
  });
});
