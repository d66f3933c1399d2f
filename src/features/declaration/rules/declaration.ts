import {
  type Action,
  actions,
  type LifecycleState,
  switchable,
  transition,
} from '../../../core/agent/agent.ts';
import {
  type AgentChange,
  type AgentSettings,
  authoredConfig,
  defaultSettings,
  newSettings,
  type PinnedVersion,
} from '../../../core/agent/agent-settings.ts';
import { noLimits, type RateLimits } from '../../../core/agent/limits.ts';
import type { AgentConfig } from '../../../core/agent/model-settings.ts';
import { identical, same } from '../../../core/json.ts';
import { slugOf } from '../../../core/slug.ts';
import { runTimeoutMsDefault, type WorkflowDefinition } from '../../../core/workflow/definition.ts';
import type {
  DefinitionDraft,
  FallbackDraft,
  StepDraft,
} from '../../workflows/rules/fill-definition.ts';
import type { Example } from './example.ts';

/** Agents and workflows as a `cueline.yaml` file declares them: by name, without identifiers and secrets. */

export interface DeclaredAgent {
  readonly name: string;
  readonly slug?: string;
  readonly aliases?: readonly string[];
  readonly prompt: string;
  readonly version: string;
  readonly stage?: LifecycleState['stage'];
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
  readonly allowInstructions?: boolean;
  readonly allowTools?: boolean;
  readonly versionAliases?: Readonly<Record<string, string>>;
  readonly apiEnabled?: boolean;
  /** Of the file only: the server checks their form and stores nothing of them. */
  readonly examples?: readonly Example[];
}

type NamedFallback = Omit<FallbackDraft, 'agentId'> & { readonly agent?: string };
type NamedStep = Omit<StepDraft, 'agentId' | 'fallback'> & {
  readonly agent: string;
  readonly fallback?: NamedFallback | null;
};

export interface DeclaredWorkflow extends Omit<DefinitionDraft, 'steps'> {
  readonly name: string;
  readonly slug?: string;
  readonly description?: string | null;
  readonly enabled?: boolean;
  readonly steps: readonly NamedStep[];
}

/** The settings that a declaration contains; retention is not among them. */
const fields = [
  'slug',
  'aliases',
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
  'allowInstructions',
  'allowTools',
  'versionAliases',
] as const;
type Field = (typeof fields)[number];

/**
 * The complete settings of a declared agent; fields left out get their default. Without a slug, a new agent has none yet,
 * and `known` keeps its own.
 */
export function declaredSettings(
  agent: DeclaredAgent,
  version: PinnedVersion,
  known: Pick<AgentSettings, 'slug'> | null = null,
): AgentSettings {
  const {
    prompt: _,
    version: __,
    stage: ___,
    apiEnabled: ____,
    examples: _____,
    ...settings
  } = agent;
  const { agentConfig, rateLimits, ...others } = settings;
  return newSettings(
    {
      ...(known && { slug: known.slug }),
      ...others,
      config: agentConfig ?? {},
      rateLimits: { ...noLimits, ...rateLimits },
    },
    version,
  );
}

export interface FieldChange {
  readonly field: string;
  readonly from: unknown;
  readonly to: unknown;
}

/** The change that brings an agent to its declaration, and the fields that differ. */
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
  // A configuration change is merged, so undeclared fields are removed explicitly.
  const removed = Object.keys(was.config).filter((name) => !(name in is.config));
  if (change.config) {
    change.config = {
      ...authoredConfig(is.config),
      ...Object.fromEntries(removed.map((name) => [name, null])),
    };
  }
  const named = different.map((field) => ({
    field: field === 'config' ? 'agentConfig' : field,
    from: was[field],
    to: is[field],
  }));
  return { change: change as AgentChange, fields: named };
}

/** The declaration of an agent; fields with their default value are left out. */
export function declareAgent(
  agent: AgentSettings & LifecycleState,
  pinned: { readonly prompt: string; readonly version: PinnedVersion },
): DeclaredAgent {
  const { name, stage, config, ...settings } = agent;
  const base = { name, prompt: pinned.prompt, version: pinned.version.label, stage };
  const differing = fields.filter((field) => {
    if (field === 'config') return false;
    if (field === 'slug') return settings.slug !== slugOf(name);
    if (field !== 'requiredVariables') return !same(settings[field], defaultSettings[field]);
    const { optionalVariables, defaultVariableValues } = settings;
    const usual = newSettings({ name, optionalVariables, defaultVariableValues }, pinned.version);
    return !same(settings.requiredVariables, usual.requiredVariables);
  });
  const declared = differing.map((field) => [field, settings[field as Exclude<Field, 'config'>]]);
  return {
    ...base,
    ...(Object.keys(config).length > 0 && { agentConfig: authoredConfig(config) }),
    ...Object.fromEntries(declared),
    ...(switchable(agent) && !agent.apiEnabled && { apiEnabled: false }),
  };
}

/**
 * The value that `apiEnabled` must get; null if no change is needed. Lifecycle actions set it too, so it is compared
 * with the value after them. In stages where it has no effect, nothing is set.
 */
export function apiSwitch(
  at: LifecycleState,
  { apiEnabled = true }: Pick<DeclaredAgent, 'apiEnabled'>,
): boolean | null {
  return switchable(at) && at.apiEnabled !== apiEnabled ? apiEnabled : null;
}

/** Whether the declaration itself says that the agent does not accept the calls of workflows. */
export function isDeclaredInactive({
  stage = 'Deployed',
  apiEnabled = true,
}: Pick<DeclaredAgent, 'stage' | 'apiEnabled'>): boolean {
  return stage !== 'Deployed' || !apiEnabled;
}

/** The shortest sequence of lifecycle actions to a stage; null if there is none. */
export function actionsTo(from: LifecycleState, stage: LifecycleState['stage']): Action[] | null {
  const paths: { state: LifecycleState; path: Action[] }[] = [{ state: from, path: [] }];
  const visited = new Set<string>();
  for (const { state, path } of paths) {
    if (state.stage === stage && !state.archived) return path;
    if (visited.has(state.stage)) continue;
    visited.add(state.stage);
    for (const action of actions) {
      const next = action === 'archive' || action === 'restore' ? null : transition(state, action);
      if (next) paths.push({ state: next, path: [...path, action] });
    }
  }
  return null;
}

/** The definition with agent identifiers instead of names; `idOf` throws for an unknown name. */
export function definitionOf(
  { name: _, slug: __, description: ___, enabled: ____, steps, ...rest }: DeclaredWorkflow,
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

/** The declaration of a definition: agents by name; fields with their default value are left out. */
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
    steps: steps.map(({ name, agentId, variables, after, when, forEach, fallback, ...rest }) => ({
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
      ...(rest.onFailure === 'continue' && { onFailure: rest.onFailure }),
      ...(rest.onUnreadable === 'null' && { onUnreadable: rest.onUnreadable }),
    })),
    ...(output !== null && { output }),
  };
}

/** Compares value by value, each exactly. */
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
