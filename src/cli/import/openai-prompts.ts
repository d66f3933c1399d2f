import type { TemplateMessage } from '../../core/agent/messages.ts';
import { placeholders, variableName } from '../../core/agent/prompt.ts';
import { isObject } from '../../core/is-object.ts';
import { wordSet, words } from '../../core/words.ts';
import { CommandFailure } from '../client/command-failure.ts';
import { readInput } from '../client/input.ts';
import { type DeclaredVersion, type Draft, placeholdersOf } from './draft.ts';
import { contentOf, readMessages, withFiles } from './imported-messages.ts';
import { checkPlaceholders } from './imported-templates.ts';
import { type Located, readYaml } from './located.ts';
import { fullModelName } from './model-name.ts';
import { settingsOf } from './version-settings.ts';

/**
 * Reusable prompts of OpenAI: one or a list of objects with `id`, `version`, `instructions`, `input`, `variables`, `model` and
 * settings. The `prompt` of a request counts as well, with the fields of the request beside it. Objects with the same id are
 * versions of one prompt; its agent pins the one with the highest number.
 */

export async function importOpenAIPrompts(
  draft: Draft,
  file: string,
  signal: AbortSignal,
): Promise<void> {
  const root = readYaml(await readInput(file, signal), file);
  const lists = ['data', 'prompts'].map((name) => root.get(name));
  const list = lists.find(({ value }) => Array.isArray(value)) ?? root;
  const read = list.items().flatMap((item) => readPrompt(draft, item));
  for (const versions of Map.groupBy(read, ({ id }) => id).values()) addPrompt(draft, versions);
}

interface ReadPrompt {
  readonly at: Located;
  readonly id: string;
  readonly name: string;
  readonly description: string | undefined;
  /** As sent in `prompt.version`; undefined if there is none. */
  readonly number: string | undefined;
  readonly version: DeclaredVersion;
  readonly defaults: Readonly<Record<string, unknown>>;
}

/** Fields that are read by name, or only describe the object. */
const fields = wordSet(`
  id prompt_id version prompt name title description instructions input messages variables model
  object created_at updated_at status
`);

function readPrompt(draft: Draft, at: Located): ReadPrompt[] {
  if (!isObject(at.value)) {
    throw new CommandFailure(`${at.place()}: Expected a prompt object with an id.`);
  }
  const reference = isObject(at.get('prompt').value) ? at.get('prompt') : at;
  const idOf = (from: Located) => from.get('id').text() ?? from.get('prompt_id').text();
  const id = idOf(reference) ?? idOf(at);
  if (id === undefined) throw new CommandFailure(`${at.place()}: The prompt has no "id".`);
  const given = reference.get('version').value ?? at.get('version').value;
  const number = given === undefined ? undefined : String(given);
  const instructions = at.get('instructions');
  const input = at.get('input').value === undefined ? at.get('messages') : at.get('input');
  if (instructions.value === undefined && input.value === undefined) {
    draft.remark(
      at,
      `${id} is left out: it has neither "instructions" nor "input". Copy them from OpenAI's dashboard.`,
    );
    return [];
  }
  const variables =
    reference.get('variables').value === undefined
      ? at.get('variables')
      : reference.get('variables');
  const { defaults, kinds } = readVariables(draft, variables);
  const messages = readTexts(draft, instructions, input);
  const list = input.value === undefined ? listName(messages, defaults) : undefined;
  const settings = settingsOf(draft, at.with(withoutFields(at.value)));
  const model = readModel(draft, at.get('model'));
  const content = contentOf(
    withFiles([...messages, ...(list === undefined ? [] : [{ placeholder: list }])], kinds),
  );
  const label = number === undefined ? 'v1' : /^\d/.test(number) ? `v${number}` : number;
  return [
    {
      at,
      id,
      number,
      description: at.get('description').text(),
      name: at.get('name').text() ?? at.get('title').text() ?? id,
      version: { label, ...content, ...model, ...settings },
      defaults,
    },
  ];
}

function withoutFields(value: object): object {
  return Object.fromEntries(Object.entries(value).filter(([name]) => !fields.has(name)));
}

/** The instructions are those of the system, unless they have roles. */
function readTexts(draft: Draft, instructions: Located, input: Located): TemplateMessage[] {
  const template = (at: Located, text: string) => {
    checkPlaceholders(draft, at, text);
    return text;
  };
  const { value } = instructions;
  const system =
    typeof value === 'string'
      ? instructions.with(value === '' ? [] : [{ role: 'system', content: value }])
      : instructions;
  return [...readMessages(draft, system, template), ...readMessages(draft, input, template)];
}

/** A prompt without messages of its own takes those of the call. */
function listName(messages: readonly TemplateMessage[], defaults: object): string {
  const used = placeholders({ system: null, user: null, messages });
  return (
    ['input', 'messages', 'conversation'].find(
      (name) => !used.includes(name) && !(name in defaults),
    ) ?? 'call_input'
  );
}

function readModel(draft: Draft, at: Located): Pick<DeclaredVersion, 'model'> {
  const name = at.text();
  if (name === undefined) return {};
  const model = fullModelName(name, 'openai');
  if (model === null)
    draft.remark(at, `The model "${name}" is not carried over: it has no valid name.`);
  return model === null ? {} : { model };
}

/** Values become defaults. A list only names variables. */
function readVariables(draft: Draft, at: Located) {
  const defaults: Record<string, unknown> = {};
  const kinds = new Map<string, 'image' | 'file'>();
  for (const [name, member] of at.members()) {
    if (!variableName.test(name)) {
      draft.remark(
        member,
        `The variable "${name}" is not carried over: names have letters, digits and underscores.`,
      );
      continue;
    }
    const { value } = isObject(member.value) ? declaredValue(member, name, kinds) : member;
    if (value !== undefined && value !== '') defaults[name] = value;
  }
  if (Object.keys(defaults).length > 0) {
    draft.remark(
      at,
      'The values of the variables become defaults, so that calls may leave them out. OpenAI requires them in each call.',
    );
  }
  return { defaults, kinds };
}

/** An input item (`input_text`, `input_image`, `input_file`), or a declaration with a default. */
function declaredValue(at: Located, name: string, kinds: Map<string, 'image' | 'file'>): Located {
  const type = at.get('type').value;
  if (type === 'input_image') kinds.set(name, 'image');
  if (type === 'input_file') kinds.set(name, 'file');
  const values = words('text image_url file_url file_data default default_value value');
  return (
    values.map((field) => at.get(field)).find(({ value }) => value !== undefined) ??
    at.with(undefined)
  );
}

function addPrompt(draft: Draft, read: readonly ReadPrompt[]): void {
  const byLabel = new Map<string, ReadPrompt>();
  for (const prompt of read) {
    const { label } = prompt.version;
    if (!byLabel.has(label)) byLabel.set(label, prompt);
    else
      draft.remark(
        prompt.at,
        `${prompt.id} has the version "${label}" twice: the second is left out.`,
      );
  }
  const versions = [...byLabel.values()].toSorted(
    (a, b) => Number(a.number ?? 0) - Number(b.number ?? 0) || 0,
  );
  const pinned = versions.at(-1);
  if (!pinned) return;
  const { at, id, name, description, version, defaults } = pinned;
  const prompt = draft.addPrompt(
    name,
    versions.map((one) => one.version),
    description,
  );
  const aliases = versions.flatMap(({ number, version: { label } }) =>
    number !== undefined && /^[1-9]\d{0,8}$/.test(number) ? [[number, label] as const] : [],
  );
  for (const other of versions.slice(0, -1)) {
    draft.remark(
      other.at,
      `${id} pins ${version.label}: calls with version ${other.number} are refused until it is pinned, or an agent of its own pins it.`,
    );
  }
  const used = new Set(placeholdersOf(version));
  const usedDefaults = Object.entries(defaults).filter(([variable]) => used.has(variable));
  draft.addAgent(at, {
    from: name,
    knownAs: [id],
    prompt,
    version: version.label,
    hasModel: version.model !== undefined,
    ...(aliases.length > 0 && { versionAliases: Object.fromEntries(aliases) }),
    ...(usedDefaults.length > 0 && { defaultVariableValues: Object.fromEntries(usedDefaults) }),
    ...(description !== undefined && { description }),
  });
}
