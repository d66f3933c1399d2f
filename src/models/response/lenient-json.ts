import { isEventStream, joinEvents } from './join-events.ts';

/**
 * Reads a response that strict JSON parsers reject although its content is clear: a byte order mark or comments of an
 * event stream before the JSON, a comment after it, a raw line break or an unknown escape in a text, `NaN`, a comma after
 * the last item, keys named `__proto__`, or an event stream instead of JSON. `undefined` if it cannot be read.
 */
export function readLeniently(body: string): unknown {
  const text = withoutComments(body);
  if (isEventStream(text)) return joinEvents(text, parseLeniently);
  return text.length === 0
    ? undefined
    : (parseLeniently(text) ?? parseLeniently(withoutRest(text)));
}

/** OpenRouter and others keep the connection alive with such lines while the model works. */
function withoutComments(body: string): string {
  let rest = body.trimStart();
  while (rest.startsWith(':')) {
    const end = rest.indexOf('\n');
    rest = end < 0 ? '' : rest.slice(end).trimStart();
  }
  return rest;
}

/** Without what follows an object, such as a comment of a proxy. More JSON after it is another answer, so it stays. */
function withoutRest(text: string): string {
  if (!text.startsWith('{')) return text;
  let depth = 0;
  for (const { 0: found, index } of text.matchAll(/"[^"\\]*(?:\\[\s\S][^"\\]*)*"?|[{}]/g)) {
    if (found === '{') depth++;
    if (found !== '}' || --depth > 0) continue;
    const rest = text.slice(index + 1);
    return /^\s*[,:\]}]|\{/.test(rest) ? text : text.slice(0, index + 1);
  }
  return text;
}

/** One JSON text, likewise. */
export function parseLeniently(text: string): unknown {
  try {
    return JSON.parse(text, withoutPrototypes);
  } catch {
    try {
      return JSON.parse(correct(text), withoutPrototypes);
    } catch {
      return undefined;
    }
  }
}

/** The AI SDK rejects a response with such keys. */
function withoutPrototypes(key: string, value: unknown): unknown {
  const isPrototype = key === 'constructor' && Object.hasOwn(Object(value), 'prototype');
  return key === '__proto__' || isPrototype ? undefined : value;
}

/**
 * Escapes control characters and stray backslashes inside texts; outside of them, replaces numbers that JSON does not have by `null` and removes
 * a comma after the last item.
 */
function correct(text: string): string {
  return text.replace(
    // A text without an end reaches to the end of the response: no part of it is searched twice.
    /"[^"\\]*(?:\\[\s\S][^"\\]*)*"?|,(?=\s*[\]}])|-?\b(?:NaN|Infinity)\b/g,
    (found) =>
      found.startsWith('"') ? found.replace(notInTexts, escapeInText) : found === ',' ? '' : 'null',
  );
}

/** What JSON forbids inside a text; a valid escape is matched too, so that its second half is not searched. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what JSON forbids
const notInTexts = /[\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}|'?)/g;

/** `\'` is an escape of other languages; before any other character, the backslash is meant. */
function escapeInText(found: string): string {
  if (found === "\\'") return "'";
  if (found === '\\') return '\\\\';
  return found.startsWith('\\') ? found : JSON.stringify(found).slice(1, -1);
}
