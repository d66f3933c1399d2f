/** What a workflow is: its declaration, and the states of a run of it. How a run advances stands in `advance.ts`. */

/** The declaration as it is stored and shown, everything that may be left out filled in. */
export interface WorkflowDefinition {
  readonly input: WorkflowInput;
  /** From the start of a run to its end, in milliseconds. */
  readonly timeoutMs: number;
  readonly steps: readonly StepDefinition[];
  /** Any JSON with references; null: the outputs of the steps that nobody waits for. */
  readonly output: unknown;
}

export interface WorkflowInput {
  readonly required: readonly string[];
  readonly optional: readonly string[];
  readonly defaults: Readonly<Record<string, unknown>>;
}

export interface StepDefinition {
  readonly name: string;
  /** As on the wire. */
  readonly agentId: string;
  /** Any JSON by the name of the agent's variable; texts may hold references. */
  readonly variables: Readonly<Record<string, unknown>>;
  /** Steps that it waits for, beside those it refers to. */
  readonly after: readonly string[];
  /** An expression in CEL over `input` and `steps`; null: always. */
  readonly when: string | null;
  readonly forEach: ForEach | null;
  readonly fallback: Fallback | null;
  readonly onFailure: 'fail' | 'continue';
}

export interface ForEach {
  /** A reference to a list, or a list. */
  readonly list: unknown;
  /** Items under way at once. */
  readonly concurrency: number;
  /** The longest list. */
  readonly max: number;
}

/** What takes the place of a step's execution that failed. */
export type Fallback =
  | { readonly agentId: string; readonly variables: Readonly<Record<string, unknown>> }
  | { readonly output: unknown };

export const workflowRunStatuses = ['processing', 'success', 'failed', 'canceled'] as const;
export type WorkflowRunStatus = (typeof workflowRunStatuses)[number];

export const workflowTriggers = ['api', 'dashboard', 'schedule', 'webhook'] as const;
/** What started a run. */
export type WorkflowTrigger = (typeof workflowTriggers)[number];

/** `waiting` is nowhere stored: it is a step without a row. `canceling` has an execution that must still be stopped. */
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
/** What `errorCode` of a workflow run can hold. */
export type WorkflowFailureCode = (typeof workflowFailureCodes)[number];

/** The most characters that the filled-in variables of a call, a list, the outputs of its items or a run's output may have. */
export const valuesCharsMax = 4_194_304;
/** The same of the outputs of a list's items as the models wrote them: all that is read of them when the last one has ended. */
export const gatheredCharsMax = 33_554_432;
/** What a step may refer to, in the condition, the list and the variables of it; a fallback and a run's output each as much. */
export const referredCharsMax = 8_388_608;
/** The characters of variables, or of what they are made of, beyond which one advance of a run makes no further step ready. */
export const readyCharsMax = 8_388_608;
export const stepsMax = 50;
/** All values of a definition together: each is resolved under the lock of a run, while everybody else waits. */
export const referencesMax = 1_000;
export const runTimeoutMsMin = 1_000;
export const runTimeoutMsMax = 7 * 86_400_000;
export const runTimeoutMsDefault = 3_600_000;
export const forEachConcurrencyMax = 100;
export const forEachConcurrencyDefault = 5;
export const forEachMaxMax = 1_000;
export const forEachMaxDefault = 100;

/** What a step and an input of a workflow may be called. */
export const workflowName = /^[A-Za-z_][A-Za-z0-9_]{0,63}$/;
