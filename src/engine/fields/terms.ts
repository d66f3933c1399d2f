import type { WorkflowStepOf } from '../../core/agent/model-settings.ts';
import type { BatchLineOf } from '../../core/batch/batch.ts';
import type { ExecutionTerms, RequestColumns } from '../../core/execution/execution-fields.ts';
import type { Labels } from '../../core/labels.ts';
import { type Columns, rowSet } from '../../db/row-set.ts';
import { sql } from '../../db/sql.ts';
import type { Fragment } from '../../db/statement.ts';
import { namesOf, parametersOf, type Reads, storedValue, suppliedBy } from './field-columns.ts';

/** What admission fixes for an execution: live rows and records of refusals have these columns in common. */

/** One call under shared terms. */
export interface AdmittedCall<Terms extends ExecutionTerms>
  extends Pick<RequestColumns, 'id' | 'ipAddress' | 'userAgent' | 'rerunOf'> {
  /** The same object for all calls with equal terms, which are sent once. */
  readonly terms: Terms;
  readonly labels: Labels | null;
  /** The step of a workflow run that it belongs to. */
  readonly step: WorkflowStepOf | null;
  /** The line of a batch that it belongs to. */
  readonly batchLine?: BatchLineOf | null;
  /** Null or left out if the client waits. */
  readonly background?: true | null;
}

const termsFields = suppliedBy('terms');
const requestFields = suppliedBy('request');

const ofRequest: Reads<AdmittedCall<ExecutionTerms>> = {
  workflowRunId: ({ step }) => step?.runId,
  stepName: ({ step }) => step?.step,
  batchId: ({ batchLine }) => batchLine?.batchId,
  user: ({ labels }) => labels?.user,
  session: ({ labels }) => labels?.session,
  tags: ({ labels }) => labels?.tags,
  metadata: ({ labels }) => labels?.metadata,
};

/** What live rows and records of refusals have in common. */
const admittedFields = [...termsFields, ...requestFields];
export const admittedNames = namesOf(admittedFields);
export const admittedValues = sql.join(admittedFields.map((field) => storedValue(field)));

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
  const calls = rowSet<NumberedCall<Call>, NumberedTerms<Terms, Call>>(
    'e',
    {
      ...parametersOf(requestFields, ofRequest),
      ...ofCalls,
      position: ['int', ({ position }) => position],
    },
    { read: (numbered) => numbered.calls },
  );
  const terms = rowSet<Terms, NumberedTerms<Terms, Call>>(
    't',
    { ...parametersOf<Terms>(termsFields), ...ofTerms },
    { read: (numbered) => numbered.terms, ordinality: true },
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
