import { parse } from '../../../data/text/exact-json.ts';

/** Limits: indentation turns a few kB of nested brackets into megabytes. */
const charactersMax = 200_000;
const depthMax = 32;

/**
 * Indents JSON; null if the text is not JSON or exceeds the limits. Only whitespace changes: parsing and printing would
 * lose digits of long numbers and values of duplicate keys.
 */
export function indentJson(text: string): string | null {
  // Indentation has no effect on scalars.
  if (text.length > charactersMax || !/^\s*[[{]/.test(text) || !isJson(text)) return null;
  let depth = 0;
  let indented = '';
  let last = '';
  for (const [part] of text.matchAll(parts)) {
    const closes = part === '}' || part === ']';
    if (closes) depth--;
    const breaks = closes ? last !== '{' && last !== '[' : last !== '' && '[{,'.includes(last);
    indented += (breaks ? `\n${'  '.repeat(depth)}` : '') + part + (part === ':' ? ' ' : '');
    if (part === '{' || part === '[') depth++;
    if (depth > depthMax) return null;
    last = part;
  }
  return indented;
}

/** A string, punctuation, or a number or keyword. */
const parts = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g;

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** The object or list that a text is, with exact numbers; null for anything else, and for what would take too long. */
export function readJson(text: string): { readonly value: unknown } | null {
  if (text.length > readMax || !/^\s*[[{]/.test(text)) return null;
  try {
    return { value: parse(text) };
  } catch {
    return null;
  }
}

const readMax = 2_000_000;
