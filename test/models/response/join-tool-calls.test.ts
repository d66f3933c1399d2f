import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { joinEvents } from '../../../src/models/response/join-events.ts';

/** Fragments of tool calls, as servers that are compatible with OpenAI send them. */

type Fragment = Readonly<Record<string, unknown>>;
type Call = readonly [id: unknown, name: unknown, text: unknown];

function joined(fragments: readonly (Fragment | readonly Fragment[])[], isList = true): Call[] {
  const events = fragments.map((fragment) => ({
    choices: [{ delta: { tool_calls: isList ? [fragment].flat() : fragment } }],
  }));
  const end = { choices: [{ delta: {}, finish_reason: 'tool_calls' }] };
  const text = [...events, end].map((event) => `data: ${JSON.stringify(event)}\n\n`).join('');
  const { choices } = joinEvents(text, JSON.parse) as {
    choices: { message: { tool_calls: { id?: string; function: Record<string, unknown> }[] } }[];
  };
  const calls = choices[0]?.message.tool_calls ?? [];
  return calls.map(({ id, function: { name, arguments: given } }) => [id, name, given]);
}

/** A fragment whose function has this name and these arguments. */
const piece = (fields: Fragment, text?: unknown, name?: unknown): Fragment => ({
  ...fields,
  function: {
    ...(name !== undefined && { name }),
    ...(text !== undefined && { arguments: text }),
  },
});

const whole: Call[] = [['a', 'f', '{"q":1}']];

describe('fragments of one call', () => {
  const begin = piece({ index: 0, id: 'a', type: 'function' }, '', 'f');
  const rest = (fields: Fragment, name?: unknown) => [
    begin,
    piece(fields, '{"q"', name),
    piece(fields, ':1}', name),
  ];
  const cases: [string, Fragment[]][] = [
    ['by their index', rest({ index: 0 })],
    ['with the identifier and the name again', rest({ index: 0, id: 'a' }, 'f')],
    ['with an empty identifier and name', rest({ index: 0, id: '', type: '' }, '')],
    ['with null', rest({ index: 0, id: null, type: null }, null)],
    ['with an empty name and the identifier', rest({ index: 0, id: 'a' }, '')],
    ['with the name again', rest({ index: 0 }, 'f')],
    ['with a new identifier, without a name', rest({ index: 0, id: 'x' })],
    ['with another index and no identifier', rest({ index: 1 })],
    ['with another index and an empty identifier and name', rest({ index: 7, id: '' }, '')],
    ['with another index and the name again', rest({ index: 1 }, 'f')],
    ['with another index and the identifier', rest({ index: 1, id: 'a' })],
    ['with another index, the identifier and the name', rest({ index: 1, id: 'a' }, 'f')],
    ['without an index', rest({})],
    ['without an index, with the name again', rest({}, 'f')],
    ['without an index, with the identifier and the name', rest({ id: 'a' }, 'f')],
    ['with null as index', rest({ index: null })],
    ['with the index as a text', rest({ index: '0' })],
    ['without an index from the beginning', [{ ...begin, index: undefined }, ...rest({}).slice(1)]],
    [
      'whose identifier and name come later',
      [piece({ index: 0, id: '' }, '', ''), piece({ index: 0, id: 'a' }, '{"q":1}', 'f')],
    ],
    [
      'of which the last one is empty',
      [...rest({ index: 0 }, 'f'), piece({ index: 0, id: '' }, '', 'f')],
    ],
  ];
  for (const [name, fragments] of cases) {
    test(name, () => assert.deepEqual(joined(fragments), whole));
  }

  test('that are not in a list', () => {
    assert.deepEqual(joined(rest({ index: 0 }), false), whole);
  });
});

describe('fragments of several calls', () => {
  const two: Call[] = [
    ['a', 'f', '{"q":1}'],
    ['b', 'g', '{"q":2}'],
  ];
  const call = (fields: Fragment, name: string, n: number, again: Fragment = fields) => [
    piece(fields, '', name),
    piece(again, '{"q":'),
    piece(again, `${n}}`),
  ];
  const cases: [string, (Fragment | Fragment[])[], Call[]][] = [
    [
      'by their index',
      [
        ...call({ index: 0, id: 'a' }, 'f', 1, { index: 0 }),
        ...call({ index: 1, id: 'b' }, 'g', 2, { index: 1 }),
      ],
      two,
    ],
    [
      'with the same index for both',
      [
        ...call({ index: 0, id: 'a' }, 'f', 1, { index: 0 }),
        ...call({ index: 0, id: 'b' }, 'g', 2, { index: 0 }),
      ],
      two,
    ],
    ['without an index', [...call({ id: 'a' }, 'f', 1, {}), ...call({ id: 'b' }, 'g', 2, {})], two],
    [
      'with the index as a text',
      [
        ...call({ index: '0', id: 'a' }, 'f', 1, { index: '0' }),
        ...call({ index: '1', id: 'b' }, 'g', 2, { index: 1 }),
      ],
      two,
    ],
    [
      'in turns, by their index',
      [
        piece({ index: 0, id: 'a' }, '', 'f'),
        piece({ index: 1, id: 'b' }, '', 'g'),
        piece({ index: 0 }, '{"q":1}'),
        piece({ index: 1 }, '{"q":2}'),
      ],
      two,
    ],
    [
      'in turns, by their identifier',
      [
        piece({ index: 0, id: 'a' }, '', 'f'),
        piece({ index: 0, id: 'b' }, '', 'g'),
        piece({ index: 0, id: 'a' }, '{"q":1}', 'f'),
        piece({ index: 0, id: 'b' }, '{"q":2}'),
      ],
      two,
    ],
    [
      'whole, in one event, without an identifier',
      [[piece({ index: 0 }, '{}', 'f'), piece({ index: 0 }, '{}', 'g')]],
      [
        [undefined, 'f', '{}'],
        [undefined, 'g', '{}'],
      ],
    ],
    [
      'of one function, without an identifier',
      [piece({}, '{"q":1}', 'f'), piece({}, '{"q":2}', 'f')],
      [
        [undefined, 'f', '{"q":1}'],
        [undefined, 'f', '{"q":2}'],
      ],
    ],
    [
      'of one function, with the same identifier and another index',
      [
        ...call({ index: 0, id: 'x' }, 'f', 1, { index: 0 }),
        ...call({ index: 1, id: 'x' }, 'f', 2, { index: 1 }),
      ],
      [
        ['x', 'f', '{"q":1}'],
        ['x', 'f', '{"q":2}'],
      ],
    ],
    [
      'with arguments that are no text',
      [piece({ id: 'a' }, { q: 1 }, 'f'), piece({ id: 'b' }, { q: 2 }, 'f')],
      [['a', 'f', { q: 1 }] as unknown as Call, ['b', 'f', { q: 2 }] as unknown as Call],
    ],
  ];
  for (const [name, fragments, expected] of cases) {
    test(name, () => assert.deepEqual(joined(fragments), expected));
  }
});

test('an empty name of a legacy function call changes nothing', () => {
  const events = [
    { choices: [{ delta: { function_call: { name: 'f', arguments: '' } } }] },
    { choices: [{ delta: { function_call: { name: '', arguments: '{}' } } }] },
    { choices: [{ delta: {}, finish_reason: 'function_call' }] },
  ];
  const text = events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('');
  const { choices } = joinEvents(text, JSON.parse) as { choices: { message: object }[] };
  assert.deepEqual(choices[0]?.message, { function_call: { name: 'f', arguments: '{}' } });
});
