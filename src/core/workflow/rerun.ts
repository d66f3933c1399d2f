import type { StepDefinition, WorkflowDefinition } from './definition.ts';
import { stepsReferredTo } from './reference.ts';
import { graphOf } from './step-graph.ts';
import { outputOfText, withinOutput } from './step-output.ts';
import { fresh, type StepState } from './step-state.ts';

/**
 * Running the failed items of one step of an ended workflow run again: a new run of the same version with the same input,
 * whose step fans out over these items only.
 *
 * The new run takes over the results of the other steps. What waits for the step runs again, and so does what has not ended
 * well: for example a step that failed the run. Everything that the step waits for has ended, so that the start of the new run
 * begins it, and no later advance has to know which items were chosen.
 */

/** A step of the run, or one of its items, as it ended. */
export interface EndedStep
  extends Pick<StepState, 'step' | 'item' | 'itemsCount' | 'errorCode' | 'error'> {
  readonly status: string;
}

/** The step and the indexes of those items of its list that run, ascending. */
export interface ChosenItems {
  readonly step: string;
  readonly items: readonly number[];
}

export interface RerunPlan {
  readonly chosen: ChosenItems;
  /** The steps whose results are taken over. */
  readonly reused: readonly EndedStep[];
  /** Those of them whose outputs must be read: something that runs again, or the run's output, refers to them. */
  readonly outputsOf: readonly string[];
}

/**
 * Null if the step has no items.
 * @param earlier the items that the run was started for; null if it was started for all. Its steps number them from 0.
 */
export function planRerun(
  definition: WorkflowDefinition,
  stepName: string,
  steps: readonly EndedStep[],
  earlier: ChosenItems | null,
): RerunPlan | null {
  const count = steps.find(({ step, item }) => step === stepName && item < 0)?.itemsCount ?? null;
  if (count === null) return null;
  const succeeded = new Set(
    steps.flatMap(({ step, item, status }) =>
      step === stepName && status === 'success' ? [item] : [],
    ),
  );
  const indexes =
    earlier?.step === stepName ? earlier.items : Array.from({ length: count }, (_, item) => item);
  const items = indexes.filter((_, item) => !succeeded.has(item));
  const graph = graphOf(definition);
  const again = new Set([stepName]);
  const reused: EndedStep[] = [];
  for (const step of graph.ordered) {
    const ended = steps.find((one) => one.step === step.name && one.item < 0);
    const waits = graph.waitsFor.get(step.name)?.some((name) => again.has(name));
    if (ended && !waits && step.name !== stepName && isReusable(step, ended)) reused.push(ended);
    else again.add(step.name);
  }
  const { output } = definition;
  const needed = new Set([
    ...[...again].flatMap((name) => graph.waitsFor.get(name) ?? []),
    ...(output === null ? graph.last : stepsReferredTo([output])),
  ]);
  const outputsOf = reused.filter(({ step, status }) => status === 'success' && needed.has(step));
  return {
    chosen: { step: stepName, items },
    reused,
    outputsOf: outputsOf.map(({ step }) => step),
  };
}

function isReusable({ onFailure }: StepDefinition, { status }: EndedStep): boolean {
  if (status === 'failed') return onFailure === 'continue';
  return status === 'success' || status === 'skipped';
}

/** What an execution of a step, or of one of its items, has answered; null if that is not stored. */
export interface StepAnswer {
  readonly step: string;
  readonly item: number;
  readonly status: string;
  /** The length of its list, if the step fans out. */
  readonly itemsCount: number | null;
  readonly output: string | null;
  readonly outputJson: string | null;
}

/** The output of a step as JSON, from the answers of its execution or of those of its items, in order; null if one is missing. */
export function outputOfAnswers(answers: readonly StepAnswer[]): string | null {
  const step = answers.find(({ item }) => item < 0);
  if (step && step.itemsCount === null) return outputOf(step);
  const outputs = answers
    .filter(({ item }) => item >= 0)
    .map((answer) => {
      if (answer.status !== 'success') return 'null';
      const output = outputOf(answer);
      return output === null ? null : withinOutput(output);
    });
  return outputs.includes(null) ? null : `[${outputs.join(',')}]`;
}

function outputOf({ output, outputJson }: StepAnswer): string | null {
  return outputJson ?? (output === null ? null : outputOfText(output));
}

/** A step as the new run has it: without the execution, whose tokens and cost are those of the first run. */
export function reusedStep({ step, status, errorCode, error }: EndedStep, output: string | null) {
  const ended = status as 'success' | 'failed' | 'skipped';
  return { ...fresh(step, -1), status: ended, output, errorCode, error } satisfies StepState;
}
