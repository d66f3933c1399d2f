import { isObject } from '../../core/is-object.ts';
import { words } from '../../core/words.ts';
import type { ImportedAgent } from './draft.ts';
import { type Located, readYaml } from './located.ts';
import { knownProviders, validModel } from './model-name.ts';
import type { PromptfooSource } from './promptfoo-source.ts';
import { findFiles, flatMapInOrder, readReferenced } from './referenced-files.ts';
import { type Settings, settingsOf } from './version-settings.ts';

/** The providers of promptfoo: models, and programs, which are left out. */

export interface PromptfooProvider {
  readonly at: Located;
  readonly name: string;
  /** By which filters name it. */
  readonly labels: readonly string[];
  readonly config: NonNullable<ImportedAgent['agentConfig']>;
  /** Tools, which belong to a version of a prompt. */
  readonly offered: Pick<Settings, 'tools' | 'toolChoice'>;
  /** Labels of its prompts; null for all. */
  readonly prompts: readonly string[] | null;
}

/** Their names here, if they differ. */
const renamed = new Map([
  ['azureopenai', 'azure'],
  ['palm', 'google'],
]);
/** Kinds of calls that are no different for an agent. */
const callKinds = ['chat', 'responses', 'messages', 'completion', 'completions', 'converse'];
/** Providers that are no models: programs, addresses, and what answers by hand. */
const notModels =
  /^(file:\/\/|https?:|wss?:|(exec|python|ruby|golang|webhook|package|mcp|browser|sequence|promptfoo|script|slack)(:|$)|manual-input)/;
/** Models that do not answer with a text. */
const otherModels = words(`
  embedding embeddings image moderation assistant realtime speech transcription video agents live
  kb knowledge-base
`);
/** Settings of a connection, which a workspace stores as a provider. */
const connectionSettings =
  /^(apiKey|apiKeyEnvar|apiHost|apiBaseUrl|baseUrl|organization|headers|region|accessKeyId|secretAccessKey|sessionToken|profile)$/;

export async function readProviders(
  source: PromptfooSource,
  list: Located,
): Promise<PromptfooProvider[]> {
  return flatMapInOrder(list.items(), (item) => readProvider(source, item, true));
}

/** @param mayBeFile whether it may be in another file; those in a file may not */
async function readProvider(
  source: PromptfooSource,
  item: Located,
  mayBeFile: boolean,
): Promise<PromptfooProvider[]> {
  const entry = namedEntry(item);
  const id = entry.get('id').text();
  if (id === undefined) {
    source.draft.remark(item, 'The provider is left out: it has no "id".');
    return [];
  }
  const [file] = /^file:\/\/.*\.(ya?ml|json)$/i.test(id) ? await findFiles(source.folder, id) : [];
  if (file && mayBeFile) {
    const list = readYaml(await readReferenced(file.path, source.signal), file.path);
    return flatMapInOrder(list.items(), (one) => readProvider(source, one, false));
  }
  const model = modelOf(source, entry, id);
  if (model === null) return [];
  const label = entry.get('label').text();
  const prompts = entry.get('prompts');
  for (const [name, at] of entry.members()) {
    if (['id', 'label', 'config', 'prompts'].includes(name)) continue;
    source.draft.remark(at, `"${name}" of the provider is not carried over.`);
  }
  const { tools, toolChoice, ...config } = await readConfig(source, entry.get('config'));
  const labels = prompts.items().flatMap((one) => one.text() ?? []);
  return [
    {
      at: entry,
      name: label ?? id,
      labels: label === undefined ? [id] : [label, id],
      config: { model, ...config } as PromptfooProvider['config'],
      offered: { ...(tools && { tools }), ...(toolChoice && { toolChoice }) },
      prompts: prompts.value === undefined ? null : labels,
    },
  ];
}

/** A text, an object with an id, or an object whose only name is the id. */
function namedEntry(item: Located): Located {
  if (!isObject(item.value)) return item.with({ id: item.value });
  const [[name, at] = []] = item.members();
  if ('id' in item.value || !at || name === undefined) return item;
  return at.with({ id: name, ...(isObject(at.value) && at.value) });
}

function modelOf({ draft }: PromptfooSource, at: Located, id: string): string | null {
  const leaveOut = (reason: string) => {
    draft.remark(at, `The provider "${id}" is left out: ${reason}.`);
    return null;
  };
  if (id === 'echo') return 'cueline/echo';
  if (notModels.test(id)) return leaveOut('it is no model');
  const [kind = '', ...parts] = id.split(':');
  if (otherModels.includes(parts[0] ?? ''))
    return leaveOut('its model does not answer with a text');
  const name = (callKinds.includes(parts[0] ?? '') ? parts.slice(1) : parts).join(':');
  if (name === '') return leaveOut('it names no model');
  const provider = renamed.get(kind) ?? kind;
  const model = validModel(`${provider}/${name}`);
  if (model === null) return leaveOut('its name is no valid model');
  if (!knownProviders.has(provider)) {
    draft.remark(
      at,
      `The model is ${model}: the workspace needs a provider with the name "${provider}".`,
    );
  }
  return model;
}

/** Settings of the model, some of which may be in files. */
async function readConfig(source: PromptfooSource, config: Located): Promise<Settings> {
  const entries = await flatMapInOrder(config.members(), async ([name, at]) => {
    if (!connectionSettings.test(name)) return [[name, await loaded(source, at)] as const];
    const text = `"${name}" is not carried over: it belongs to the provider, which the workspace stores.`;
    source.draft.remark(at, text);
    return [];
  });
  return settingsOf(source.draft, config.with(Object.fromEntries(entries)));
}

/** The value itself, or that of the JSON or YAML file that it names. */
async function loaded({ folder, signal }: PromptfooSource, at: Located): Promise<unknown> {
  const text = at.text();
  if (!text?.startsWith('file://')) return at.value;
  const [file] = await findFiles(folder, text);
  if (!file || !['json', 'yaml', 'yml'].includes(file.extension)) return at.value;
  return readYaml(await readReferenced(file.path, signal), file.path).value;
}
