import type { Compute } from '../src/core/compute.ts';
import type { Connection } from '../src/db/connection.ts';
import { type Completions, createCompletions } from '../src/flow/completions.ts';
import { definitionCache } from '../src/flow/workflow/definition-cache.ts';
import type { ProgressDeps } from '../src/flow/workflow/progress.ts';
import {
  createWorkflowStarter,
  type WorkflowStarter,
} from '../src/flow/workflow/start-workflow.ts';
import { valueCache } from '../src/flow/workflow/value-cache.ts';
import { inlineCompute } from './inline-compute.ts';
import { testPipelines } from './pipelines.ts';

/** The state of a process with empty caches. A defect of a workflow run throws. */
export function coldProgress(): ProgressDeps & {
  readonly completions: Completions;
  readonly compute: Compute;
} {
  const values = valueCache();
  const completions = createCompletions();
  completions.subscribe(({ progress }) => {
    for (const [runId, learned] of progress?.learned ?? []) values.add(runId, learned);
    for (const fault of progress?.faults ?? []) throw fault;
  });
  return { definitions: definitionCache(), values, completions, compute: inlineCompute };
}

/**
 * Starts workflow runs directly in a database, without starting their steps, like a process that dies right after its
 * commit. The sweep starts the first steps a few seconds later.
 */
export function openStarter(connection: Connection): {
  readonly starter: WorkflowStarter;
  close(): Promise<void>;
} {
  const pipelines = testPipelines(connection);
  const starter = createWorkflowStarter({
    pipelines,
    ...coldProgress(),
  });
  return { starter, close: () => pipelines.close() };
}
