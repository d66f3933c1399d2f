/** The values of a query parameter that takes several. Within one, `\,` is a comma and `\\` a backslash; any other is itself. */
export function splitValues(text: string): string[] {
  const values: string[] = [];
  let value = '';
  for (const [part] of text.matchAll(/\\[\\,]|,|[^\\,]+|\\/g)) {
    if (part === ',') {
      values.push(value);
      value = '';
    } else value += /\\[\\,]/.test(part) ? part.slice(1) : part;
  }
  return [...values, value];
}
