import type { WindowState } from '../../../core/agent/limits.ts';
import type { ExecuteBody, UnparsedBody } from '../../../core/agent/variables.ts';
import type { Refusal } from '../../../core/execution/check-call.ts';
import type { Caller } from '../../../core/people/caller.ts';
import type { WorkflowRunStatus, WorkflowTrigger } from '../../../core/workflow/definition.ts';
import type { Rerun } from './rerun-items.ts';

export interface StartCall {
  readonly credential:
    | { readonly kind: 'key'; readonly hash: string }
    | { readonly kind: 'session'; readonly caller: Caller }
    /** A schedule or a webhook. It acts for the user who created it. */
    | {
        readonly kind: 'trigger';
        readonly id: string;
        readonly workspaceId: string;
        readonly userId: string | null;
      };
  /** Null for a malformed id, which is treated as unknown. */
  readonly workflowId: string | null;
  readonly trigger: WorkflowTrigger;
  /** The request body, `{"input": {…}}`. */
  readonly body: ExecuteBody | UnparsedBody;
  /** Of the body, once it is computed. */
  readonly digest?: Buffer | null;
  readonly idempotencyKey: string | null;
  readonly idempotencyProblem: string | null;
  /** The items of an ended run that it runs again. */
  readonly rerun?: Rerun;
}

export type Started = { readonly nowMs: number } & (
  | Refusal
  | {
      readonly kind: 'accepted';
      readonly replayed: boolean;
      readonly currentStatus: WorkflowRunStatus;
      readonly runId: string;
      readonly workflowId: string;
      readonly workflowName: string;
      readonly workflowVersionId: string;
      readonly workflowVersionLabel: string;
      readonly executedAtMs: number;
      /** Names in the input that the workflow does not declare. */
      readonly ignoredInput: readonly string[];
      readonly states: readonly WindowState[];
    }
);
