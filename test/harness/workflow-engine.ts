import { definitionCache } from '../../src/flow/definitions.ts';
import type { ProgressParts } from '../../src/flow/progress.ts';
import { runMemory } from '../../src/flow/run-memory.ts';
import { createWorkflowStarter, type WorkflowStarter } from '../../src/flow/start-workflow.ts';
import type { Connection } from '../../src/store/pooler.ts';
import { testPipelines } from './pipelines.ts';

/** A process that knows nothing of any run. */
export function coldProgress(): ProgressParts {
  return {
    definitions: definitionCache(),
    memory: runMemory(),
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
