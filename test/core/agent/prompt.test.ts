import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  placeholders,
  render,
  renderedChars,
  undeclared,
  variableName,
} from '../../../src/core/agent/prompt.ts';

function fill(user: string, values: Record<string, string> = {}): string | undefined {
  return render({ system: null, user }, new Map(Object.entries(values)))?.user ?? undefined;
}

const tables: [template: string, names: string[], rendered: string][] = [
  ['plain', [], 'plain'],
  ['', [], ''],
  ['{{name}}', ['name'], 'Ada'],
  ['{{ name }}', ['name'], 'Ada'],
  ['{{\tname \t}}', ['name'], 'Ada'],
  ['Hello {{name}}, {{name}}!', ['name'], 'Hello Ada, Ada!'],
  ['{{b}}{{name}}', ['b', 'name'], '{{name}}Ada'],
  ['{{_x1}}', ['_x1'], ''],
  ['{{Name}}', ['Name'], ''],
  // Nothing else is syntax.
  ['{{}}', [], '{{}}'],
  ['{{ }}', [], '{{ }}'],
  ['{name}', [], '{name}'],
  ['{{1x}}', [], '{{1x}}'],
  ['{{a-b}}', [], '{{a-b}}'],
  ['{{a b}}', [], '{{a b}}'],
  ['{{a.b}}', [], '{{a.b}}'],
  ['{{naïve}}', [], '{{naïve}}'],
  ['{{\nname}}', [], '{{\nname}}'],
  ['{{\u00a0name}}', [], '{{\u00a0name}}'],
  ['{ {name} }', [], '{ {name} }'],
  ['{{name}', [], '{{name}'],
  ['{{{name}}}', ['name'], '{Ada}'],
  ['{{{{name}}}}', ['name'], '{{Ada}}'],
  ['{{a{{name}}', ['name'], '{{aAda'],
  ['{{#if name}}{{/if}}{{>x}}{{!x}}', [], '{{#if name}}{{/if}}{{>x}}{{!x}}'],
  ['$name %s $& \\{{name}}', ['name'], '$name %s $& \\Ada'],
  // Names of Object.prototype are ordinary names.
  ['{{constructor}}{{__proto__}}{{toString}}', ['constructor', '__proto__', 'toString'], ''],
];

for (const [template, names, rendered] of tables) {
  test(`${JSON.stringify(template)} has the placeholders [${names}]`, () => {
    assert.deepEqual(placeholders({ system: null, user: template }), names);
    assert.equal(fill(template, { name: 'Ada', b: '{{name}}' }), rendered);
  });
}

test('placeholders are listed once, in order of first use, those of the system prompt first', () => {
  assert.deepEqual(placeholders({ system: '{{b}} {{a}}', user: '{{c}} {{a}} {{b}}' }), [
    'b',
    'a',
    'c',
  ]);
});

test('renders both texts; a missing system prompt stays missing', () => {
  const texts = new Map([['x', '1']]);
  assert.deepEqual(render({ system: 's{{x}}', user: 'u{{x}}' }, texts), {
    system: 's1',
    user: 'u1',
  });
  assert.deepEqual(render({ system: null, user: '' }, texts), {
    system: null,
    user: '',
  });
  assert.deepEqual(render({ system: '', user: '' }, texts), { system: '', user: '' });
});

test('replacement patterns of JavaScript are plain text', () => {
  for (const value of ['$&', '$1', '$$', "$'", '$`', '$<name>']) {
    assert.equal(fill('[{{x}}]', { x: value }), `[${value}]`);
  }
});

test('the characters of a prompt are known before it is rendered', () => {
  const template = { system: 'ab', user: '{{x}}{{x}}{{gone}}c' };
  const texts = new Map([['x', '1234']]);
  assert.deepEqual(render(template, texts), { system: 'ab', user: '12341234c' });
  assert.equal(renderedChars(template, texts), 11);
});

const name = fc.stringMatching(/^[A-Za-z_][A-Za-z0-9_]{0,8}$/);
const blank = fc.stringMatching(/^[ \t]{0,3}$/);
/** Text that contains no placeholder and cannot form one with adjacent text. */
const plain = fc.string({ unit: 'grapheme' }).map((text) => text.replace(/[{}]/g, '.'));
const part = fc.oneof(
  plain.map((text) => ({ text, name: null })),
  fc.tuple(blank, name, blank).map(([before, of, after]) => ({
    text: `{{${before}${of}${after}}}`,
    name: of,
  })),
);
const parts = fc.array(part, { maxLength: 20 });
const values = fc.dictionary(name, fc.string({ unit: 'grapheme' }));

test('a template renders to its texts with the values inserted', () => {
  fc.assert(
    fc.property(parts, values, (pieces, supplied) => {
      const template = pieces.map((piece) => piece.text).join('');
      const textFor = (of: string) => (Object.hasOwn(supplied, of) ? supplied[of] : '');
      const expected = pieces.map((piece) => (piece.name ? textFor(piece.name) : piece.text));
      assert.equal(fill(template, supplied), expected.join(''));
      const names = pieces.flatMap((piece) => piece.name ?? []);
      assert.deepEqual(placeholders({ system: null, user: template }), [...new Set(names)]);
    }),
  );
});

test('placeholders within values are not rendered', () => {
  fc.assert(
    fc.property(parts, name, (pieces, of) => {
      const value = pieces.map((piece) => piece.text).join('');
      assert.equal(fill(`<{{${of}}}>`, { [of]: value }), `<${value}>`);
    }),
  );
});

test('a text without placeholders is rendered unchanged', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      const names = placeholders({ system: text, user: '' });
      const rendered = render({ system: text, user: '' }, new Map());
      if (names.length === 0) assert.equal(rendered.system, text);
      for (const one of names) assert.match(one, variableName);
    }),
  );
});

test('the characters that are known before equal those of the rendered prompt', () => {
  fc.assert(
    fc.property(parts, parts, values, (first, second, supplied) => {
      const textOf = (pieces: typeof first) => pieces.map((piece) => piece.text).join('');
      const template = { system: textOf(first), user: textOf(second) };
      const texts = new Map(Object.entries(supplied));
      const whole = render(template, texts);
      const length = (whole.system?.length ?? 0) + (whole.user?.length ?? 0);
      assert.equal(renderedChars(template, texts), length);
    }),
  );
});

test('a placeholder is declared by either list or by a default', () => {
  const agent = {
    requiredVariables: ['a'],
    optionalVariables: ['b'],
    defaultVariableValues: { c: null },
  };
  assert.deepEqual(undeclared(['a', 'b', 'c'], agent), []);
  assert.deepEqual(undeclared(['x', 'a', 'toString'], agent), ['x', 'toString']);
});
