import type { Unreadable } from '../json-in-text.ts';
import {
  type Fallback,
  referredCharsMax,
  type StepDefinition,
  type StepStatus,
  valuesCharsMax,
  type WorkflowFailureCode,
} from './definition.ts';

/** The state of a step of a workflow run, the outcome of its calls, and the end of a run. */

/** A step, or one item of a step that fans out. All values are JSON texts. */
export interface StepState {
  readonly step: string;
  /** -1, except for an item of a list. */
  readonly item: number;
  readonly status: Exclude<StepStatus, 'waiting'>;
  readonly variables: string | null;
  readonly executionId: string | null;
  readonly failedExecutionId: string | null;
  /** Whether the fallback has taken over. */
  readonly fallback: boolean;
  readonly items: string | null;
  readonly itemsCount: number | null;
  readonly output: string | null;
  readonly errorCode: string | null;
  readonly error: string | null;
}

/** The outcome of a step's call: its execution ended, or the call was refused permanently. */
export interface StepEvent {
  readonly step: string;
  readonly item: number;
  /** Null if the call was refused; `fallback` says which call. */
  readonly executionId: string | null;
  readonly fallback?: boolean;
  readonly outcome:
    | {
        readonly kind: 'success';
        readonly text: string;
        /** The JSON in the text, if the agent asks for JSON. */
        readonly json?: string | null;
      }
    | { readonly kind: 'failed'; readonly code: string; readonly error: string };
}

export type RunEnd =
  | { readonly status: 'success'; readonly output: string }
  | {
      readonly status: 'failed' | 'canceled';
      readonly errorCode: WorkflowFailureCode;
      readonly error: string;
      readonly failedStep: string | null;
    };

export interface Failure {
  readonly code: string;
  readonly error: string;
}

/** Whether the state is final. */
export function isOver({ status }: StepState): boolean {
  return status !== 'ready' && status !== 'processing';
}

/** The agent that a ready step calls. */
export function agentOfStep(step: StepDefinition, onFallback: boolean): string {
  const { fallback } = step;
  return onFallback && fallback && !isOutput(fallback) ? fallback.agentId : step.agentId;
}

export function isOutput(fallback: Fallback): fallback is Extract<Fallback, { output: unknown }> {
  return 'output' in fallback;
}

export function keyOf({ step, item }: StepState): string {
  return `${step} ${item}`;
}

/** A step or an item that has no row yet. */
export function fresh(step: string, item: number): StepState {
  return {
    step,
    item,
    status: 'processing',
    variables: null,
    executionId: null,
    failedExecutionId: null,
    fallback: false,
    items: null,
    itemsCount: null,
    output: null,
    errorCode: null,
    error: null,
  };
}

export function failed(row: StepState, { code, error }: Failure): StepState {
  return { ...row, status: 'failed', variables: null, items: null, errorCode: code, error };
}

export function tooLarge(what: string, charsMax = valuesCharsMax): Failure {
  return {
    code: 'VALUES_TOO_LARGE',
    error: `The ${what} would be longer than ${charsMax} characters.`,
  };
}

export function notJson(step: string, why: Unreadable): Failure {
  const holds = why === 'none' ? 'no JSON object or array' : 'several JSON objects or arrays';
  return {
    code: 'OUTPUT_NOT_JSON',
    error: `The output of step "${step}" holds ${holds}, and a reference reads into it.`,
  };
}

/** All values that are referred to must be read, however little of them is used. */
export function tooMuchReferredTo(): Failure {
  return {
    code: 'VALUES_TOO_LARGE',
    error: `What is referred to has more than ${referredCharsMax} characters.`,
  };
}
