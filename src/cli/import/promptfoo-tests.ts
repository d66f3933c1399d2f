import { isObject } from '../../core/is-object.ts';
import type { Example } from './draft.ts';
import { type Located, readYaml, textFile } from './located.ts';
import { expectationOf } from './promptfoo-assertions.ts';
import type { PromptfooSource } from './promptfoo-source.ts';
import { parseTable } from './promptfoo-table.ts';
import {
  findFiles,
  flatMapInOrder,
  type ReferencedFile,
  readReferenced,
} from './referenced-files.ts';

/** The tests of promptfoo, which become examples. */

export interface PromptfooTest {
  readonly name: string | undefined;
  readonly variables: Readonly<Record<string, unknown>>;
  readonly expect: Example['expect'];
  /** Labels of its providers and prompts; null for all. */
  readonly providers: readonly string[] | null;
  readonly prompts: readonly string[] | null;
}

/** Tests that the lists in the variables of one may give. */
const expandedMax = 100;
const members = ['description', 'vars', 'assert', 'providers', 'prompts', 'metadata'];

export async function readTests(
  source: PromptfooSource,
  list: Located,
  defaultTest: Located,
): Promise<PromptfooTest[]> {
  const [common = defaultTest] = await readItems(source, defaultTest);
  const items = await flatMapInOrder(list.items(), (item) => readItems(source, item));
  return flatMapInOrder(items, (test) => readTest(source, test, common));
}

/** A test, or those of the files that it names. */
async function readItems(source: PromptfooSource, item: Located): Promise<Located[]> {
  const at = isObject(item.value) && 'path' in item.value ? item.get('path') : item;
  const text = at.text();
  if (text === undefined) return isObject(item.value) ? [item] : [];
  if (/^(?!file:)\w+:\/\//.test(text)) {
    source.draft.remark(at, `The tests at ${text} are not carried over: only files are read.`);
    return [];
  }
  const files = await findFiles(source.folder, text);
  if (files.length === 0) source.draft.remark(at, `No file matches ${text}.`);
  return flatMapInOrder(files, (file) => readTestFile(source, at, file));
}

async function readTestFile(
  { draft, signal }: PromptfooSource,
  at: Located,
  { path, extension }: ReferencedFile,
): Promise<Located[]> {
  if (!['yaml', 'yml', 'json', 'jsonl', 'csv'].includes(extension)) {
    draft.remark(
      at,
      `The tests in ${path} are not carried over: they are made by a program, or of a kind that is not read.`,
    );
    return [];
  }
  const text = await readReferenced(path, signal);
  if (extension === 'csv') return parseTable(text, path);
  if (extension !== 'jsonl') return readYaml(text, path).items();
  return text.split('\n').flatMap((line, index) => {
    if (line.trim() === '') return [];
    return textFile(line, path, index + 1).with(readYaml(line, `${path}:${index + 1}`).value);
  });
}

async function readTest(
  source: PromptfooSource,
  test: Located,
  common: Located,
): Promise<PromptfooTest[]> {
  for (const at of [test, common]) {
    for (const [name, member] of at.members()) {
      if (!members.includes(name))
        source.draft.remark(member, `"${name}" of a test is not carried over.`);
    }
  }
  const given = [...common.get('vars').members(), ...test.get('vars').members()];
  const values = new Map<string, unknown>();
  for (const [name, at] of given) values.set(name, await variableValue(source, at));
  const name = test.get('description').text();
  const all = expanded(source, test, values);
  const assertions = [...common.get('assert').items(), ...test.get('assert').items()];
  return flatMapInOrder([...all.entries()], async ([index, variables]) => [
    {
      name: name !== undefined && index > 0 ? `${name} ${index + 1}` : name,
      variables,
      expect: await expectationOf(source, assertions, variables),
      providers: labelsOf(test.get('providers')),
      prompts: labelsOf(test.get('prompts')),
    },
  ]);
}

function labelsOf(at: Located): string[] | null {
  return at.value === undefined ? null : at.items().flatMap((item) => item.text() ?? []);
}

/** A value, or the text of a file. */
async function variableValue(
  { draft, folder, signal }: PromptfooSource,
  at: Located,
): Promise<unknown> {
  const text = at.text();
  if (!text?.startsWith('file://')) {
    if (text !== undefined && /\{[{%]/.test(text)) {
      draft.remark(at, 'The value of the variable is a template: it is carried over as it is.');
    }
    return at.value;
  }
  const [file] = await findFiles(folder, text);
  if (file && ['yaml', 'yml', 'json'].includes(file.extension)) {
    return readYaml(await readReferenced(file.path, signal), file.path).value;
  }
  if (file && ['txt', 'md', 'csv', 'html', 'xml'].includes(file.extension)) {
    return readReferenced(file.path, signal);
  }
  draft.remark(at, `The value in ${text} is not carried over: files of this kind are not read.`);
  return undefined;
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.length > 0 && value.every((one) => typeof one === 'string');
}

/** A test for each combination of the values in lists of texts. */
function expanded(
  { draft }: PromptfooSource,
  at: Located,
  values: ReadonlyMap<string, unknown>,
): Record<string, unknown>[] {
  let all: Record<string, unknown>[] = [{}];
  for (const [name, value] of values) {
    if (value === undefined) continue;
    const each: unknown[] = isTexts(value) ? value : [value];
    all = all.flatMap((variables) => each.map((one) => ({ ...variables, [name]: one })));
    if (all.length <= expandedMax) continue;
    draft.remark(
      at,
      `The lists in the variables give more than ${expandedMax} tests: the others are left out.`,
    );
    all = all.slice(0, expandedMax);
  }
  return all;
}

/** The example of a prompt with these variables. A variable without a value is an empty text in promptfoo. */
export function exampleOf(
  { name, variables, expect }: PromptfooTest,
  names: readonly string[],
): Example {
  const used = names.map((variable) => [variable, variables[variable] ?? '']);
  return { ...(name !== undefined && { name }), variables: Object.fromEntries(used), expect };
}
