import { ExactNumber, stringify } from '../../../data/text/exact-json.ts';

/** Settings inside of settings have the words of both in their label. What changed is one fact: `3 → 5`. */
export function factsOf(value: unknown, label = ''): readonly (readonly [string, string])[] {
  if (!isObject(value)) return [[label, textOf(value)]];
  const within = (name: string) => `${label} ${wordsOf(name)}`.trimStart();
  if (!isChange(value)) {
    return Object.entries(value).flatMap(([name, inner]) => factsOf(inner, within(name)));
  }
  const { from, to } = value;
  if (!isObject(from) || !isObject(to)) {
    const [before, after] = [textOf(from), textOf(to)];
    return before === after ? [] : [[label, `${before} → ${after}`]];
  }
  return Object.keys({ ...from, ...to }).flatMap((name) =>
    factsOf({ from: from[name], to: to[name] }, within(name)),
  );
}

function isChange(value: object): value is { readonly from: unknown; readonly to: unknown } {
  return Object.keys(value).sort().join() === 'from,to';
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  const isPlain = value !== null && !Array.isArray(value) && !(value instanceof ExactNumber);
  return typeof value === 'object' && isPlain;
}

const valueCharsMax = 100;

function textOf(value: unknown): string {
  if (value === null || value === undefined) return 'none';
  if (Array.isArray(value)) return cut(value.map(textOf).join(', '));
  return cut(typeof value === 'string' ? value : (stringify(value) ?? ''));
}

function cut(text: string): string {
  return text.length > valueCharsMax ? `${text.slice(0, valueCharsMax)}…` : text;
}

function wordsOf(name: string): string {
  return name.replace(/(?<=[a-z\d])[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}
