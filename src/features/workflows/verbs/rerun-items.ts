import { createHash } from 'node:crypto';
import { CallFailure } from '../../../core/failure.ts';
import { toId } from '../../../core/id.ts';
import { referredCharsMax } from '../../../core/workflow/definition.ts';
import {
  type ChosenItems,
  outputOfAnswers,
  planRerun,
  reusedStep,
} from '../../../core/workflow/rerun.ts';
import type { StepState } from '../../../core/workflow/step-state.ts';
import type { Db } from '../../../db/database.ts';
import { refuseDuringErasure } from '../../../engine/read/open-erasures.ts';
import type { WorkflowRunDetailRow } from '../statements/workflow-history.ts';
import { findChosenItems, readAnswers } from '../statements/workflow-rerun.ts';
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
 * by retention and erasure, and then a value is missing, or the start finds that the first run is gone.
 * @throws {CallFailure} if the items cannot run again
 */
export async function readRerun(
  db: Db,
  workspaceId: string,
  run: WorkflowRunDetailRow,
  stepName: string,
): Promise<Rerun> {
  if (run.status === 'processing') throw notPossible('The workflow run has not ended.');
  await refuseDuringErasure(db, workspaceId);
  const earlier = run.rerunOf === null ? null : await findChosenItems(db, run.id);
  const plan = planRerun(run.definition, stepName, await listSteps(db, run.id), earlier);
  if (plan === null) throw notPossible(`The step has no items${inFirst(run)}.`);
  const { chosen, reused, outputsOf } = plan;
  if (chosen.items.length === 0) throw notPossible('All items of the step have succeeded.');
  const outputs = await readOutputs(db, run, outputsOf);
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

/** Where the results are that the run has taken over. */
function inFirst({ rerunOf }: WorkflowRunDetailRow): string {
  return rerunOf === null
    ? ''
    : ` in this run, which runs items of ${toId('workflowRun', rerunOf)}`;
}

async function readOutputs(
  db: Db,
  run: WorkflowRunDetailRow,
  steps: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const outputs = new Map<string, string>();
  if (steps.length === 0) return outputs;
  const answers = await readAnswers(db, { runId: run.id, steps, charsMax: referredCharsMax });
  if (answers === null) {
    const message = `The outputs of the steps before it have more than ${referredCharsMax} characters.`;
    throw notPossible(message);
  }
  const answersOf = Map.groupBy(answers, (one) => one.step);
  for (const step of steps) {
    const own = answersOf.get(step);
    const output = own ? outputOfAnswers(own) : null;
    if (output === null)
      throw notPossible(`The output of step "${step}" is not stored${inFirst(run)}.`);
    outputs.set(step, output);
  }
  return outputs;
}

function notPossible(reason: string): CallFailure {
  return new CallFailure('CONFLICT', `${reason} Run the whole workflow again.`);
}
