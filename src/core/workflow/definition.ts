/** A workflow definition and the states of its runs. `advance.ts` decides how a run proceeds. */

/** The definition as stored and shown, with defaults filled in. */
export interface WorkflowDefinition {
  readonly input: WorkflowInput;
  /** From the start of a workflow run to its end, in milliseconds. */
  readonly timeoutMs: number;
  readonly steps: readonly StepDefinition[];
  /** Any JSON with references; null: the outputs of the steps that no other step waits for. */
  readonly output: unknown;
}

export interface WorkflowInput {
  readonly required: readonly string[];
  readonly optional: readonly string[];
  readonly defaults: Readonly<Record<string, unknown>>;
}

export interface StepDefinition {
  readonly name: string;
  /** The wire id. */
  readonly agentId: string;
  /** Any JSON per variable of the agent; texts may contain references. */
  readonly variables: Readonly<Record<string, unknown>>;
  /** Steps to wait for, in addition to those it refers to. */
  readonly after: readonly string[];
  /** A CEL expression over `input` and `steps`; null: always. */
  readonly when: string | null;
  readonly forEach: ForEach | null;
  readonly fallback: Fallback | null;
  readonly onFailure: 'fail' | 'continue';
  /** What references into the output give if it is text without a single object or array: a failure, or null. */
  readonly onUnreadable: 'fail' | 'null';
}

export interface ForEach {
  /** A list, or a reference to one. */
  readonly list: unknown;
  /** Items in progress at once. */
  readonly concurrency: number;
  /** The maximum length of the list. */
  readonly max: number;
}

/** What replaces a failed call of a step. */
export type Fallback =
  | { readonly agentId: string; readonly variables: Readonly<Record<string, unknown>> }
  | { readonly output: unknown };

export const workflowRunStatuses = ['processing', 'success', 'failed', 'canceled'] as const;
export type WorkflowRunStatus = (typeof workflowRunStatuses)[number];

export const workflowTriggers = ['api', 'dashboard', 'schedule', 'webhook'] as const;
/** What started a workflow run. */
export type WorkflowTrigger = (typeof workflowTriggers)[number];

/** `waiting` is never stored: such a step has no row. `canceling` still has an execution to cancel. */
export const stepStatuses = [
  'waiting',
  'ready',
  'processing',
  'success',
  'failed',
  'skipped',
  'canceled',
  'canceling',
] as const;
export type StepStatus = (typeof stepStatuses)[number];

export const workflowFailureCodes = [
  'STEP_FAILED',
  'DEADLINE_EXCEEDED',
  'OUTPUT_TOO_LARGE',
  'CANCELED',
  'INTERNAL',
] as const;
/** The possible `errorCode` of a workflow run. */
export type WorkflowFailureCode = (typeof workflowFailureCodes)[number];

/**
 * Maximum characters of the filled-in variables of a call, of a list, of the outputs of its items, or of a run's
 * output.
 */
export const valuesCharsMax = 4_194_304;
/**
 * Maximum characters of a list's item outputs as the models wrote them: all that is read when the last item has ended.
 */
export const gatheredCharsMax = 33_554_432;
/**
 * Maximum characters that the condition, list and variables of a step refer to together; a fallback and a run's output
 * get as much each.
 */
export const referredCharsMax = 8_388_608;
/**
 * Maximum characters of variables, or of the values they refer to, that one advance makes ready; later steps wait for
 * the next advance.
 */
export const readyCharsMax = 8_388_608;
export const stepsMax = 50;
/** Maximum references in a definition: each is resolved under the lock of a workflow run. */
export const referencesMax = 1_000;
export const runTimeoutMsMin = 1_000;
export const runTimeoutMsMax = 7 * 86_400_000;
export const runTimeoutMsDefault = 3_600_000;
export const forEachConcurrencyMax = 100;
export const forEachConcurrencyDefault = 5;
export const forEachMaxMax = 1_000;
export const forEachMaxDefault = 100;
