import {
  type Document,
  isMap,
  isNode,
  isSeq,
  LineCounter,
  type Node,
  parseDocument,
  type ScalarTag,
  stringify as stringifyYaml,
  type Tags,
} from 'yaml';
import { ExactNumber, stringify, toExactNumber } from '../text/exact-json.ts';

/** Reads and writes workflow definitions as YAML or JSON, and maps problems to lines. */

export type DefinitionFormat = 'YAML' | 'JSON';

/** Omits fields that have their default value. */
export function writeDefinition(definition: unknown, format: DefinitionFormat): string {
  const brief = withoutDefaults(definition);
  return format === 'JSON'
    ? `${stringify(brief, 2)}\n`
    : stringifyYaml(brief, { customTags, lineWidth: 0, aliasDuplicateObjects: false });
}

/** Writes an edited document. YAML keeps its comments and the style of its texts. */
export function writeDocument(document: Document, format: DefinitionFormat): string {
  return format === 'JSON'
    ? `${stringify(document.toJS(), 2)}\n`
    : document.toString({ lineWidth: 0 });
}

export function parseDefinition(text: string, lineCounter?: LineCounter) {
  return parseDocument(text, {
    customTags,
    ...(lineCounter && { lineCounter }),
    prettyErrors: false,
    // Keys are strings, as in JSON.
    stringKeys: true,
  });
}

/** Keeps numbers as written, so that the server can reject those it cannot store exactly. Leading zeros are dropped. */
const exactNumber: ScalarTag = {
  identify: (value) => value instanceof ExactNumber,
  default: true,
  tag: 'tag:yaml.org,2002:float',
  test: /^[-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?$/,
  resolve: (text) => toExactNumber(text.replace(/^\+/, '').replace(/^(-?)0+(?=\d)/, '$1')),
  stringify: ({ value }) => (value as ExactNumber).text,
};

const customTags = (tags: Tags): Tags => [exactNumber, ...tags];

export interface ReadDefinition {
  /** Undefined if the text is neither YAML nor JSON. */
  readonly definition: unknown;
  readonly problems: readonly LineProblem[];
  /** The line (from 1) of the node at `path`, or of its nearest existing ancestor. */
  lineOf(path: string): number;
}

export interface LineProblem {
  readonly line: number;
  readonly message: string;
}

export function readDefinition(text: string): ReadDefinition {
  const lines = new LineCounter();
  const document = parseDefinition(text, lines);
  const problems = document.errors.map(({ message, pos: [at] }) => ({
    line: lines.linePos(at).line || 1,
    message,
  }));
  const lineOf = (path: string) => {
    const node = nearest(document.contents, path.split('.'));
    return node?.range ? lines.linePos(node.range[0]).line || 1 : 1;
  };
  if (problems.length > 0) return { definition: undefined, problems, lineOf };
  try {
    // A few nested aliases could expand to more than memory holds.
    return { definition: document.toJS({ maxAliasCount: 100 }), problems, lineOf };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return { definition: undefined, problems: [{ line: 1, message }], lineOf };
  }
}

/** The key of the deepest existing map entry on the path, or the list item. */
function nearest(contents: unknown, path: readonly string[]): Node | null {
  let found: Node | null = isNode(contents) ? contents : null;
  let within: unknown = contents;
  for (const part of path) {
    if (isMap(within)) {
      const { items } = within;
      const entry = (name: string) => items.find(({ key }) => String(key) === name);
      // The editor accepts an agent's name in place of its id.
      const pair = entry(part) ?? (part === 'agentId' ? entry('agent') : undefined);
      if (!pair) return found;
      if (isNode(pair.key)) found = pair.key;
      within = pair.value;
    } else if (isSeq(within)) {
      within = within.items[Number(part)];
      if (!isNode(within)) return found;
      found = within;
    } else return found;
  }
  return found;
}

/** Writes fields in reading order: the database does not preserve order. */
function withoutDefaults(definition: unknown): unknown {
  const { input, timeoutMs, steps, output } = definition as Record<string, unknown>;
  if (!Array.isArray(steps)) return definition;
  const named = pruned(input, inputDefaults);
  return {
    ...(Object.keys(named).length > 0 && { input: named }),
    ...(timeoutMs !== undefined && timeoutMs !== 3_600_000 && { timeoutMs }),
    steps: steps.map(briefStep),
    ...(output !== undefined && output !== null && { output }),
  };
}

function briefStep(step: unknown): unknown {
  const brief = pruned(step, stepDefaults);
  if (brief.forEach) brief.forEach = pruned(brief.forEach, forEachDefaults);
  if (brief.fallback) brief.fallback = pruned(brief.fallback, fallbackDefaults);
  return brief;
}

const inputDefaults = { required: [], optional: [], defaults: {} };
const forEachDefaults = { list: undefined, concurrency: 5, max: 100 };
const fallbackDefaults = { agent: undefined, agentId: undefined, variables: {}, output: undefined };
const stepDefaults = {
  name: undefined,
  agent: undefined,
  agentId: undefined,
  after: [],
  when: null,
  forEach: null,
  variables: {},
  fallback: null,
  onFailure: 'fail',
  onUnreadable: 'fail',
};

/** Drops default values. Known fields keep the order of `defaults`; unknown fields come last. */
function pruned(value: unknown, defaults: Readonly<Record<string, unknown>>) {
  const given = (value ?? {}) as Record<string, unknown>;
  const names = [...new Set([...Object.keys(defaults), ...Object.keys(given)])];
  const changed = names.filter(
    (name) =>
      given[name] !== undefined && JSON.stringify(given[name]) !== JSON.stringify(defaults[name]),
  );
  return Object.fromEntries(changed.map((name) => [name, given[name]]));
}
