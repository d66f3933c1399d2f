import {
  type Fallback,
  forEachConcurrencyDefault,
  forEachMaxDefault,
  runTimeoutMsDefault,
  type StepDefinition,
  type WorkflowDefinition,
} from '../../../core/workflow/definition.ts';

/** A definition as written by a user, and as stored with defaults filled in. */

export interface DefinitionDraft {
  readonly input?: {
    readonly required?: readonly string[];
    readonly optional?: readonly string[];
    readonly defaults?: Readonly<Record<string, unknown>>;
  };
  readonly timeoutMs?: number;
  readonly steps: readonly StepDraft[];
  readonly output?: unknown;
}

export interface StepDraft {
  readonly name: string;
  readonly agentId: string;
  readonly variables?: Readonly<Record<string, unknown>>;
  readonly after?: readonly string[];
  readonly when?: string | null;
  readonly forEach?: {
    readonly list: unknown;
    readonly concurrency?: number;
    readonly max?: number;
  } | null;
  readonly fallback?: FallbackDraft | null;
  readonly onFailure?: 'fail' | 'continue';
  readonly onUnreadable?: 'fail' | 'null';
}

export interface FallbackDraft {
  readonly agentId?: string;
  readonly variables?: Readonly<Record<string, unknown>>;
  readonly output?: unknown;
}

export function fillDefinition(draft: DefinitionDraft): WorkflowDefinition {
  const { required = [], optional = [], defaults = {} } = draft.input ?? {};
  return {
    input: { required, optional, defaults },
    timeoutMs: draft.timeoutMs ?? runTimeoutMsDefault,
    steps: draft.steps.map(fillStep),
    output: draft.output ?? null,
  };
}

function fillStep(step: StepDraft): StepDefinition {
  const { name, agentId, variables = {}, after = [], when = null } = step;
  const { onFailure = 'fail', onUnreadable = 'fail' } = step;
  const {
    list,
    concurrency = forEachConcurrencyDefault,
    max = forEachMaxDefault,
  } = step.forEach ?? {};
  return {
    name,
    agentId,
    variables,
    after,
    when,
    forEach: step.forEach ? { list, concurrency, max } : null,
    fallback: step.fallback ? fillFallback(step.fallback) : null,
    onFailure,
    onUnreadable,
  };
}

function fillFallback({ agentId, variables = {}, output = null }: FallbackDraft): Fallback {
  return agentId === undefined ? { output } : { agentId, variables };
}
