import { definitionCache } from '../src/flow/workflow/definition-cache.ts';
import type { ProgressDeps } from '../src/flow/workflow/progress.ts';
import {
  createWorkflowStarter,
  type WorkflowStarter,
} from '../src/flow/workflow/start-workflow.ts';
import { valueCache } from '../src/flow/workflow/value-cache.ts';
import type { Connection } from '../src/store/connection/detect-pooler.ts';
import { testPipelines } from './pipelines.ts';

/** A process that knows nothing of any run. */
export function coldProgress(): ProgressDeps {
  return {
    definitions: definitionCache(),
    values: valueCache(),
    onFault(error) {
      throw error;
    },
  };
}

/**
 * Starts runs of workflows straight in a database, and calls nobody: as a process does that dies right after its commit.
 * Whoever sweeps takes the first steps a few seconds later.
 */
export function openStarter(connection: Connection): {
  readonly starter: WorkflowStarter;
  close(): Promise<void>;
} {
  const pipelines = testPipelines(connection);
  const starter = createWorkflowStarter({
    pipelines,
    ...coldProgress(),
    onProgress: () => {},
  });
  return { starter, close: () => pipelines.close() };
}
