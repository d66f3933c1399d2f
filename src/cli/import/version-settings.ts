import { type TSchema, Type } from 'typebox';
import { isObject } from '../../core/is-object.ts';
import { findSchemaProblem } from '../../core/schema/schema-validator.ts';
import { callSettings } from '../../features/prompts/contract/call-settings-contract.ts';
import { modelSettings } from '../../features/prompts/contract/model-settings-contract.ts';
import { sentFields } from '../../features/prompts/contract/prompt-content.ts';
import { validationErrors } from '../../http/request/validate.ts';
import type { DeclaredVersion, Draft } from './draft.ts';
import type { Located } from './located.ts';

/** The settings of a model call as other systems write them: in the words of OpenAI, Anthropic or Google. */

export type Settings = Partial<DeclaredVersion>;

const schemas = { ...modelSettings, ...callSettings };
type Plain = keyof typeof schemas;

/** Plain settings, and what others call them. */
const plainNames: readonly (readonly [Plain, ...string[]])[] = [
  ['temperature'],
  ['maxTokens', 'max_tokens', 'max_completion_tokens', 'max_output_tokens', 'maxOutputTokens'],
  ['topP', 'top_p'],
  ['topK', 'top_k'],
  ['seed'],
  ['stop', 'stop_sequences', 'stopSequences'],
  ['presencePenalty', 'presence_penalty'],
  ['frequencyPenalty', 'frequency_penalty'],
  ['reasoningEffort', 'reasoning_effort'],
  ['serviceTier', 'service_tier'],
];
const plainSettings = new Map(
  plainNames.flatMap(([own, ...others]) => [own, ...others].map((name) => [name, own] as const)),
);

type ReadSetting = (draft: Draft, at: Located) => Settings;

/** Settings with a structure of their own. Each returns what it adds. */
const otherSettings = new Map<string, ReadSetting>([
  ['reasoning', (draft, at) => settingsOf(draft, at, new Map([['effort', 'reasoningEffort']]))],
  ['text', readText],
  ['verbosity', (_, { value }) => verbosity(value)],
  ['response_format', readFormat],
  ['tools', readTools],
  ['tool_choice', (_, at) => readToolChoice(at)],
]);

/** Values that change nothing. */
const withoutEffect = new Map<string, unknown>([
  ['parallel_tool_calls', true],
  ['stream', false],
  ['truncation', 'disabled'],
  ['n', 1],
  ['logprobs', false],
  ['service_tier', 'auto'],
]);

/**
 * The settings among the members of an object. Remarks name the others.
 * @param names our names of plain settings
 */
export function settingsOf(
  draft: Draft,
  config: Located,
  names: ReadonlyMap<string, Plain> = plainSettings,
): Settings {
  let settings: Settings = {};
  for (const [name, at] of config.members()) {
    if (isEmpty(at.value) || withoutEffect.get(name) === at.value) continue;
    const own = names.get(name);
    const read = otherSettings.get(name);
    if (own) settings = { ...settings, ...plain(draft, at, own, name) };
    else if (read) settings = merge(settings, read(draft, at));
    else draft.remark(at, `"${name}" is not carried over.`);
  }
  return withToolChoice(draft, config, settings);
}

function plain(draft: Draft, at: Located, own: Plain, name: string): Settings {
  const problem = problemOf(schemas[own], at.value, own);
  if (problem === null) return { [own]: at.value };
  draft.remark(at, `"${name}" is not carried over. ${problem}`);
  return {};
}

/** Why a value is not valid as this field; null if it is. */
export function problemOf(schema: TSchema, value: unknown, field: string): string | null {
  return validationErrors(Type.Object({ [field]: schema }), { [field]: value })[0]?.message ?? null;
}

/** `text` of OpenAI's responses. */
function readText(draft: Draft, at: Located): Settings {
  let settings: Settings = {};
  for (const [name, member] of at.members()) {
    if (name === 'format') settings = merge(settings, readFormat(draft, member));
    else if (name === 'verbosity') settings = merge(settings, verbosity(member.value));
    else draft.remark(member, `"text.${name}" is not carried over.`);
  }
  return settings;
}

/** OpenAI's default is not set. */
function verbosity(value: unknown): Settings {
  if (value !== 'low' && value !== 'high') return {};
  return { providerOptions: { openai: { textVerbosity: value } } };
}

/** A response format of chat completions or responses. */
function readFormat(draft: Draft, at: Located): Settings {
  const type = at.get('type').value;
  if (type === 'text') return {};
  if (type === 'json_object')
    return { responseFormat: { type: 'json', schema: { type: 'object' } } };
  const nested = at.get('json_schema');
  const schema = (nested.value === undefined ? at : nested).get('schema');
  const problem = isObject(schema.value)
    ? findSchemaProblem({ workspaceId: '', schema: JSON.stringify(schema.value) })
    : 'is missing';
  if (type === 'json_schema' && problem === null) {
    return { responseFormat: { type: 'json', schema: schema.value as Record<string, unknown> } };
  }
  draft.remark(
    at,
    `The response format is not carried over: its schema ${problem ?? 'has no known type'}.`,
  );
  return {};
}

/** Function tools of chat completions or responses. */
function readTools(draft: Draft, at: Located): Settings {
  const tools = at.items().flatMap((item) => {
    const nested = item.get('function');
    const { name, description, parameters } = Object.fromEntries(
      (nested.value === undefined ? item : nested).members(),
    );
    const isFunction = ['function', undefined].includes(item.get('type').value as undefined);
    if (!isFunction || name?.value === undefined) {
      draft.remark(
        item,
        `The tool "${String(item.get('type').value)}" is not carried over: only functions are.`,
      );
      return [];
    }
    const tool = {
      name: name.value as string,
      ...(description?.value !== undefined && { description: description.value as string }),
      ...(isObject(parameters?.value) && { parameters: parameters.value }),
    };
    const problem = problemOf(sentFields.tools, [tool], 'tools');
    if (problem !== null) draft.remark(item, `A tool is not carried over. ${problem}`);
    return problem === null ? [tool] : [];
  });
  const named = new Map(tools.map((tool) => [tool.name, tool]));
  return named.size > 0 ? { tools: [...named.values()] } : {};
}

function readToolChoice(at: Located): Settings {
  const { value } = at;
  if (value === 'auto' || value === 'none' || value === 'required') return { toolChoice: value };
  const name = at.get('name').text() ?? at.get('function').get('name').text();
  return { toolChoice: { tool: name ?? '' } };
}

/** A choice needs the tools that it chooses from. */
function withToolChoice(draft: Draft, config: Located, settings: Settings): Settings {
  const { toolChoice, ...others } = settings;
  if (toolChoice === undefined || toolChoice === null) return settings;
  const { tools } = settings;
  const fits =
    typeof toolChoice === 'string' || tools?.some(({ name }) => name === toolChoice.tool);
  if (tools && fits) return settings;
  draft.remark(
    config.get('tool_choice'),
    '"tool_choice" is not carried over: there is no such tool.',
  );
  return others;
}

/** Options of one provider may come from several settings. */
function merge(settings: Settings, added: Settings): Settings {
  const { providerOptions } = added;
  if (!providerOptions || !settings.providerOptions) return { ...settings, ...added };
  const openai = { ...settings.providerOptions.openai, ...providerOptions.openai };
  return { ...settings, ...added, providerOptions: { ...settings.providerOptions, openai } };
}

function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null) return true;
  return typeof value === 'object' && Object.keys(value).length === 0;
}
