import { noLimits, type RateLimits } from '../execution/limits.ts';
import { canonical } from '../json.ts';
import { runTimeoutMsDefault, type WorkflowDefinition } from '../workflow/definition.ts';
import type { DefinitionDraft, FallbackDraft, StepDraft } from '../workflow/fill-definition.ts';
import { type Action, actions, type Standing, switchable, transition } from './agent.ts';
import {
  type AgentChange,
  type AgentSettings,
  blank,
  newSettings,
  type PinnedVersion,
} from './agent-settings.ts';
import type { AgentConfig } from './model-settings.ts';

/** What a file declares, beside what is there: by names, without identifiers and secrets. */

export interface DeclaredAgent {
  readonly name: string;
  readonly prompt: string;
  readonly version: string;
  readonly stage?: Standing['stage'];
  readonly description?: string | null;
  readonly agentConfig?: AgentConfig;
  readonly requiredVariables?: readonly string[];
  readonly optionalVariables?: readonly string[];
  readonly defaultVariableValues?: Readonly<Record<string, unknown>>;
  readonly visibility?: AgentSettings['visibility'];
  readonly rateLimits?: Partial<RateLimits>;
  readonly project?: string | null;
  readonly category?: string | null;
  readonly tags?: readonly string[];
  readonly allowedOrigins?: readonly string[];
  readonly storeBodies?: boolean;
  readonly apiEnabled?: boolean;
}

type NamedFallback = Omit<FallbackDraft, 'agentId'> & { readonly agent?: string };
type NamedStep = Omit<StepDraft, 'agentId' | 'fallback'> & {
  readonly agent: string;
  readonly fallback?: NamedFallback | null;
};

export interface DeclaredWorkflow extends Omit<DefinitionDraft, 'steps'> {
  readonly name: string;
  readonly description?: string | null;
  readonly enabled?: boolean;
  readonly steps: readonly NamedStep[];
}

/** The settings that a declaration speaks of; how long records are kept is not among them. */
const fields = [
  'description',
  'config',
  'requiredVariables',
  'optionalVariables',
  'defaultVariableValues',
  'visibility',
  'rateLimits',
  'project',
  'category',
  'tags',
  'allowedOrigins',
  'storeBodies',
] as const;
type Field = (typeof fields)[number];

/** All that a declared agent is to be: what is left out has its default. */
export function declaredSettings(agent: DeclaredAgent, version: PinnedVersion): AgentSettings {
  const { prompt: _, version: __, stage: ___, apiEnabled: ____, ...settings } = agent;
  const { agentConfig, rateLimits, ...others } = settings;
  return newSettings(
    { ...others, config: agentConfig ?? {}, rateLimits: { ...noLimits, ...rateLimits } },
    version,
  );
}

export interface FieldChange {
  readonly field: string;
  readonly from: unknown;
  readonly to: unknown;
}

/** What must be set on an agent for it to be as declared, and in which fields it differs. */
export function settingsChange(
  was: AgentSettings,
  is: AgentSettings,
): { readonly change: AgentChange; readonly fields: FieldChange[] } {
  const different = fields.filter((field) =>
    field === 'defaultVariableValues'
      ? !sameValues(was[field], is[field])
      : !same(was[field], is[field]),
  );
  const change: Partial<Record<Field, unknown>> = Object.fromEntries(
    different.map((field) => [field, is[field]]),
  );
  // A change of the configuration is merged: what is not declared must be taken out.
  const gone = Object.keys(was.config).filter((name) => !(name in is.config));
  if (change.config) {
    change.config = { ...is.config, ...Object.fromEntries(gone.map((name) => [name, null])) };
  }
  const named = different.map((field) => ({
    field: field === 'config' ? 'agentConfig' : field,
    from: was[field],
    to: is[field],
  }));
  return { change: change as AgentChange, fields: named };
}

/** An agent as it would be declared: only what is not as it is by default. */
export function declareAgent(
  agent: AgentSettings & Standing,
  pinned: { readonly prompt: string; readonly version: PinnedVersion },
): DeclaredAgent {
  const { name, stage, config, ...settings } = agent;
  const base = { name, prompt: pinned.prompt, version: pinned.version.label, stage };
  const kept = fields.filter((field) => {
    if (field === 'config') return false;
    if (field !== 'requiredVariables') return !same(settings[field], blank[field]);
    const { optionalVariables, defaultVariableValues } = settings;
    const usual = newSettings({ name, optionalVariables, defaultVariableValues }, pinned.version);
    return !same(settings.requiredVariables, usual.requiredVariables);
  });
  const declared = kept.map((field) => [field, settings[field as Exclude<Field, 'config'>]]);
  return {
    ...base,
    ...(Object.keys(config).length > 0 && { agentConfig: config }),
    ...Object.fromEntries(declared),
    ...(switchable(agent) && !agent.apiEnabled && { apiEnabled: false }),
  };
}

/**
 * What the switch of an agent's API must be set to; null where it stands as declared. Moving an agent sets it, so it is
 * compared with what it is then; where calls are let in whatever it says or not at all, there is nothing to set.
 */
export function apiSwitch(
  at: Standing,
  { apiEnabled = true }: Pick<DeclaredAgent, 'apiEnabled'>,
): boolean | null {
  return switchable(at) && at.apiEnabled !== apiEnabled ? apiEnabled : null;
}

/** The lifecycle's shortest way from where an agent stands to a stage; null where there is none. */
export function wayTo(from: Standing, stage: Standing['stage']): Action[] | null {
  const ways: { at: Standing; way: Action[] }[] = [{ at: from, way: [] }];
  const seen = new Set<string>();
  for (const { at, way } of ways) {
    if (at.stage === stage && !at.archived) return way;
    if (seen.has(at.stage)) continue;
    seen.add(at.stage);
    for (const action of actions) {
      const next = action === 'archive' || action === 'restore' ? null : transition(at, action);
      if (next) ways.push({ at: next, way: [...way, action] });
    }
  }
  return null;
}

/** The definition with agents by their identifiers; `idOf` throws where there is none of that name. */
export function definitionOf(
  { name: _, description: __, enabled: ___, steps, ...rest }: DeclaredWorkflow,
  idOf: (agent: string) => string,
): DefinitionDraft {
  const inFallback = ({ agent, ...fallback }: NamedFallback): FallbackDraft =>
    agent === undefined ? fallback : { ...fallback, agentId: idOf(agent) };
  const withIds = steps.map(
    ({ agent, fallback, ...step }): StepDraft => ({
      ...step,
      agentId: idOf(agent),
      ...(fallback && { fallback: inFallback(fallback) }),
    }),
  );
  return { ...rest, steps: withIds };
}

/** A definition as it would be declared: agents by name, and only what is not as it is by default. */
export function declareDefinition(
  { input, timeoutMs, steps, output }: WorkflowDefinition,
  nameOf: (agentId: string) => string,
): Omit<DeclaredWorkflow, 'name'> {
  const { required, optional, defaults } = input;
  const given = {
    ...(required.length > 0 && { required }),
    ...(optional.length > 0 && { optional }),
    ...(Object.keys(defaults).length > 0 && { defaults }),
  };
  return {
    ...(Object.keys(given).length > 0 && { input: given }),
    ...(timeoutMs !== runTimeoutMsDefault && { timeoutMs }),
    steps: steps.map(({ name, agentId, variables, after, when, forEach, fallback, onFailure }) => ({
      name,
      agent: nameOf(agentId),
      ...(Object.keys(variables).length > 0 && { variables }),
      ...(after.length > 0 && { after }),
      ...(when !== null && { when }),
      ...(forEach && { forEach }),
      ...(fallback && {
        fallback:
          'output' in fallback
            ? { output: fallback.output }
            : { agent: nameOf(fallback.agentId), variables: fallback.variables },
      }),
      ...(onFailure === 'continue' && { onFailure }),
    })),
    ...(output !== null && { output }),
  };
}

/** By name, and each to the letter. */
function sameValues(
  some: Readonly<Record<string, unknown>>,
  others: Readonly<Record<string, unknown>>,
): boolean {
  const names = Object.keys(some);
  return (
    names.length === Object.keys(others).length &&
    names.every((name) => Object.hasOwn(others, name) && identical(some[name], others[name]))
  );
}

/** The same with the names in the same order, which is what a model sees of a value. */
export function identical(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

/** The same whatever the order of names. */
export function same(one: unknown, other: unknown): boolean {
  return canonical(JSON.stringify(one)) === canonical(JSON.stringify(other));
}
