import { createHash } from 'node:crypto';
import { CallFailure } from '../../../core/failure.ts';
import { referredCharsMax } from '../../../core/workflow/definition.ts';
import {
  type ChosenItems,
  outputOfAnswers,
  planRerun,
  reusedStep,
} from '../../../core/workflow/rerun.ts';
import type { StepState } from '../../../core/workflow/step-state.ts';
import type { Db } from '../../../db/database.ts';
import type { WorkflowRunDetailRow } from '../statements/workflow-history.ts';
import { readAnswers } from '../statements/workflow-rerun.ts';
import { listSteps } from '../statements/workflow-runs.ts';

/** A start that runs items of an ended run again. */
export interface Rerun extends ChosenItems {
  readonly runId: string;
  /** The version of that run. The start is refused if the workflow pins another one. */
  readonly versionId: string;
  /** The results that the new run takes over. */
  readonly reused: readonly StepState[];
  /** Of what is run again, for the idempotency key. */
  readonly digest: Buffer;
}

/**
 * Reads what a new run of the failed items of a step needs from the first one. Nothing is locked: what has ended changes only
 * by retention and erasure, and then a value is missing.
 * @throws {CallFailure} if the items cannot run again
 */
export async function readRerun(
  db: Db,
  run: WorkflowRunDetailRow,
  stepName: string,
): Promise<Rerun> {
  if (run.status === 'processing') throw notPossible('The workflow run has not ended.');
  const plan = planRerun(run.definition, stepName, await listSteps(db, run.id));
  if (plan === null) throw notPossible('The step has no items.');
  const { chosen, reused, outputsOf } = plan;
  if (chosen.items.size === 0) throw notPossible('All items of the step have succeeded.');
  const outputs = await readOutputs(db, run.id, outputsOf);
  const what = `items of ${stepName} of ${run.id}`;
  return {
    ...chosen,
    runId: run.id,
    versionId: run.workflowVersionId,
    reused: reused.map((step) => {
      // Nothing refers to the others.
      const output = step.status === 'success' ? (outputs.get(step.step) ?? 'null') : null;
      return reusedStep(step, output);
    }),
    digest: createHash('sha256').update(what).digest(),
  };
}

async function readOutputs(
  db: Db,
  runId: string,
  steps: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const outputs = new Map<string, string>();
  if (steps.length === 0) return outputs;
  const answers = await readAnswers(db, { runId, steps, charsMax: referredCharsMax });
  if (answers === null) {
    const message = `The outputs of the steps before it have more than ${referredCharsMax} characters.`;
    throw notPossible(message);
  }
  for (const [step, own] of Map.groupBy(answers, (one) => one.step)) {
    const output = outputOfAnswers(own);
    if (output === null) throw notPossible(`The output of step "${step}" is not stored.`);
    outputs.set(step, output);
  }
  return outputs;
}

function notPossible(reason: string): CallFailure {
  return new CallFailure('CONFLICT', `${reason} Run the whole workflow again.`);
}
