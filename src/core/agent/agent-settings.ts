import { CallFailure, invalidRequest } from '../failure.ts';
import type { Retention } from '../history/retention.ts';
import { identical } from '../json.ts';
import type { Visibility } from './agent.ts';
import { type FileKind, fileProblem } from './file-value.ts';
import { noLimits, type RateLimits } from './limits.ts';
import { readMessages } from './messages.ts';
import { type AgentConfig, effective, type ModelSettings } from './model-settings.ts';
import { undeclared } from './prompt.ts';

/** The settings of an agent, how a change is merged into them, and what they must satisfy to pin a version. */
export interface AgentSettings {
  readonly name: string;
  /** Empty for a new agent whose slug follows from its name. */
  readonly slug: string;
  /** Other names of the agent, such as its identifier in another system. */
  readonly aliases: readonly string[];
  readonly config: AgentConfig;
  readonly requiredVariables: readonly string[];
  readonly optionalVariables: readonly string[];
  readonly defaultVariableValues: Readonly<Record<string, unknown>>;
  readonly visibility: Visibility;
  readonly rateLimits: RateLimits;
  readonly project: string | null;
  readonly category: string | null;
  readonly tags: readonly string[];
  readonly description: string | null;
  readonly allowedOrigins: readonly string[];
  readonly retention: Retention;
  readonly storeBodies: boolean;
  /** Whether callers of the OpenAI API may add instructions. */
  readonly allowInstructions: boolean;
  /** Whether callers of the OpenAI API may add function tools. */
  readonly allowTools: boolean;
  /** Labels of versions by the version numbers that callers of the OpenAI API send. */
  readonly versionAliases: Readonly<Record<string, string>>;
}

/** A change; fields left out keep their value. */
export type AgentChange = Partial<Omit<AgentSettings, 'config' | 'rateLimits' | 'retention'>> & {
  /** Merged field by field; `null` removes one. */
  readonly config?: { readonly [Field in keyof AgentConfig]?: AgentConfig[Field] | null };
  readonly rateLimits?: Partial<RateLimits>;
  readonly retention?: Partial<Retention>;
};

/** The properties of a version that the settings of an agent must fit. */
export interface PinnedVersion extends ModelSettings {
  readonly label: string;
  /** Its placeholders, in order of first use. */
  readonly variables: readonly string[];
  /** Those of them whose values are lists of messages. */
  readonly messageLists: readonly string[];
  readonly fileVariables: Readonly<Record<string, FileKind>>;
}

/**
 * The settings of a new agent. Without `requiredVariables`, every placeholder is required that is neither optional nor
 * has a default; a default of `null` counts as none.
 */
export function newSettings(
  input: AgentChange & { readonly name: string },
  version: PinnedVersion,
): AgentSettings {
  const settings = changeSettings(defaultSettings, input);
  if (input.requiredVariables) return settings;
  const { optionalVariables, defaultVariableValues } = settings;
  const defaults = new Map(Object.entries(defaultVariableValues));
  const requiredVariables = version.variables.filter(
    (name) => !optionalVariables.includes(name) && (defaults.get(name) ?? null) === null,
  );
  return { ...settings, requiredVariables };
}

/** The change that gives a new agent these settings. */
export function asChange({ config, ...settings }: AgentSettings): AgentSettings {
  return { ...settings, config: authoredConfig(config) };
}

export function changeSettings(
  settings: AgentSettings,
  { config, rateLimits, retention, ...others }: AgentChange,
): AgentSettings {
  return {
    ...settings,
    ...others,
    config: changeConfig(settings.config, config),
    rateLimits: { ...settings.rateLimits, ...rateLimits },
    retention: { ...settings.retention, ...retention },
  };
}

/** `model` and `models` replace each other; with `models`, `model` shows the first. */
function changeConfig(was: AgentConfig, change: AgentChange['config'] = {}): AgentConfig {
  const { model, models } = change;
  if (model && models && !(identical(models, was.models) && model === models[0])) {
    throw invalidRequest('Fields "agentConfig.model" and "agentConfig.models" exclude each other.');
  }
  const fields = { ...was, ...change };
  if (model && !models) fields.models = null;
  if (models === null && was.models && !model) fields.model = null;
  if (fields.models) fields.model = fields.models[0];
  const present = Object.entries(fields).filter(
    ([, value]) => value !== null && value !== undefined,
  );
  return Object.fromEntries(present);
}

/** As people write it: without the `model` that follows from `models`. */
export function authoredConfig({ model, ...config }: AgentConfig): AgentConfig {
  return config.models || model === undefined ? config : { model, ...config };
}

/**
 * Whether only an owner may make this change: a different retention, or turning the storage of bodies back on. Turning
 * it off is open to everyone who may change the agent.
 */
export function needsOwner(before: AgentSettings, after: AgentSettings): boolean {
  const [was, is] = [before.retention, after.retention];
  const otherTime = was.recordsDays !== is.recordsDays || was.bodiesDays !== is.bodiesDays;
  return otherTime || (after.storeBodies && !before.storeBodies);
}

/** @throws {CallFailure} if an agent with these settings cannot pin this version */
export function requireFit(settings: AgentSettings, version: PinnedVersion): void {
  const required = new Set(settings.requiredVariables);
  const both = settings.optionalVariables.filter((name) => required.has(name));
  if (both.length > 0) {
    throw invalidRequest(`Variables cannot be both required and optional: ${both.join(', ')}.`);
  }
  if (effective(settings.config, version).model === null) {
    const message = `Field "agentConfig.model" is missing: version ${version.label} has no model.`;
    throw invalidRequest(message);
  }
  requireMessageLists(settings, version);
  requireFiles(settings, version);
  const undeclaredVariables = undeclared(version.variables, settings);
  if (undeclaredVariables.length > 0) {
    const names = undeclaredVariables.join(', ');
    const message = `The agent does not declare all placeholders of version ${version.label}: ${names}.`;
    throw new CallFailure('UNDECLARED_VARIABLES', message, { undeclaredVariables });
  }
}

function requireMessageLists(
  { defaultVariableValues: defaults }: AgentSettings,
  { messageLists }: PinnedVersion,
): void {
  for (const name of messageLists) {
    const value = Object.hasOwn(defaults, name) ? (defaults[name] ?? null) : null;
    const list = readMessages(JSON.stringify(value ?? []), name);
    if ('problem' in list) {
      throw invalidRequest(`Field "defaultVariableValues.${name}" ${list.problem}.`);
    }
  }
}

function requireFiles(
  { defaultVariableValues: defaults }: AgentSettings,
  { fileVariables }: PinnedVersion,
): void {
  for (const [name, kind] of Object.entries(fileVariables)) {
    const value = Object.hasOwn(defaults, name) ? (defaults[name] ?? null) : null;
    const problem = value === null ? null : fileProblem(kind, value);
    if (problem !== null) throw invalidRequest(`Field "defaultVariableValues.${name}" ${problem}.`);
  }
}

/** The settings that a new agent starts with. */
export const defaultSettings: AgentSettings = {
  name: '',
  slug: '',
  aliases: [],
  config: {},
  requiredVariables: [],
  optionalVariables: [],
  defaultVariableValues: {},
  visibility: 'private',
  rateLimits: noLimits,
  project: null,
  category: null,
  tags: [],
  description: null,
  allowedOrigins: [],
  retention: { recordsDays: null, bodiesDays: null },
  storeBodies: true,
  allowInstructions: false,
  allowTools: false,
  versionAliases: {},
};
