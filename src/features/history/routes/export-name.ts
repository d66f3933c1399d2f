/** The name of an exported file: what it is of, the filters and the day, in characters that every file system accepts. */
export function exportName(subject: string, query: object, day: Date): string {
  const filters = Object.entries(query).flatMap(([name, value]) =>
    value === undefined || notFilters.has(name) ? [] : textOf(name, [value].flat().map(String)),
  );
  const parts = [subject, ...filters].map(plain).filter((part) => part !== '');
  const date = day.toISOString().slice(0, 10).replaceAll('-', '');
  return `${parts.join('_').slice(0, charactersMax)}_${date}`;
}

/** Leaves room for the day and the extension in the 255 bytes that file systems allow. */
const charactersMax = 180;
const partMax = 60;

const notFilters: ReadonlySet<string> = new Set(['format', 'bom', 'cursor', 'workspace']);

/** Values that do not say what they are of get the name of their filter. */
function textOf(name: string, values: readonly string[]): string {
  if (name === 'executionId') return `${values.length}-selected`;
  const text = values.join('-');
  if (name === 'startDate') return `from-${text}`;
  if (name === 'endDate') return `until-${text}`;
  return withoutName.has(name) ? text : `${name}-${text}`;
}

const withoutName: ReadonlySet<string> = new Set([
  ...['status', 'source', 'errorCode', 'model', 'agentId', 'promptVersionId', 'apiKeyId', 'q'],
]);

function plain(text: string): string {
  return text
    .normalize('NFKD')
    .replace(/[^A-Za-z0-9._-]+/g, '-')
    .replace(/^[-.]+|[-.]+$/g, '')
    .slice(0, partMax);
}
