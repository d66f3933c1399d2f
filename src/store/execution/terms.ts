import type { WorkflowStepOf } from '../../core/agent/model-settings.ts';
import type { BatchLineOf } from '../../core/batch/batch.ts';
import type { StoredSource } from '../../core/execution/execution.ts';
import type { Labels } from '../../core/execution/labels.ts';
import { arrayLiteral } from '../../db/array-literal.ts';
import { type Columns, rowSet } from '../../db/row-set.ts';
import { sql } from '../../db/sql.ts';
import type { Fragment } from '../../db/statement.ts';

/** What admission fixes for an execution: live rows and records of refusals have these columns in common. */

/** The fields that all executions of one caller and agent share. */
export interface ExecutionTerms {
  readonly workspaceId: string;
  readonly agentId: string;
  readonly promptVersionId: string;
  readonly apiKeyId: string | null;
  readonly executedBy: string | null;
  readonly source: StoredSource;
  readonly agentName: string;
  readonly promptVersionLabel: string;
  readonly model: string;
  readonly temperature: number | null;
}

/** One call under shared terms. */
export interface AdmittedCall<Terms extends ExecutionTerms> {
  readonly id: string;
  /** The same object for all calls with equal terms, which are sent once. */
  readonly terms: Terms;
  readonly ipAddress: string | null;
  readonly userAgent: string | null;
  readonly labels: Labels | null;
  /** The step of a workflow run that it belongs to. */
  readonly step: WorkflowStepOf | null;
  /** The line of a batch that it belongs to. */
  readonly batchLine?: BatchLineOf | null;
  /** The execution that this one runs again. */
  readonly rerunOf: string | null;
  /** Null or left out if the client waits. */
  readonly background?: true | null;
}

export const termsColumns: Columns<ExecutionTerms> = {
  workspace_id: ['uuid', (terms) => terms.workspaceId],
  agent_id: ['uuid', (terms) => terms.agentId],
  prompt_version_id: ['uuid', (terms) => terms.promptVersionId],
  api_key_id: ['uuid', (terms) => terms.apiKeyId],
  executed_by: ['uuid', (terms) => terms.executedBy],
  source: ['execution_source', (terms) => terms.source],
  agent_name: ['text', (terms) => terms.agentName],
  prompt_version_label: ['text', (terms) => terms.promptVersionLabel],
  model: ['text', (terms) => terms.model],
  temperature: ['float8', (terms) => terms.temperature],
};

/** An array of arrays must be rectangular, so `tags` are sent as text. */
export const callColumns: Columns<Omit<AdmittedCall<ExecutionTerms>, 'terms'>> = {
  id: ['uuid', (call) => call.id],
  ip_address: ['text', (call) => call.ipAddress],
  user_agent: ['text', (call) => call.userAgent],
  workflow_run_id: ['uuid', (call) => call.step?.runId],
  step_name: ['text', (call) => call.step?.step],
  batch_id: ['uuid', (call) => call.batchLine?.batchId],
  end_user: ['text', (call) => call.labels?.user],
  session: ['text', (call) => call.labels?.session],
  tags: ['text', (call) => call.labels?.tags && arrayLiteral(call.labels.tags)],
  metadata: ['json', (call) => call.labels?.metadata],
  rerun_of: ['uuid', (call) => call.rerunOf],
  background: ['bool', (call) => call.background],
};

/** SQL: what the terms `t` and the call `e` have in common in a live row and in a record. */
export const admittedNames = [...Object.keys(termsColumns), ...Object.keys(callColumns)].join(', ');
export const admittedValues = admittedNames.replace('tags', 'tags::text[]');

/** A call with the position of its terms. */
export type NumberedCall<Call> = Call & { readonly position: number };

/** What `numberTerms` returns. */
export interface NumberedTerms<Terms, Call> {
  readonly terms: readonly Terms[];
  readonly calls: readonly NumberedCall<Call>[];
}

/** SQL: numbered calls with their terms, for a `from` clause, with further columns of both. */
export function admittedTable<Terms extends ExecutionTerms, Call extends AdmittedCall<Terms>>(
  ofTerms: Columns<Terms>,
  ofCalls: Columns<Call> = {},
): Fragment<NumberedTerms<Terms, Call>> {
  const calls = rowSet<NumberedTerms<Terms, Call>, NumberedCall<Call>>(
    'e',
    { ...callColumns, ...ofCalls, position: ['int', ({ position }) => position] },
    (numbered) => numbered.calls,
  );
  const terms = rowSet<NumberedTerms<Terms, Call>, Terms>(
    't',
    { ...termsColumns, ...ofTerms },
    (numbered) => numbered.terms,
    { ordinality: true },
  );
  return sql`${calls.table} join ${terms.table} on t.ordinal = e.position`;
}

/**
 * The distinct terms of these calls, and each call with the position of its terms from 1. Terms are sent once, because
 * parsing the parameters is half the cost of an insert.
 */
export function numberTerms<Terms extends ExecutionTerms, Call extends AdmittedCall<Terms>>(
  calls: readonly Call[],
): NumberedTerms<Terms, Call> {
  const positions = new Map<Terms, number>();
  for (const { terms } of calls) {
    if (!positions.has(terms)) positions.set(terms, positions.size + 1);
  }
  return {
    terms: [...positions.keys()],
    calls: calls.map((call) => ({ ...call, position: positions.get(call.terms) ?? 0 })),
  };
}
