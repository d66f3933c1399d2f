import { isObject } from '../../core/is-object.ts';
import type { Example } from './draft.ts';
import { type Located, readYaml } from './located.ts';
import type { PromptfooSource } from './promptfoo-source.ts';
import { findFiles, readReferenced } from './referenced-files.ts';

/** The assertions of a test as the expectation of an example. CEL expresses what has no field of its own. */

type Expectation = { -readonly [Name in keyof Example['expect']]: Example['expect'][Name] };
/** A condition in CEL; null if the value of the assertion is not usable. */
type Condition = (value: unknown) => string | null;

/** The record, as CEL sees it. */
const output = 'record.outputText';
const succeeded = 'record.status == "success"';

/** Longer texts are not looked for in conditions. */
const searchedCharsMax = 100;

const conditions: Readonly<Record<string, Condition>> = {
  contains: ofText(contains),
  icontains: ofText(containsIgnoringCase),
  'contains-all': ofList(contains, ' && '),
  'contains-any': ofList(contains, ' || '),
  'icontains-all': ofList(containsIgnoringCase, ' && '),
  'icontains-any': ofList(containsIgnoringCase, ' || '),
  'starts-with': ofText((text) => `${output}.startsWith(${quote(text)})`),
  equals: ofText((text) => `${output} == ${quote(text)}`),
  latency: ofNumber('record.latencyMs'),
  cost: ofNumber('record.costUSD'),
};

export async function expectationOf(
  source: PromptfooSource,
  assertions: readonly Located[],
  variables: Readonly<Record<string, unknown>>,
): Promise<Example['expect']> {
  const expect: Expectation = {};
  const cel: string[] = [];
  for (const at of assertions) {
    const type = at.get('type').text() ?? '';
    if (at.get('transform').value !== undefined || at.get('weight').value === 0) {
      source.draft.remark(
        at,
        `The assertion "${type}" with a transform or without a weight is not carried over.`,
      );
      continue;
    }
    const value = await assertedValue(source, at, variables);
    if (type === 'equals' && !('equals' in expect) && value !== undefined) expect.equals = value;
    else if (type === 'contains' && !('contains' in expect) && typeof value === 'string')
      expect.contains = value;
    else if (type === 'is-json' && !('matchesSchema' in expect))
      expect.matchesSchema = isObject(value) ? value : {};
    else {
      const condition = conditionOf(type, value ?? at.get('threshold').value);
      if (condition !== null) cel.push(condition);
      else source.draft.remark(at, `The assertion "${type}" is not carried over.`);
    }
  }
  if (cel.length > 0) expect.cel = cel.join(' && ');
  return Object.keys(expect).length > 0 ? expect : { cel: succeeded };
}

function conditionOf(type: string, value: unknown): string | null {
  const negated = type.startsWith('not-');
  const name = negated ? type.slice('not-'.length) : type;
  const condition = Object.hasOwn(conditions, name) ? conditions[name]?.(value) : null;
  if (!condition) return null;
  return negated ? `!(${condition})` : condition;
}

/** The value of an assertion with the variables of the test, or that of a file. */
async function assertedValue(
  { draft, folder, signal }: PromptfooSource,
  at: Located,
  variables: Readonly<Record<string, unknown>>,
): Promise<unknown> {
  const value = at.get('value');
  const text = value.text();
  if (text?.startsWith('file://')) {
    const [file] = await findFiles(folder, text);
    if (!file || !['json', 'yaml', 'yml'].includes(file.extension)) return undefined;
    return readYaml(await readReferenced(file.path, signal), file.path).value;
  }
  return fill(value.value);

  function fill(part: unknown): unknown {
    if (Array.isArray(part)) return part.map(fill);
    if (typeof part !== 'string') return part;
    const filled = part.replaceAll(/\{\{\s*(\w+)\s*\}\}/g, (_, name: string) => {
      const given = variables[name] ?? '';
      return typeof given === 'string' ? given : JSON.stringify(given);
    });
    if (/\{\{.*?\}\}|\{%.*?%\}/s.test(part.replaceAll(/\{\{\s*\w+\s*\}\}/g, ''))) {
      draft.remark(
        at,
        'The value of the assertion is a template of which only plain variables are carried over.',
      );
    }
    return filled;
  }
}

function ofText(condition: (text: string) => string): Condition {
  return (value) => {
    const text = typeof value === 'number' ? String(value) : value;
    return typeof text === 'string' && text.length <= searchedCharsMax ? condition(text) : null;
  };
}

function ofList(condition: (text: string) => string, operator: string): Condition {
  return (value) => {
    const list = typeof value === 'string' ? value.split(',').map((text) => text.trim()) : value;
    if (!Array.isArray(list) || list.length === 0) return null;
    const texts = list.map(String);
    if (texts.some((text) => text.length > searchedCharsMax)) return null;
    return `(${texts.map(condition).join(operator)})`;
  };
}

/** Numbers are doubles. */
function ofNumber(field: string): Condition {
  return (value) => {
    if (typeof value !== 'number') return null;
    return `${field} <= ${Number.isInteger(value) ? `${value}.0` : value}`;
  };
}

function contains(text: string): string {
  return `${output}.contains(${quote(text)})`;
}

function containsIgnoringCase(text: string): string {
  return `${output}.lowerAscii().contains(${quote(text.toLowerCase())})`;
}

/** The escapes of JSON are those of CEL. */
function quote(text: string): string {
  return JSON.stringify(text);
}
