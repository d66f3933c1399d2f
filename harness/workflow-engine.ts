import type { Compute } from '../src/core/compute.ts';
import type { Connection } from '../src/db/connection.ts';
import { definitionCache } from '../src/engine/advance/definition-cache.ts';
import { valueCache } from '../src/engine/advance/value-cache.ts';
import type { FinisherDeps } from '../src/engine/complete/finish.ts';
import {
  createWorkflowStarter,
  type WorkflowStarter,
} from '../src/features/workflows/verbs/start-workflow.ts';
import { inlineCompute } from './inline-compute.ts';
import { testPipelines } from './pipelines.ts';

/** The state of a process with empty caches. A defect of a workflow run throws. */
export function coldProgress(): Omit<FinisherDeps, 'pipelines' | 'singlePipelines'> & {
  readonly compute: Compute;
} {
  const values = valueCache();
  return {
    ...{ definitions: definitionCache(), values, compute: inlineCompute },
    notifications: { publish: () => {} },
    onEnded: () => {},
    progressed({ learned, faults }) {
      for (const [runId, one] of learned) values.add(runId, one);
      for (const fault of faults) throw fault;
    },
  };
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
