import type { Agent, AgentInput, AgentPatch } from '../../../src/client/index.ts';
import { parse, stringify } from '../text/exact-json.ts';
import { ownProperty } from '../text/own-property.ts';
import { blankCallForm, type CallForm, callFormFrom, toCallConfig } from './call-form.ts';
import { type ModelSettings, noModelSettings } from './model-settings.ts';

/** An agent's settings as form state: text for text inputs, null for an unset value. */
export interface AgentForm {
  readonly agentName: string;
  /** Empty for one derived from the name. */
  readonly slug: string;
  readonly aliases: readonly string[];
  readonly description: string;
  readonly project: string;
  readonly tags: readonly string[];
  readonly visibility: Agent['visibility'];
  readonly model: ModelSettings;
  /** One per line, called in this order after the model has failed. */
  readonly fallbackModels: string;
  readonly call: CallForm;
  /** Whether responses are read as a stream. */
  readonly stream: boolean;
  readonly maxAttempts: number | null;
  readonly timeoutMs: number | null;
  readonly maxConcurrency: number | null;
  readonly maxCostUSD: number | null;
  readonly variables: readonly DeclaredVariable[];
  readonly rateLimits: Agent['rateLimits'];
  /** Only agents in Testing or Deployed can change this. */
  readonly apiEnabled: boolean;
  /** One origin per line. */
  readonly origins: string;
  readonly allowInstructions: boolean;
  readonly allowTools: boolean;
  /** Each `number=label`. */
  readonly versionAliases: readonly string[];
  readonly storeBodies: boolean;
  readonly retention: Agent['retention'];
}

export interface DeclaredVariable {
  readonly name: string;
  /** `text` and `json` carry a default value of that type. */
  readonly kind: 'required' | 'optional' | 'text' | 'json';
  readonly value: string;
}

export const blankForm: AgentForm = {
  agentName: '',
  slug: '',
  aliases: [],
  description: '',
  project: '',
  tags: [],
  visibility: 'private',
  model: noModelSettings,
  fallbackModels: '',
  call: blankCallForm,
  stream: false,
  maxAttempts: null,
  timeoutMs: null,
  maxConcurrency: null,
  maxCostUSD: null,
  variables: [],
  rateLimits: { requestsPerMinute: null, requestsPerHour: null, requestsPerDay: null },
  apiEnabled: false,
  origins: '',
  allowInstructions: false,
  allowTools: false,
  versionAliases: [],
  storeBodies: true,
  retention: { recordsDays: null, bodiesDays: null },
};

export function formFromAgent(agent: Agent): AgentForm {
  const { agentName, slug, visibility, tags, rateLimits, apiEnabled, storeBodies, retention } =
    agent;
  const { aliases, allowInstructions, allowTools, versionAliases } = agent;
  const { model, temperature, maxTokens, topP, ...run } = agent.agentConfig;
  return {
    agentName,
    slug,
    aliases,
    description: agent.description ?? '',
    project: agent.project ?? '',
    tags,
    visibility,
    model: {
      model: model ?? null,
      temperature: temperature ?? null,
      maxTokens: maxTokens ?? null,
      topP: topP ?? null,
    },
    call: callFormFrom(agent.agentConfig),
    fallbackModels: run.models?.slice(1).join('\n') ?? '',
    stream: run.stream ?? false,
    maxAttempts: run.maxAttempts ?? null,
    timeoutMs: run.timeoutMs ?? null,
    maxConcurrency: run.maxConcurrency ?? null,
    maxCostUSD: run.maxCostUSD ?? null,
    variables: declaredVariables(agent),
    rateLimits,
    apiEnabled,
    origins: agent.allowedOrigins.join('\n'),
    allowInstructions,
    allowTools,
    versionAliases: Object.entries(versionAliases).map((pair) => pair.join('=')),
    storeBodies,
    retention,
  };
}

/** A variable of the version that the agent does not declare is required. */
export function withVariables(
  declared: readonly DeclaredVariable[],
  names: readonly string[],
): DeclaredVariable[] {
  const known = new Set(declared.map(({ name }) => name));
  const added = names.filter((name) => !known.has(name));
  return [...declared, ...added.map((name) => ({ name, kind: 'required', value: '' }) as const)];
}

/** The validation error of a default value; undefined if it is valid. */
export function defaultValueError({ kind, value }: DeclaredVariable): string | undefined {
  if (kind !== 'json') return undefined;
  try {
    JSON.parse(value);
    return undefined;
  } catch {
    return 'Not valid JSON.';
  }
}

export function toAgentInput(form: AgentForm): Omit<AgentInput, 'promptId' | 'promptVersionId'> {
  // A new agent is a Draft with its API disabled.
  const { agentConfig, apiEnabled: _, ...others } = toFullPatch(form);
  const set = Object.entries(agentConfig).filter(([, value]) => value !== null);
  return { ...others, agentConfig: Object.fromEntries(set) };
}

/** Only the changed fields, so that a save does not revert concurrent changes to the others. */
export function toAgentPatch(before: AgentForm, after: AgentForm): AgentPatch {
  const [was, is] = [toFullPatch(before), toFullPatch(after)];
  const differing = Object.entries(is).filter(
    ([name, value]) => JSON.stringify(value) !== JSON.stringify(was[name as keyof typeof was]),
  );
  return Object.fromEntries(differing);
}

/** Whether the edits since `before` would overwrite a concurrent change to the same field. */
export function hasConflict(before: AgentForm, typed: AgentForm, now: AgentForm): boolean {
  const names = Object.keys(before) as (keyof AgentForm)[];
  return names.some((name) => {
    const [was, mine, theirs] = [before, typed, now].map((form) => JSON.stringify(form[name]));
    return mine !== was && theirs !== was && mine !== theirs;
  });
}

/** Applies the edits since `before` to the current agent. */
export function rebaseForm(before: AgentForm, typed: AgentForm, now: AgentForm): AgentForm {
  const edits = Object.entries(typed).filter(
    ([name, value]) =>
      JSON.stringify(value) !== JSON.stringify(before[name as keyof typeof before]),
  );
  return { ...now, ...Object.fromEntries(edits) };
}

function toFullPatch(form: AgentForm) {
  const { agentName, visibility, tags, rateLimits, storeBodies, retention, variables } = form;
  const { slug, allowInstructions, allowTools, maxAttempts, timeoutMs, maxConcurrency } = form;
  const { maxCostUSD } = form;
  const stream = form.stream || null;
  const defaults = variables.filter(({ kind }) => kind === 'text' || kind === 'json');
  return {
    agentName,
    ...(slug !== '' && { slug }),
    aliases: [...form.aliases],
    description: form.description || null,
    project: form.project || null,
    tags: [...tags],
    visibility,
    agentConfig: {
      ...toModels(form),
      ...toCallConfig(form.call),
      ...{ maxAttempts, timeoutMs, maxConcurrency, maxCostUSD, stream },
    },
    requiredVariables: variables.filter(({ kind }) => kind === 'required').map(nameOf),
    optionalVariables: variables.filter(({ kind }) => kind !== 'required').map(nameOf),
    defaultVariableValues: Object.fromEntries(defaults.map((one) => [one.name, parseDefault(one)])),
    rateLimits,
    apiEnabled: form.apiEnabled,
    allowedOrigins: form.origins.split(/\s+/).filter((origin) => origin !== ''),
    allowInstructions,
    allowTools,
    // The server explains what is no number or no label.
    versionAliases: Object.fromEntries(
      form.versionAliases.map((text) => {
        const [number = '', label = ''] = text.split(/=(.*)/s);
        return [number.trim(), label.trim()];
      }),
    ),
    storeBodies,
    retention,
  } satisfies AgentPatch;
}

/** `models` replaces `model`. */
function toModels({ model: { model, ...settings }, fallbackModels }: AgentForm) {
  const fallbacks = fallbackModels.split(/\s+/).filter((one) => one !== '');
  if (fallbacks.length === 0) return { ...settings, model, models: null };
  return { ...settings, models: [...(model === null ? [] : [model]), ...fallbacks] };
}

const nameOf = ({ name }: DeclaredVariable) => name;

function parseDefault(variable: DeclaredVariable): unknown {
  if (variable.kind === 'text') return variable.value;
  // The form does not submit while a default is invalid.
  return defaultValueError(variable) === undefined ? parse(variable.value) : null;
}

function declaredVariables(agent: Agent): DeclaredVariable[] {
  const { requiredVariables, optionalVariables, defaultVariableValues: defaults } = agent;
  const others = new Set([...optionalVariables, ...Object.keys(defaults)]);
  for (const name of requiredVariables) others.delete(name);
  return [
    ...requiredVariables.map((name) => ({ name, kind: 'required', value: '' }) as const),
    ...[...others].map((name): DeclaredVariable => {
      const value = ownProperty(defaults, name) ?? null;
      if (value === null) return { name, kind: 'optional', value: '' };
      if (typeof value === 'string') return { name, kind: 'text', value };
      return { name, kind: 'json', value: stringify(value) };
    }),
  ];
}
