import { compact, depth, jsonDepthMax, stringEnd } from './json.ts';

/**
 * JSON in the text that a model wrote. Models put thoughts before it, a sentence around it, or a fence. Two readings:
 * - `wholeJson`: the text is JSON, apart from leading thoughts and one code fence. It never loses words.
 * - `oneJsonIn`: the one object or array anywhere in the text. A value inside a broken one is never taken for it: a reply that
 *   was cut off must not turn into a part of itself.
 *
 * Both take time linear in the text.
 */

/** Compact JSON, or why there is no single object or array to read. */
export type JsonInText =
  | { readonly kind: 'json'; readonly json: string; readonly whole: boolean }
  | { readonly kind: Unreadable };
export type Unreadable = 'none' | 'several';

/** The compact JSON that the text is, apart from leading thoughts and one code fence; null if it is not JSON. */
export function wholeJson(text: string): string | null {
  const trimmed = text.trim();
  const inner = unfenced(withoutThoughts(trimmed).trim());
  return parsed(inner) ?? (inner === trimmed ? null : parsed(trimmed));
}

/** The one object or array in the text. */
export function oneJsonIn(text: string): JsonInText {
  const whole = wholeJson(text);
  if (whole !== null) return isNested(whole) ? { kind: 'json', json: whole, whole: true } : none;
  let found: string | null = null;
  let broken = 0;
  for (const { group } of bracketGroups(withoutThoughts(text))) {
    if (!mayBeJson.test(group)) continue;
    const json = parsed(group);
    if (json === null) {
      if (isMeantAsJson.test(group) || ++broken > brokenMax) return none;
    } else if (found !== null) return { kind: 'several' };
    else found = json;
  }
  return found === null ? none : { kind: 'json', json: found, whole: false };
}

const none = { kind: 'none' } as const;
/** Each costs an exception. */
const brokenMax = 1_000;
const mayBeJson = /^(?:\{\s*["}]|\[\s*[[\]{"\-0-9tfn])/;
/** Not a footnote or a range, such as `[1-3]`. */
const isMeantAsJson = /^(?:\{\s*"|\[\s*[[{"])/;

function isNested(json: string): boolean {
  return json.startsWith('{') || json.startsWith('[');
}

function parsed(text: string): string | null {
  try {
    JSON.parse(text);
  } catch {
    return null;
  }
  const json = compact(text);
  return depth(json) > jsonDepthMax ? null : json;
}

const tag = 'think|thinking|thought|reasoning';
const endOfThoughts = new RegExp(`</(?:${tag})>`, 'i');

/** Some servers leave out the opening tag. Thoughts without an end are all that the model wrote. */
function withoutThoughts(text: string): string {
  const opening = new RegExp(`\\s*<(${tag})>`, 'iy');
  let from = 0;
  for (let match = opening.exec(text); match; match = opening.exec(text)) {
    const closing = new RegExp(`</${match[1]}>`, 'gi');
    closing.lastIndex = opening.lastIndex;
    if (!closing.test(text)) return '';
    from = closing.lastIndex;
    opening.lastIndex = from;
  }
  if (from > 0) return text.slice(from);
  const end = endOfThoughts.exec(text);
  if (!end || isInsideJson(text, end.index)) return text;
  return text.slice(end.index + end[0].length);
}

/** Whether the index is within an object or array that is JSON: the tag there is part of a text. */
function isInsideJson(text: string, index: number): boolean {
  for (const { from, group } of bracketGroups(text)) {
    if (from > index) return false;
    if (from + group.length > index) return parsed(group) !== null;
  }
  return false;
}

/** No regular expression: it would scan long blanks repeatedly. */
function unfenced(text: string): string {
  if (!text.startsWith('```') || !text.endsWith('```') || text.length < 7) return text;
  const [info = ''] = /^```[\w+.-]*(?=[\s{["])/.exec(text.slice(0, fenceMax)) ?? [];
  return text.slice(info.length || 3, -3);
}

/** The maximum length of the opening fence with its language. */
const fenceMax = 64;

/** The outermost pairs of brackets, with what is between them. The rest of the text after an open one is left out. */
function* bracketGroups(text: string): Generator<{ from: number; group: string }> {
  const opening = /[{[]/g;
  for (let match = opening.exec(text); match; match = opening.exec(text)) {
    const end = groupEnd(text, match.index);
    if (end < 0) return;
    yield { from: match.index, group: text.slice(match.index, end) };
    opening.lastIndex = end;
  }
}

/** The index after the closing bracket of the one at `from`; -1 if there is none. */
export function groupEnd(text: string, from: number): number {
  let open = 0;
  for (let at = from; at < text.length; at++) {
    const letter = text.charAt(at);
    if (letter === '"') {
      at = stringEnd(text, at) - 1;
      if (at < 0) return -1;
    } else if (letter === '{' || letter === '[') open++;
    else if ((letter === '}' || letter === ']') && --open === 0) return at + 1;
  }
  return -1;
}
