/** Longer or deeper ones are shown as the text they are: indented, a few kB of brackets would become megabytes. */
const charactersMax = 200_000;
const depthMax = 32;

/**
 * JSON with line breaks and indentation, null where it is none or is left as it is. Only blanks are changed: read and
 * written anew, long numbers would lose digits and names that come twice one of their values.
 */
export function indentJson(text: string): string | null {
  // A bare word or number gains nothing.
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

/** A text, a bracket or mark, or a number or word. */
const parts = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g;

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
