import { definitionCache } from '../src/flow/workflow/definition-cache.ts';
import type { ProgressDeps } from '../src/flow/workflow/progress.ts';
import {
  createWorkflowStarter,
  type WorkflowStarter,
} from '../src/flow/workflow/start-workflow.ts';
import { valueCache } from '../src/flow/workflow/value-cache.ts';
import type { Connection } from '../src/store/connection/detect-pooler.ts';
import { testPipelines } from './pipelines.ts';

/** The state of a process with empty caches. */
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
    onProgress: () => {},
  });
  return { starter, close: () => pipelines.close() };
}
